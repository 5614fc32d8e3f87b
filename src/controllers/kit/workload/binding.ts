import { deepEqual } from '../../../api/deep-equal.ts'
import type { Pod } from '../../../api/generated/types.ts'

/** Whether all that has happened to a pod is that it was given a node: it is as far from being ready as before. */
export function isMereBinding(before: Pod, after: Pod): boolean {
  if (before.spec?.nodeName || !after.spec?.nodeName || before.status?.phase !== after.status?.phase) return false
  const ready = ({ status }: Pod) => status?.conditions?.find((c) => c.type === 'Ready')
  const { metadata: was } = before
  const { metadata: is } = after
  return was.deletionTimestamp === is.deletionTimestamp && deepEqual(ready(before), ready(after)) && deepEqual(was.labels, is.labels) && deepEqual(was.ownerReferences, is.ownerReferences)
}
