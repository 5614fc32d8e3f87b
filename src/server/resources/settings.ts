import type { KubeObject } from '../../api/object.ts'
import { kindNames } from '../../api/kind-names.ts'
import { isPrivilegedRefusal } from '../../api/kinds/containers/security-context.ts'
import { stockType } from '../../api/schema/index.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { PartialUpdate, Resource } from '../registry/resource.ts'

/** Server flags that change the rules of resources. */
export interface ResourceSettings {
  /** --allow-privileged. Default: true. */
  allowPrivileged?: boolean
  /** --event-ttl: how long events are kept after their last write; 0 is unlimited. Default: an hour. */
  eventTtlMs?: number
  /** Serves only stock Kubernetes: no CloneSets, and no fields of our own. For tests. Default: false. */
  isStock?: boolean
}

/** Applies the flags to resources. */
export function withSettings(
  all: readonly Resource[],
  { allowPrivileged = true, eventTtlMs, isStock = false }: ResourceSettings,
): Resource[] {
  const resources = isStock ? stockResources(all) : all
  return resources.map((resource) => {
    const isEvents = resource.plural === 'events' && resource.timeToLive !== undefined
    const timed =
      isEvents && eventTtlMs !== undefined
        ? { ...resource, timeToLive: { ...resource.timeToLive!, ms: eventTtlMs } }
        : resource
    return allowPrivileged ? allowingPrivileged(timed) : timed
  })
}

/** Kubernetes' own kinds and fields. A CustomResourceDefinition may then define CloneSets. */
const stockResources = (resources: readonly Resource[]): Resource[] =>
  resources
    .filter(({ group }) => group !== kindNames.clonesets.group)
    .map((resource) =>
      resource.objectType ? resource : { ...resource, type: stockType(resource.type ?? resource.kind) },
    )

type Validate<A extends unknown[]> = (...args: A) => FieldError[]

/** Copies nothing if there is no error, which is the usual case. */
const tolerant =
  <A extends unknown[]>(validate: Validate<A>): Validate<A> =>
  (...args) => {
    const errors = validate(...args)
    return errors.length > 0 ? errors.filter((error) => !isPrivilegedRefusal(error)) : errors
  }

const tolerantUpdate = (update: PartialUpdate<KubeObject>): PartialUpdate<KubeObject> => ({
  ...update,
  validate: tolerant(update.validate),
})

/** Validation of pods and templates rejects privileged containers. A server that allows them removes these errors. */
function allowingPrivileged(resource: Resource): Resource {
  const { status, partialUpdates } = resource
  return {
    ...resource,
    validate: tolerant(resource.validate.bind(resource)),
    validateUpdate: tolerant(resource.validateUpdate.bind(resource)),
    ...(status ? { status: tolerantUpdate(status) } : {}),
    ...(partialUpdates
      ? {
          partialUpdates: Object.fromEntries(
            Object.entries(partialUpdates).map(([name, update]) => [name, tolerantUpdate(update)]),
          ),
        }
      : {}),
  }
}
