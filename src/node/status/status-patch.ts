import type { PodCondition, PodStatus } from '../../api/generated/types.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import { resizePendingType } from './conditions.ts'

/** The status fields that the agent owns. All others belong to other clients. */
const ownFields = [
  'phase',
  'reason',
  'message',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'observedGeneration',
] as const satisfies readonly (keyof PodStatus)[]

/** Lists that a strategic merge patch merges by address: removed entries must be named in the patch. */
const addressLists = new Set<string>(['podIPs', 'hostIPs'])

/** The strategic merge patch from a stored status to the wanted one; undefined if nothing changes. */
export function statusPatch(stored: PodStatus | undefined, wanted: PodStatus): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {}
  for (const field of ownFields) {
    const [was, is] = [stored?.[field], wanted[field]]
    if (semanticEqual(was, is)) continue
    patch[field] =
      is === undefined
        ? null
        : addressLists.has(field) && was !== undefined
          ? [{ $patch: 'replace' }, ...(is as { ip: string }[])]
          : is
  }
  const conditions = conditionsPatch(stored?.conditions ?? [], wanted.conditions ?? [])
  if (conditions) Object.assign(patch, conditions)
  return Object.keys(patch).length === 0 ? undefined : patch
}

function conditionsPatch(
  stored: readonly PodCondition[],
  wanted: readonly PodCondition[],
): Record<string, unknown> | undefined {
  const find = (type: string) => stored.find((c) => c.type === type)
  const changed = wanted.filter((c) => !semanticEqual(find(c.type), c))
  const isOver = !wanted.some(({ type }) => type === resizePendingType) && find(resizePendingType) !== undefined
  // A patch by another client may reorder our conditions. The order alone is not worth a write.
  if (changed.length === 0 && !isOver) return undefined
  const order = [
    ...wanted.map((c) => c.type),
    ...stored
      .map((c) => c.type)
      .filter((type) => !(isOver && type === resizePendingType) && !wanted.some((c) => c.type === type)),
  ]
  const cleared = changed.map((c) => {
    const was = find(c.type)
    return {
      ...c,
      ...(was?.reason && !c.reason ? { reason: null } : {}),
      ...(was?.message && !c.message ? { message: null } : {}),
    }
  })
  const removed = isOver ? [{ $patch: 'delete', type: resizePendingType }] : []
  return { conditions: [...cleared, ...removed], '$setElementOrder/conditions': order.map((type) => ({ type })) }
}

/** The same status with the unchanged parts of the stored one, so that memory holds them once. */
export function sharedWith(stored: PodStatus, own: PodStatus): PodStatus {
  const shared: Record<string, unknown> = { ...own }
  for (const field of ownFields)
    if (field in own && semanticEqual(stored[field], own[field])) shared[field] = stored[field]
  const conditions = own.conditions?.map((condition) => {
    const there = stored.conditions?.find(({ type }) => type === condition.type)
    return semanticEqual(there, condition) ? there! : condition
  })
  return (conditions ? { ...shared, conditions } : shared) as PodStatus
}
