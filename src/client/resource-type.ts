import type { KubeObject } from '../api/object.ts'

/** The names of a resource; `T` is the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Carries only the type; there is no value. */
  readonly __object?: T
}

export const resourceType = <T extends KubeObject>(names: Omit<ResourceType<T>, '__object'>): ResourceType<T> => names

/** The names of a custom kind. */
export interface CustomKind {
  group: string
  version: string
  kind: string
  /** Default: as kubectl guesses it, `boats` for `Boat` and `policies` for `Policy`. */
  plural?: string
  /** Default: true. */
  namespaced?: boolean
}

/** Declares a custom kind for clients, caches and controllers; `T` is the type of its objects. */
export function defineKind<T extends KubeObject>({
  group,
  version,
  kind,
  plural = guessedPlural(kind),
  namespaced = true,
}: CustomKind): ResourceType<T> {
  if (!group || !version || !kind) throw new Error('a custom kind has a group, a version and a kind')
  return resourceType({ group, version, kind, plural, namespaced })
}

function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/** `v1`, `apps/v1` */
export const apiVersionOf = ({ group, version }: Pick<ResourceType, 'group' | 'version'>): string =>
  group ? `${group}/${version}` : version

/** Returns the name of a resource in metrics and messages: `pods`, `deployments.apps`. */
export const resourceName = ({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string =>
  group ? `${plural}.${group}` : plural

/** Returns the path of a collection, an object, or a subresource. */
export function pathOf(type: ResourceType, namespace = '', name = '', subresource = ''): string {
  const root = type.group ? `/apis/${type.group}/${type.version}` : `/api/${type.version}`
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const parts = [name, subresource].filter((p) => p !== '').map((p) => `/${encodeURIComponent(p)}`)
  return `${root}${scope}/${type.plural}${parts.join('')}`
}

/** Returns the key of an object in caches and queues: `namespace/name`, or `name` if it is cluster-scoped. */
export const keyOf = (object: KubeObject): string =>
  object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : (object.metadata.name ?? '')

/** Splits a key into its two parts. */
export function splitKey(key: string): { namespace: string; name: string } {
  const at = key.indexOf('/')
  return at < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) }
}
