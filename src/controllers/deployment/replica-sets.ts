import { semanticEqual } from '../../api/deep-equal.ts'
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../api/generated/types.ts'
import { type Int64, addInt64, compareInt64, maxInt64Of, parseInt64 } from '../../api/numbers/int64.ts'
import { type New, controllerOf } from '../../client/index.ts'
import { compareText, hashOf, revisionName } from '../kit/workload/index.ts'
import { type Bounds, replicasOf } from './rolling.ts'

/** The revision number: of a ReplicaSet, or of a Deployment's newest ReplicaSet. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'
/** The earlier revision numbers of a ReplicaSet that was rolled back to. */
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history'
/**
 * The replicas of the Deployment when the ReplicaSet was last scaled. Another number now means that a user has scaled.
 */
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas'
/** The replicas and the surge of the Deployment at that time, which the ReplicaSet was a part of. */
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas'

/** Annotations that concern only the Deployment, or that this controller sets. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.rollbackTo',
  revisionAnnotation,
  revisionHistoryAnnotation,
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
])

/** The maximum length of the history. */
const maxHistoryChars = 2000

export type Annotations = Readonly<Record<string, string>>

/** An int32 in an annotation. Undefined if it is missing or invalid. */
export function numberIn(set: ReplicaSet, annotation: string): number | undefined {
  const value = Number(parseInt64(set.metadata.annotations?.[annotation] ?? ''))
  return (value | 0) === value ? value : undefined
}

/** The revision number of a ReplicaSet, an int64. 0 if it has none. */
export const revisionOf = ({ metadata: { annotations } }: ReplicaSet): Int64 =>
  parseInt64(annotations?.[revisionAnnotation] ?? '') ?? 0

/** The recorded revision number of a Deployment. Undefined if it cannot be parsed. */
export const toldRevisionOf = ({ metadata: { annotations } }: Deployment): Int64 | undefined =>
  parseInt64(annotations?.[revisionAnnotation] ?? '0')

/** Annotations that later show whether a user has scaled, and from which size. */
export const sizeAnnotations = ({ replicas, maxSurge }: Bounds): Annotations => ({
  [desiredReplicasAnnotation]: String(replicas),
  [maxReplicasAnnotation]: String(replicas + maxSurge),
})

/** The annotations in `wanted` that the ReplicaSet lacks. */
export const missingAnnotations = (set: ReplicaSet, wanted: Annotations): Annotations =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => set.metadata.annotations?.[key] !== value))

/**
 * The annotations of the newest ReplicaSet other than its size: those of the Deployment, and its revision number.
 * `current` is the existing ReplicaSet, if any.
 */
export function revisionAnnotations(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key))
  const text = current?.metadata.annotations?.[revisionAnnotation]
  const own = parseInt64(text || '0')
  const next = addInt64(maxInt64Of(oldSets.map(revisionOf)), 1)
  // A number that cannot be parsed stays as it is. Old ReplicaSets may have been deleted since: a number is never
  // lowered.
  if (own === undefined || own >= next) return Object.fromEntries(copied)
  const history = text && withRevision(current?.metadata.annotations?.[revisionHistoryAnnotation] ?? '', text)
  return {
    ...Object.fromEntries(copied),
    [revisionAnnotation]: String(next),
    ...(history ? { [revisionHistoryAnnotation]: history } : {}),
  }
}

/** The oldest numbers are dropped if the text is too long. */
function withRevision(history: string, revision: string): string {
  const revisions = history ? [...history.split(','), revision] : [revision]
  while (revisions.length > 1 && revisions.join().length > maxHistoryChars) revisions.shift()
  return revisions.join()
}

/** The label that distinguishes the pods of different revisions. */
export const templateHashLabel = 'pod-template-hash'

/** Reports whether two templates produce the same pods, ignoring the label with the hash. */
export function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return semanticEqual(withoutHash(a), withoutHash(b))
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { labels } = template.metadata ?? {}
  if (!labels || !(templateHashLabel in labels)) return template
  const { [templateHashLabel]: _, ...rest } = labels
  return { ...template, metadata: { ...template.metadata, labels: rest } }
}

/** The older first, then by name. */
export const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareText(a.metadata.name ?? '', b.metadata.name ?? '')

/** The lower revision number first. */
export const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  compareInt64(revisionOf(a), revisionOf(b)) || byAge(a, b)

/** The ReplicaSets with desired pods. */
export const activeOf = (sets: readonly ReplicaSet[]): ReplicaSet[] => sets.filter((set) => replicasOf(set) > 0)

/** Finds the ReplicaSet of the Deployment's current template, the oldest of several. All others are old. */
export function sortOut(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
): { newSet: ReplicaSet | undefined; oldSets: ReplicaSet[] } {
  const inOrder = sets.toSorted(byAge)
  const newSet = inOrder.find((set) => isSameTemplate(set.spec.template, deployment.spec.template))
  return { newSet, oldSets: inOrder.filter((set) => set !== newSet) }
}

/** The ReplicaSet to create for the Deployment's template. */
export function draftOf(deployment: Deployment, replicas: number, annotations: Annotations): New<ReplicaSet> {
  const { template, selector, minReadySeconds } = deployment.spec
  const hash = hashOf(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash }
  return {
    metadata: {
      name: revisionName(deployment.metadata.name ?? '', hash),
      namespace: deployment.metadata.namespace,
      labels,
      annotations: { ...annotations },
    },
    spec: {
      replicas,
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}

/** The key of the Deployment that controls a ReplicaSet, according to its owner reference. */
export const managerKeyOf = (set: ReplicaSet): string | undefined => {
  const ref = controllerOf(set)
  return ref?.kind === 'Deployment' ? `${set.metadata.namespace}/${ref.name}` : undefined
}

/** The default value of the limit, which means no limit. */
const noLimit = 2_147_483_647

/**
 * Old ReplicaSets beyond the history limit, oldest revisions first. One with pods, or with an unobserved size, is kept.
 */
export function surplusSets({ spec }: Deployment, oldSets: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = spec.revisionHistoryLimit
  if (limit === undefined || limit === noLimit) return []
  const there = oldSets.filter((set) => !set.metadata.deletionTimestamp).toSorted(byRevision)
  return there.slice(0, Math.max(0, there.length - limit)).filter(isIdle)
}

const isIdle = ({ spec, status, metadata }: ReplicaSet): boolean =>
  replicasOf({ spec }) === 0 &&
  (status?.replicas ?? 0) === 0 &&
  (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
