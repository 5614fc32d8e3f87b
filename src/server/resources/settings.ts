import type { KubeObject } from '../../api/object.ts'
import { kindNames } from '../../api/kind-names.ts'
import { isPrivilegedRefusal } from '../../api/kinds/security-context.ts'
import { stockType } from '../../api/schema/index.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { PartialUpdate, Resource } from '../registry/resource.ts'

/** Flags of the server that change the rules of kinds. */
export interface ResourceSettings {
  /** --allow-privileged. Default: true. */
  allowPrivileged?: boolean
  /** --event-ttl: how long events are kept after their last write; 0 keeps them. Default: an hour. */
  eventTtlMs?: number
  /** Serves what a stock Kubernetes does: no CloneSets, and none of the fields that we add to its types. For tests. Default: false. */
  isStock?: boolean
}

/** The declarations as the flags have them. */
export function withSettings(all: readonly Resource[], { allowPrivileged = true, eventTtlMs, isStock = false }: ResourceSettings): Resource[] {
  const resources = isStock ? stockResources(all) : all
  return resources.map((resource) => {
    const isEvents = resource.plural === 'events' && resource.timeToLive !== undefined
    const timed = isEvents && eventTtlMs !== undefined ? { ...resource, timeToLive: { ...resource.timeToLive!, ms: eventTtlMs } } : resource
    return allowPrivileged ? allowingPrivileged(timed) : timed
  })
}

/** Kubernetes' own kinds, with its own fields. A definition of CloneSet may bring that kind as a custom one. */
const stockResources = (resources: readonly Resource[]): Resource[] =>
  resources
    .filter(({ group }) => group !== kindNames.clonesets.group)
    .map((resource) => (resource.objectType ? resource : { ...resource, type: stockType(resource.type ?? resource.kind) }))

type Validate<A extends unknown[]> = (...args: A) => FieldError[]

/** Almost always there is no error, and then nothing is copied. */
const tolerant =
  <A extends unknown[]>(validate: Validate<A>): Validate<A> =>
  (...args) => {
    const errors = validate(...args)
    return errors.length > 0 ? errors.filter((error) => !isPrivilegedRefusal(error)) : errors
  }

const tolerantUpdate = (update: PartialUpdate<KubeObject>): PartialUpdate<KubeObject> => ({ ...update, validate: tolerant(update.validate) })

/** The rules of pods and templates refuse privileged containers. A server that allows them leaves these errors out. */
function allowingPrivileged(resource: Resource): Resource {
  const { status, partialUpdates } = resource
  return {
    ...resource,
    validate: tolerant(resource.validate.bind(resource)),
    validateUpdate: tolerant(resource.validateUpdate.bind(resource)),
    ...(status ? { status: tolerantUpdate(status) } : {}),
    ...(partialUpdates
      ? { partialUpdates: Object.fromEntries(Object.entries(partialUpdates).map(([name, update]) => [name, tolerantUpdate(update)])) }
      : {}),
  }
}
