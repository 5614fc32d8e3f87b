import type { NamespaceCondition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceType } from '../../client/index.ts'
import { type Saying, setCondition } from '../kit/workload/index.ts'

/** The state of one kind after its objects were deleted. */
export interface KindReport {
  type: ResourceType
  remaining: readonly KubeObject[]
  /** The remaining grace period. */
  graceSeconds: number
  error: Error | undefined
}

/** The result of one check of a namespace that is being deleted. */
export interface Report {
  /** The error of discovery. */
  discoveryError: string | undefined
  kinds: readonly KindReport[]
}

/** The estimated time for finalizers. */
const finalizerSeconds = 15

const finalizersOf = ({ remaining }: KindReport): string[] =>
  remaining.flatMap((object) => object.metadata.finalizers ?? [])

/** Texts about a namespace, sorted. */
const counted = (names: Iterable<string>): [string, number][] => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

/** One text per remaining kind: `pods. has 2 resource instances`. */
const remainingTexts = ({ kinds }: Report): string[] =>
  kinds
    .filter(({ remaining }) => remaining.length > 0)
    .map(({ type, remaining }) => `${type.plural}.${type.group} has ${remaining.length} resource instances`)
    .sort()

/** Texts such as `example.com/wait in 2 resource instances`. */
const finalizerTexts = ({ kinds }: Report): string[] =>
  counted(kinds.flatMap(finalizersOf))
    .map(([name, count]) => `${name} in ${count} resource instances`)
    .sort()

/** The reasons why content could not be deleted. Content that remains without a reason is a failure as well. */
export const failureTexts = (namespace: string, { kinds }: Report): string[] =>
  kinds
    .flatMap((kind) => {
      if (kind.error) return [kind.error.message]
      if (kind.remaining.length === 0 || kind.graceSeconds > 0 || finalizersOf(kind).length > 0) return []
      return [
        `unexpected items still remain in namespace: ${namespace} for gvr: ${kind.type.group}/${kind.type.version}, Resource=${kind.type.plural}`,
      ]
    })
    .sort()

/** Reports whether nothing is known to be left. */
export const isEmpty = ({ discoveryError, kinds }: Report): boolean =>
  discoveryError === undefined && kinds.every(({ remaining, error }) => remaining.length === 0 && !error)

/** The estimated number of seconds until nothing is left. */
export function secondsLeft({ kinds }: Report): number {
  return Math.max(
    0,
    ...kinds.map((kind) => Math.max(kind.graceSeconds, finalizersOf(kind).length > 0 ? finalizerSeconds : 0)),
  )
}

/** The conditions without problems, in their order. */
const wellSaid: readonly Saying[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  {
    type: 'NamespaceContentRemaining',
    status: 'False',
    reason: 'ContentRemoved',
    message: 'All content successfully removed',
  },
  {
    type: 'NamespaceFinalizersRemaining',
    status: 'False',
    reason: 'ContentRemoved',
    message: 'All content successfully removed',
  },
]

function troublesOf(namespace: string, report: Report): Map<string, Omit<Saying, 'type' | 'status'>> {
  const troubles = new Map<string, Omit<Saying, 'type' | 'status'>>()
  const { discoveryError } = report
  if (discoveryError) {
    troubles.set('NamespaceDeletionDiscoveryFailure', { reason: 'DiscoveryFailed', message: discoveryError })
  }
  const failures = failureTexts(namespace, report)
  if (failures.length) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`
    troubles.set('NamespaceDeletionContentFailure', { reason: 'ContentDeletionFailed', message })
  }
  const remaining = remainingTexts(report)
  if (remaining.length) {
    troubles.set('NamespaceContentRemaining', {
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${remaining.join(', ')}`,
    })
  }
  const finalizers = finalizerTexts(report)
  if (finalizers.length) {
    troubles.set('NamespaceFinalizersRemaining', {
      reason: 'SomeFinalizersRemain',
      message: `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`,
    })
  }
  return troubles
}

/** The conditions of a namespace after a check. */
export function conditionsOf(
  namespace: string,
  report: Report,
  before: readonly NamespaceCondition[] | undefined,
  nowMs: number,
): NamespaceCondition[] {
  const troubles = troublesOf(namespace, report)
  return wellSaid.reduce<NamespaceCondition[]>(
    (conditions, well) => {
      const trouble = troubles.get(well.type)
      return setCondition(
        conditions,
        trouble ? { ...well, ...trouble, status: 'True' } : well,
        nowMs,
      ) as NamespaceCondition[]
    },
    [...(before ?? [])],
  )
}
