import type { ObjectMeta } from '../../api/object.ts'
import { deepEqual } from '../../api/deep-equal.ts'

/** Takes out owners that stand twice, as Kubernetes does, and says so. */
export function dropRepeatedOwners(meta: ObjectMeta, warnings: string[]): void {
  const owners = meta.ownerReferences
  if (!owners || owners.length < 2) return
  const kept: typeof owners = []
  const repeated: string[] = []
  for (const owner of owners) {
    if (kept.some((k) => deepEqual(k, owner))) repeated.push(owner.uid)
    else kept.push(owner)
  }
  if (repeated.length === 0) return
  meta.ownerReferences = kept
  warnings.push(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; ' +
      `please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  )
}
