import { type FieldSet, type OpenSet, emptySet, isEmptySet } from './field-set.ts'
import type { MergeType } from './merge-type.ts'

const isAtomic = (type: MergeType): boolean =>
  (type.kind === 'map' && type.isAtomic) || (type.kind === 'list' && type.merging.kind === 'atomic')

/** The type of the value behind a path element. */
function typeBehind(type: MergeType, element: string): MergeType | undefined {
  if (type.kind === 'map') return element.startsWith('f:') ? type.field(element.slice(2)) : undefined
  return type.kind === 'list' ? type.items : undefined
}

/**
 * Adapts a set of fields to a schema that has changed since: the owner of a part of a list or map that has become
 * atomic owns all of it. As in Kubernetes, a list or map that was atomic and is granular now stays owned as a whole.
 * Returns the same set if nothing has changed.
 */
export function reconciled(type: MergeType, fields: FieldSet): FieldSet {
  let adapted: OpenSet | undefined
  for (const element in fields) {
    const below = fields[element]!
    const inner = isEmptySet(below) ? undefined : typeBehind(type, element)
    if (!inner) continue
    const next = isAtomic(inner) ? emptySet : reconciled(inner, below)
    if (next !== below) (adapted ??= { ...fields } as OpenSet)[element] = next as OpenSet
  }
  return adapted ?? fields
}
