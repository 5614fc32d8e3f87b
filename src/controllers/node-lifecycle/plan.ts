import type { Node, NodeStatus, Pod, Taint } from '../../api/generated/types.ts'
import type { Outcome, Step } from '../kit/index.ts'
import { isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { readySince } from '../service-pods/index.ts'
import { lostAtMs, lostSince, lostStatus, readyOf, startupGraceMs } from './health.ts'
import { labelsToAdd } from './labels.ts'
import type { Memory, Observed } from './observe.ts'
import { evictingTaint, wantedTaints } from './taints.ts'

export type Action =
  | { kind: 'Register' }
  | { kind: 'ChangeNode'; labels: Record<string, string> | undefined; taints: Taint[] | undefined }
  | { kind: 'MarkPod'; pod: Pod }

/** A node that is not ready is looked at this often: what becomes of it depends on the others. */
const watchfulMs = 5000

/** What follows from a node's conditions, and when it is lost. Nothing else is done in the step in which it is found lost: that is written first. */
export function plan(seen: Observed): Step<Action> {
  const { node, emptying, nowMs } = seen
  const isReady = readyOf(node)?.status === 'True'
  const aheadMs = lostAtMs(node, seen.health) - nowMs
  if (status(seen) !== node.status) return { actions: [] }
  const taints = wantedTaints(node, emptying.kind === 'yes' ? evictingTaint(node) : undefined, nowMs)
  const labels = labelsToAdd(node)
  const looks = [
    ...(aheadMs >= 0 ? [aheadMs + 1] : []),
    ...(!isReady && readyOf(node) ? [watchfulMs] : []),
    ...(emptying.kind === 'wait' ? [emptying.ms] : []),
  ]
  return {
    actions: [
      ...(seen.isFirstLook && isNew(node, nowMs) ? [{ kind: 'Register' } as const] : []),
      ...(taints || labels ? [{ kind: 'ChangeNode', labels, taints } as const] : []),
      ...lostPods(seen).map((pod): Action => ({ kind: 'MarkPod', pod })),
    ],
    ...(looks.length > 0 ? { requeueAfterMs: Math.min(...looks) } : {}),
  }
}

/** The same object unless the node is found lost. */
export function status({ node, health, nowMs }: Observed): NodeStatus {
  return nowMs > lostAtMs(node, health) ? lostStatus(node, nowMs) : node.status
}

/**
 * Pods that were ready when their node was lost and that were not marked since: each is marked once for each loss. A
 * kubelet may say that they are ready after all, and would say it again after each mark. The first look at a loss marks
 * all pods that are ready, whatever their node's clock says; later looks mark those that were ready before the loss and
 * were heard of late.
 */
function lostPods({ node, pods, marked }: Observed): Pod[] {
  const since = lostSince(node)
  if (since === undefined) return []
  const wasReady = (pod: Pod) => !marked?.isComplete || !(millisecondsOf(readySince(pod)) > millisecondsOf(since))
  return pods.filter((pod) => isPodReady(pod) && !marked?.uids.has(pod.metadata.uid ?? '') && wasReady(pod))
}

/** What is known of a node for the next look, after what was done in this one. */
export function memory({ node, health, marked }: Observed, { done, failed, skipped }: Outcome<Action>): Memory {
  const since = lostSince(node)
  if (since === undefined) return { health, marked: undefined }
  const now = done.flatMap((action) => (action.kind === 'MarkPod' ? [action.pod.metadata.uid ?? ''] : []))
  const isComplete = marked?.isComplete === true || (failed.length === 0 && skipped.length === 0)
  return { health, marked: { since, uids: new Set([...(marked?.uids ?? []), ...now]), isComplete } }
}

const isNew = ({ metadata }: Node, nowMs: number): boolean => nowMs - millisecondsOf(metadata.creationTimestamp) < startupGraceMs
