import type { WorkloadCondition } from '../../../src/api/kinds/workloads/rollout-clock.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'

/** A number that lies between two bounds. Both are the same where the number is known. */
export interface Span {
  low: number
  high: number
}

/** A statement that holds for all, for some, or for none of the ways to look at a workload. */
export type Certainty = 'yes' | 'perhaps' | 'no'

export type { WorkloadCondition as Condition }

export const conditionOf = (object: KubeObject | undefined, type: string): WorkloadCondition | undefined =>
  ((object as { status?: { conditions?: WorkloadCondition[] } } | undefined)?.status?.conditions ?? []).find((c) => c.type === type)

export const spanOf = (numbers: readonly number[]): Span => ({ low: Math.min(...numbers), high: Math.max(...numbers) })

export const certaintyOf = (answers: readonly boolean[]): Certainty =>
  answers.every(Boolean) ? 'yes' : answers.some(Boolean) ? 'perhaps' : 'no'

export const describeSpan = ({ low, high }: Span): string => (low === high ? `${low}` : `${low} to ${high}`)

/** The whole second in which a time lies. The API stores times of conditions so. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000) * 1000

export const msOf = (time: string | null | undefined): number => (time ? Date.parse(time) : Number.NaN)

export const isTerminating = ({ metadata }: KubeObject): boolean => Boolean(metadata.deletionTimestamp)
export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded'
export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod)

const readyOf = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready')

export const isReady = (pod: Pod): boolean => readyOf(pod)?.status === 'True'

/** True if a pod has been ready for long enough at a time. */
export function isReadyFor(pod: Pod, seconds: number, atMs: number): boolean {
  if (!isReady(pod)) return false
  return seconds === 0 || msOf(readyOf(pod)?.lastTransitionTime as string | undefined) + seconds * 1000 <= atMs
}

/** True if a hook of a CloneSet keeps a pod out of service. */
export const isHeldByHook = ({ metadata }: Pod): boolean => !['', 'Normal', undefined].includes(metadata.labels?.['lifecycle.apps.kruise.io/state'])

export const managerOf = ({ metadata }: KubeObject): string | undefined => metadata.ownerReferences?.find((ref) => ref.controller)?.uid

/** True if an object has all labels of a selector. The simulation's users select by labels alone. */
export function isSelected({ metadata }: KubeObject, labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels !== undefined && Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value)
}

/** The image by which the simulation's users tell one revision from the next. */
export const imageOf = (spec: { containers: { image?: string }[] } | undefined): string => spec?.containers[0]?.image ?? ''

/** A number, or a share of a total. */
export function portion(value: number | string | undefined, total: number, round: (share: number) => number): number {
  return typeof value === 'string' ? round((Number.parseInt(value, 10) * total) / 100) : (value ?? 0)
}

/** The last part of a revision's name, and of a label that holds a name or a mere hash. */
export const hashOf = (name: string | undefined): string => (name ?? '').slice((name ?? '').lastIndexOf('-') + 1)

export const revisionLabel = 'controller-revision-hash'
