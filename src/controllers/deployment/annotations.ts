import type { Deployment, ReplicaSet } from '../../api/generated/types.ts'
import { type Int64, addInt64, maxInt64Of, parseInt64 } from '../../api/int64.ts'
import type { Bounds } from './bounds.ts'

/** The number of a revision: on a ReplicaSet its own, on a Deployment that of its newest. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** Numbers that a ReplicaSet had before it was gone back to. */
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'
/** What the Deployment wanted when the ReplicaSet was last scaled: another number now means that a user has scaled. */
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
/** What the Deployment could have had then, with its surge: the whole that the ReplicaSet was a part of. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

/** Annotations that concern the Deployment alone, or that are decided here. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.rollbackTo',
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
])

/** How long a history may become. */
const maxHistoryChars = 2000

export type Annotations = Readonly<Record<string, string>>

/** A number of replicas in an annotation, an int32; undefined if there is none, or something else. */
export function numberIn(set: ReplicaSet, annotation: string): number | undefined {
  const value = Number(parseInt64(set.metadata.annotations?.[annotation] ?? ''))
  return (value | 0) === value ? value : undefined
}

/** The number of a ReplicaSet's revision, an int64; 0 if it has none. */
export const revisionOf = ({ metadata: { annotations } }: ReplicaSet): Int64 =>
  parseInt64(annotations?.[revisionAnnotation] ?? '') ?? 0

/** The number of the revision that a Deployment was last told to be at; undefined if that cannot be read. */
export const toldRevisionOf = ({ metadata: { annotations } }: Deployment): Int64 | undefined =>
  parseInt64(annotations?.[revisionAnnotation] ?? '0')

/** Annotations by which it is told later whether, and from what, a user has scaled. */
export const sizeAnnotations = ({ replicas, maxSurge }: Bounds): Annotations => ({
  [desiredReplicasAnnotation]: String(replicas),
  [maxReplicasAnnotation]: String(replicas + maxSurge),
})

/** Those of `wanted` that the ReplicaSet does not have yet. */
export const missingAnnotations = (set: ReplicaSet, wanted: Annotations): Annotations =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => set.metadata.annotations?.[key] !== value))

/** What the ReplicaSet of the newest revision says beyond its size: what the Deployment says, and its number. `current` is how it is now, if it exists. */
export function revisionAnnotations(deployment: Deployment, current: ReplicaSet | undefined, oldSets: readonly ReplicaSet[]): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key))
  const text = current?.metadata.annotations?.[revisionAnnotation]
  const own = parseInt64(text || '0')
  const next = addInt64(maxInt64Of(oldSets.map(revisionOf)), 1)
  // A number that cannot be read is left to whoever wrote it. Old ones may have been deleted since: a number is never
  // lowered.
  if (own === undefined || own >= next) return Object.fromEntries(copied)
  const history = text && withRevision(current?.metadata.annotations?.[revisionHistoryAnnotation] ?? '', text)
  return { ...Object.fromEntries(copied), [revisionAnnotation]: String(next), ...(history ? { [revisionHistoryAnnotation]: history } : {}) }
}

/** The oldest numbers are dropped where there is no room. */
function withRevision(history: string, revision: string): string {
  const revisions = history ? [...history.split(','), revision] : [revision]
  while (revisions.length > 1 && revisions.join().length > maxHistoryChars) revisions.shift()
  return revisions.join()
}
