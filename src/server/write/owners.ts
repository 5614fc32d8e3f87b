import type { ObjectMeta } from '../../api/object.ts'

/** Takes out owners that stand twice, as Kubernetes does, and says so. */
export function dropRepeatedOwners(meta: ObjectMeta, warnings: string[]): void {
  const owners = meta.ownerReferences
  if (!owners || owners.length < 2) return
  const seen = new Set<string>()
  const repeated: string[] = []
  const kept = owners.filter((owner) => {
    const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner
    const key = JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
    if (seen.has(key)) repeated.push(uid)
    return seen.size < seen.add(key).size
  })
  if (repeated.length === 0) return
  meta.ownerReferences = kept
  warnings.push(
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; ' +
      `please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  )
}
