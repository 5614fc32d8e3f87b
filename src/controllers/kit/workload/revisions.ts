import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import { nameAlphabet } from '../../../api/generated-name.ts'
import { type Int64, addInt64, compareInt64 } from '../../../api/numbers/int64.ts'
import { goJson, sortKeys } from '../../../api/json/index.ts'
import { holdsTemplate, templatePatch } from '../../../api/kinds/workloads/controller-revision.ts'

/**
 * A short hash of a JSON value, independent of the order of keys. Another `collisionCount` produces another hash. For
 * the data of a ControllerRevision it equals the hash of Kubernetes.
 */
export function hashOf(value: unknown, collisionCount = 0): string {
  const text = goJson(sortKeys(value)) + collisionCount
  return [...String(fnv32(text))].map((digit) => nameAlphabet[digit.charCodeAt(0) % nameAlphabet.length]).join('')
}

/** FNV-1, which multiplies before the XOR, unlike FNV-1a. */
function fnv32(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}

/** The label with the revision of a pod, or of a DaemonSet's ControllerRevision. */
export const revisionHashLabel = 'controller-revision-hash'
/** The label with the content hash of ControllerRevisions of StatefulSets and CloneSets. */
export const contentHashLabel = 'controller.kubernetes.io/hash'

/** Sorts revisions from the oldest to the newest: by number, then by creation time, then by name. */
export function inHistory<R extends Pick<ControllerRevision, 'metadata' | 'revision'>>(revisions: readonly R[]): R[] {
  const createdAt = (r: R) => r.metadata.creationTimestamp ?? ''
  return revisions.toSorted(
    (a, b) =>
      compareInt64(a.revision, b.revision) ||
      compareText(createdAt(a), createdAt(b)) ||
      compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  )
}

/** Orders two texts by code units. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export { RevisionTakenError } from '../errors.ts'

/** The operation after which the current template of a workload is its newest revision. */
export type RevisionStep =
  | { kind: 'Keep'; revision: ControllerRevision }
  /** The workload was rolled back: an earlier revision becomes the newest. */
  | { kind: 'Renumber'; revision: ControllerRevision; to: Int64 }
  | { kind: 'Create'; name: string; data: unknown; hash: string; number: Int64 }

/** Finds the revision of a template. Revisions are compared by content, not by name. `history` is sorted. */
export function reviseTo(
  ownerName: string,
  history: readonly ControllerRevision[],
  template: PodTemplateSpec,
  collisionCount: number,
): RevisionStep {
  const newest = history.at(-1)
  const next = addInt64(newest?.revision ?? 0, 1)
  const same = history.findLast((r) => holdsTemplate(r, template))
  if (same) return same === newest ? { kind: 'Keep', revision: same } : { kind: 'Renumber', revision: same, to: next }
  const data = templatePatch(template)
  const hash = hashOf(data, collisionCount)
  return { kind: 'Create', name: revisionName(ownerName, hash), data, hash, number: next }
}

/** A revision name such as `web-5d8f7c9b`, truncated to the maximum length. */
export const revisionName = (ownerName: string, hash: string): string => `${ownerName.slice(0, 223)}-${hash}`

/** The unused revisions beyond the limit, oldest first. A negative limit keeps all. `history` is sorted. */
export function surplusRevisions<R extends Pick<ControllerRevision, 'metadata'>>(
  history: readonly R[],
  inUse: ReadonlySet<string>,
  limit: number,
): R[] {
  if (limit < 0) return []
  const unused = history.filter((r) => !inUse.has(r.metadata.name ?? ''))
  return unused.slice(0, Math.max(0, unused.length - limit))
}
