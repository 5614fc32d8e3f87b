import type { KubeObject } from '../api/object.ts'

/** Names of a resource as clients use them; `T` is the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  /** Carries the type only; there is no value. */
  readonly __object?: T
}

export const resourceType = <T extends KubeObject>(names: Omit<ResourceType<T>, '__object'>): ResourceType<T> => names

/** How a custom kind is called. */
export interface CustomKind {
  group: string
  version: string
  kind: string
  /** Default: as kubectl guesses it, `boats` for `Boat` and `policies` for `Policy`. */
  plural?: string
  /** Default: true. */
  namespaced?: boolean
}

/** Declares a custom kind, for clients, caches and controllers: `T` is the type of its objects. */
export function defineKind<T extends KubeObject>({ group, version, kind, plural = guessedPlural(kind), namespaced = true }: CustomKind): ResourceType<T> {
  if (!group || !version || !kind) throw new Error('a custom kind has a group, a version and a kind')
  return resourceType({ group, version, kind, plural, namespaced })
}

function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/** `v1`, `apps/v1` */
export const apiVersionOf = ({ group, version }: Pick<ResourceType, 'group' | 'version'>): string => (group ? `${group}/${version}` : version)

/** `pods`, `deployments.apps`: how metrics and messages call a resource. */
export const resourceName = ({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string => (group ? `${plural}.${group}` : plural)

/** The path of a collection, of one object, or of a subresource of it. */
export function pathOf(type: ResourceType, namespace = '', name = '', subresource = ''): string {
  const root = type.group ? `/apis/${type.group}/${type.version}` : `/api/${type.version}`
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const parts = [name, subresource].filter((p) => p !== '').map((p) => `/${encodeURIComponent(p)}`)
  return `${root}${scope}/${type.plural}${parts.join('')}`
}

/** `namespace/name`, or `name` for what is cluster-wide: how caches and queues call an object. */
export const keyOf = (object: KubeObject): string =>
  object.metadata.namespace ? `${object.metadata.namespace}/${object.metadata.name}` : (object.metadata.name ?? '')

/** The two parts of a key. */
export function splitKey(key: string): { namespace: string; name: string } {
  const at = key.indexOf('/')
  return at < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) }
}
