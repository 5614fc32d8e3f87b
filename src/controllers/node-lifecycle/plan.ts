import type { Node, NodeStatus, Pod, Taint } from '../../api/generated/types.ts'
import type { Outcome, Step } from '../kit/index.ts'
import { isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { readySince } from '../service-pods.ts'
import {
  evictingTaint,
  labelsToAdd,
  lostAtMs,
  lostSince,
  lostStatus,
  readyOf,
  startupGraceMs,
  wantedTaints,
} from './health.ts'
import type { Memory, Observed } from './observe.ts'

export type Action =
  | { kind: 'Register' }
  | { kind: 'ChangeNode'; labels: Record<string, string> | undefined; taints: Taint[] | undefined }
  | { kind: 'MarkPod'; pod: Pod }

/** The interval of checks for a node that is not ready, because its eviction depends on other nodes. */
const watchfulMs = 5000

/** Decides the actions for a node's conditions. The step that detects a loss writes only that. */
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

/** The same object unless a loss was detected. */
export function status({ node, health, nowMs }: Observed): NodeStatus {
  return nowMs > lostAtMs(node, health) ? lostStatus(node, nowMs) : node.status
}

/**
 * Pods that were ready at the loss of their node and are not marked yet. Each pod is marked once per loss, because a
 * kubelet that reports it ready would do so after each mark. The first reconcile marks all ready pods, whatever the
 * clock of the node. Later ones mark pods that were ready before the loss and were observed late.
 */
function lostPods({ node, pods, marked }: Observed): Pod[] {
  const since = lostSince(node)
  if (since === undefined) return []
  const wasReady = (pod: Pod) => !marked?.isComplete || !(millisecondsOf(readySince(pod)) > millisecondsOf(since))
  return pods.filter((pod) => isPodReady(pod) && !marked?.uids.has(pod.metadata.uid ?? '') && wasReady(pod))
}

/** The memory for the next reconcile, after this one's actions. */
export function memory({ node, health, marked }: Observed, { done, failed, skipped }: Outcome<Action>): Memory {
  const since = lostSince(node)
  if (since === undefined) return { health, marked: undefined }
  const now = done.flatMap((action) => (action.kind === 'MarkPod' ? [action.pod.metadata.uid ?? ''] : []))
  const isComplete = marked?.isComplete === true || (failed.length === 0 && skipped.length === 0)
  return { health, marked: { since, uids: new Set([...(marked?.uids ?? []), ...now]), isComplete } }
}

const isNew = ({ metadata }: Node, nowMs: number): boolean =>
  nowMs - millisecondsOf(metadata.creationTimestamp) < startupGraceMs
