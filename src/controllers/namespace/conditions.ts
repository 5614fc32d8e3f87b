import type { NamespaceCondition } from '../../api/generated/types.ts'
import { type Saying, setCondition } from '../kit/workload/index.ts'
import { type Report, failureTexts, finalizerTexts, remainingTexts } from './report.ts'

/** What each condition says when all is well, in the order in which they stand. */
const wellSaid: readonly Saying[] = [
  { type: 'NamespaceDeletionDiscoveryFailure', status: 'False', reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
  { type: 'NamespaceDeletionGroupVersionParsingFailure', status: 'False', reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
  {
    type: 'NamespaceDeletionContentFailure',
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  { type: 'NamespaceContentRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' },
  { type: 'NamespaceFinalizersRemaining', status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' },
]

function troublesOf(namespace: string, report: Report): Map<string, Omit<Saying, 'type' | 'status'>> {
  const troubles = new Map<string, Omit<Saying, 'type' | 'status'>>()
  const { discoveryError } = report
  if (discoveryError) troubles.set('NamespaceDeletionDiscoveryFailure', { reason: 'DiscoveryFailed', message: discoveryError })
  const failures = failureTexts(namespace, report)
  if (failures.length) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`
    troubles.set('NamespaceDeletionContentFailure', { reason: 'ContentDeletionFailed', message })
  }
  const remaining = remainingTexts(report)
  if (remaining.length) {
    troubles.set('NamespaceContentRemaining', { reason: 'SomeResourcesRemain', message: `Some resources are remaining: ${remaining.join(', ')}` })
  }
  const finalizers = finalizerTexts(report)
  if (finalizers.length) {
    troubles.set('NamespaceFinalizersRemaining', { reason: 'SomeFinalizersRemain', message: `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}` })
  }
  return troubles
}

/** The conditions of a namespace that is being deleted, after a look at it. */
export function conditionsOf(namespace: string, report: Report, before: readonly NamespaceCondition[] | undefined, nowMs: number): NamespaceCondition[] {
  const troubles = troublesOf(namespace, report)
  return wellSaid.reduce<NamespaceCondition[]>((conditions, well) => {
    const trouble = troubles.get(well.type)
    return setCondition(conditions, trouble ? { ...well, ...trouble, status: 'True' } : well, nowMs) as NamespaceCondition[]
  }, [...(before ?? [])])
}
