import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { Registered } from '../registry/registry.ts'
import type { PartialUpdate, Resource, RuleContext } from '../registry/resource.ts'

/** The rules of one kind of update: of the whole object, of a subresource, or by the server itself. */
export interface WriteRules {
  /** Restores fields that this kind of update may not change. */
  prepare(object: KubeObject, old: KubeObject, ctx: RuleContext): void
  /** Validates everything but the metadata. */
  validate(object: KubeObject, old: KubeObject, ctx: RuleContext): FieldError[]
  validateInSteps?: Resource['validateInSteps'] | undefined
  warnings?(object: KubeObject, old: KubeObject, ctx: RuleContext): string[]
  /** Changes of the spec increment metadata.generation. */
  raisesGeneration: boolean
  /** The update may allocate addresses and ports. */
  allocates: boolean
  /** A PUT of a missing object creates it. */
  createsMissing: boolean
  /**
   * The server's own change, derived from an admitted request, such as a pod's binding. It skips admission and
   * validation.
   */
  isServersOwn?: boolean
  /** The write does not change managedFields. */
  isUntracked?: boolean
}

const noErrors: FieldError[] = []

/** PUT and PATCH of the whole object. They do not change the status if it is a subresource. */
export function mainRules({ resource }: Registered): WriteRules {
  return {
    prepare(object, old, ctx) {
      if (resource.status) (object as { status?: unknown }).status = (old as { status?: unknown }).status
      resource.prepareForUpdate?.(object, old, ctx)
    },
    validate: (object, old, ctx) => resource.validateUpdate(object, old, ctx),
    validateInSteps: resource.validateInSteps,
    warnings: (object, old, ctx) => resource.warnings?.(object, old, ctx) ?? [],
    raisesGeneration: true,
    allocates: true,
    createsMissing: resource.allowCreateOnUpdate ?? false,
  }
}

/** PUT and PATCH of a subresource that is a part of the object. */
function partialRules(partial: PartialUpdate<KubeObject>, subresource: string): WriteRules {
  return {
    prepare: (object, old, ctx) => partial.prepare(object, old, ctx),
    validate: (object, old, ctx) => partial.validate(object, old, ctx),
    validateInSteps: partial.validateInSteps,
    warnings: (object, old, ctx) => partial.warnings?.(object, old, ctx) ?? [],
    // A status update never changes the generation, even if it also changes other fields.
    raisesGeneration: subresource !== 'status',
    allocates: false,
    createsMissing: false,
  }
}

/** Updates by the server itself. */
export const ownRules: WriteRules = {
  prepare: () => {},
  validate: () => noErrors,
  raisesGeneration: false,
  allocates: false,
  createsMissing: false,
  isServersOwn: true,
  isUntracked: true,
}

/** Status updates by the server itself, which owns the fields that it sets. */
export const ownStatusRules: WriteRules = { ...ownRules, isUntracked: false }

/** Bodies posted to an action or a virtual kind: only admission applies. */
export const actionRules: WriteRules = { ...ownRules, isServersOwn: false, isUntracked: false }

/** The partial update of a subresource. Undefined if it is not one. */
export function partialUpdateOf(target: Registered, subresource: string): PartialUpdate<KubeObject> | undefined {
  const { status, partialUpdates = {} } = target.resource
  if (subresource === 'status') return status
  return Object.hasOwn(partialUpdates, subresource) ? partialUpdates[subresource] : undefined
}

/** True if the kind has the subresource. */
export const hasSubresource = (target: Registered, name: string): boolean =>
  target.actions.has(name) ||
  (name === 'scale' && target.resource.scale !== undefined) ||
  partialUpdateOf(target, name) !== undefined

/** The rules of a PUT or PATCH. */
export function updateRules(target: Registered, subresource: string): WriteRules {
  const partial = partialUpdateOf(target, subresource)
  return partial ? partialRules(partial, subresource) : mainRules(target)
}
