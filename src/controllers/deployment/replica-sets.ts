import { semanticEqual } from '../../api/deep-equal.ts'
import type { Deployment, PodTemplateSpec, ReplicaSet } from '../../api/generated/types.ts'
import { compareInt64 } from '../../api/int64.ts'
import { type New, controllerOf } from '../../client/index.ts'
import { hashOf, revisionName } from '../kit/workload/index.ts'
import { type Annotations, revisionOf } from './annotations.ts'
import { replicasOf } from './bounds.ts'

/** Tells the pods of one revision from those of another. */
export const templateHashLabel = 'pod-template-hash'

/** Whether two templates make the same pods; the label that tells revisions apart is ours. */
export function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return semanticEqual(withoutHash(a), withoutHash(b))
}

function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { labels } = template.metadata ?? {}
  if (!labels || !(templateHashLabel in labels)) return template
  const { [templateHashLabel]: _, ...rest } = labels
  return { ...template, metadata: { ...template.metadata, labels: rest } }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The older first, of those of the same second by name. */
export const byAge = (a: ReplicaSet, b: ReplicaSet): number =>
  compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') || compare(a.metadata.name ?? '', b.metadata.name ?? '')

/** The lower number first. */
export const byRevision = (a: ReplicaSet, b: ReplicaSet): number =>
  compareInt64(revisionOf(a), revisionOf(b)) || byAge(a, b)

/** Those that are to have pods. */
export const activeOf = (sets: readonly ReplicaSet[]): ReplicaSet[] => sets.filter((set) => replicasOf(set) > 0)

/** The ReplicaSet of the template that the Deployment has now, if there is one; of several the oldest. The others are old. */
export function sortOut(deployment: Deployment, sets: readonly ReplicaSet[]): { newSet: ReplicaSet | undefined; oldSets: ReplicaSet[] } {
  const inOrder = sets.toSorted(byAge)
  const newSet = inOrder.find((set) => isSameTemplate(set.spec.template, deployment.spec.template))
  return { newSet, oldSets: inOrder.filter((set) => set !== newSet) }
}

/** The ReplicaSet that the Deployment's template still lacks. */
export function draftOf(deployment: Deployment, replicas: number, annotations: Annotations): New<ReplicaSet> {
  const { template, selector, minReadySeconds } = deployment.spec
  const hash = hashOf(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [templateHashLabel]: hash }
  return {
    metadata: { name: revisionName(deployment.metadata.name ?? '', hash), namespace: deployment.metadata.namespace, labels, annotations: { ...annotations } },
    spec: {
      replicas,
      ...(minReadySeconds ? { minReadySeconds } : {}),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [templateHashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}

/** The key of the Deployment that manages a ReplicaSet, as far as its reference tells. */
export const managerKeyOf = (set: ReplicaSet): string | undefined => {
  const ref = controllerOf(set)
  return ref?.kind === 'Deployment' ? `${set.metadata.namespace}/${ref.name}` : undefined
}
