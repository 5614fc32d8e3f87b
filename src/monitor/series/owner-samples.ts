import type { OwnerReference } from '../../api/generated/types.ts'
import type { Sample } from './state-series.ts'

/** Who owns an object; one sample without names if nobody does. */
export function ownerSamples(owners: readonly OwnerReference[] = []): Sample[] {
  if (owners.length === 0) return [[{ owner_kind: '', owner_name: '', owner_is_controller: '' }, 1]]
  return owners.map(({ kind, name, controller }): Sample => [{ owner_kind: kind, owner_name: name, owner_is_controller: String(controller ?? false) }, 1])
}
