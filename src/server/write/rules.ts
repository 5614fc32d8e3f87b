import type { KubeObject } from '../../api/object.ts'
import type { FieldError } from '../../api/validation/field-error.ts'
import type { Registered } from '../registry/registry.ts'
import type { PartialUpdate, RuleContext } from '../registry/resource.ts'

/** The rules of one way to update an object: of the whole, of a part of it, or by the server itself. */
export interface WriteRules {
  /** Puts back what this way may not change. */
  prepare(object: KubeObject, old: KubeObject, ctx: RuleContext): void
  /** Judges everything but the metadata. */
  validate(object: KubeObject, old: KubeObject, ctx: RuleContext): FieldError[]
  warnings?(object: KubeObject, old: KubeObject, ctx: RuleContext): string[]
  /** A change of what is wanted raises metadata.generation. */
  raisesGeneration: boolean
  /** The object takes from shared supplies what its new state needs. */
  allocates: boolean
  /** An object that is not there is created. */
  createsMissing: boolean
  /** The server changes what follows from a request that was admitted and judged by itself, as the binding of a pod: nobody judges it again. */
  isServersOwn?: boolean
}

const noErrors: FieldError[] = []

/** PUT and PATCH of the whole object: the status is not theirs where it has a subresource. */
export function mainRules({ resource }: Registered): WriteRules {
  return {
    prepare(object, old, ctx) {
      if (resource.status) (object as { status?: unknown }).status = (old as { status?: unknown }).status
      resource.prepareForUpdate?.(object, old, ctx)
    },
    validate: (object, old, ctx) => resource.validateUpdate(object, old, ctx),
    warnings: (object, old, ctx) => resource.warnings?.(object, old, ctx) ?? [],
    raisesGeneration: true,
    allocates: true,
    createsMissing: resource.allowCreateOnUpdate ?? false,
  }
}

/** PUT and PATCH of the part of an object that a subresource stands for. */
export function partialRules(partial: PartialUpdate<KubeObject>, subresource: string): WriteRules {
  return {
    prepare: (object, old, ctx) => partial.prepare(object, old, ctx),
    validate: (object, old, ctx) => partial.validate(object, old, ctx),
    warnings: (object, old, ctx) => partial.warnings?.(object, old, ctx) ?? [],
    // What a controller says about an object is no change of what is wanted, whatever else it writes along.
    raisesGeneration: subresource !== 'status',
    allocates: false,
    createsMissing: false,
  }
}

/** Changes by the server itself. */
export const ownRules: WriteRules = {
  prepare: () => {},
  validate: () => noErrors,
  raisesGeneration: false,
  allocates: false,
  createsMissing: false,
  isServersOwn: true,
}

/** What is posted to a subresource with behaviour of its own, or to a kind that is not stored: only admission judges it. */
export const actionRules: WriteRules = { ...ownRules, isServersOwn: false }

/** The update that a subresource of this name stands for; undefined where it is none. */
export function partialUpdateOf(target: Registered, subresource: string): PartialUpdate<KubeObject> | undefined {
  const { status, partialUpdates = {} } = target.resource
  if (subresource === 'status') return status
  return Object.hasOwn(partialUpdates, subresource) ? partialUpdates[subresource] : undefined
}

/** True if a kind has a subresource of this name. */
export const hasSubresource = (target: Registered, name: string): boolean =>
  target.actions.has(name) || (name === 'scale' && target.resource.scale !== undefined) || partialUpdateOf(target, name) !== undefined

/** The rules of a PUT or PATCH, by what its path says. */
export function updateRules(target: Registered, subresource: string): WriteRules {
  const partial = partialUpdateOf(target, subresource)
  return partial ? partialRules(partial, subresource) : mainRules(target)
}
