import type { Node, NodeStatus, Pod, Taint } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { readySince } from '../service-pods/index.ts'
import { lostAtMs, lostStatus, readyOf, startupGraceMs } from './health.ts'
import { labelsToAdd } from './labels.ts'
import type { Observed } from './observe.ts'
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

/** Pods that were ready when their node was lost. One that was reported ready since then is known better to somebody else. */
function lostPods({ node, pods }: Observed): Pod[] {
  const ready = readyOf(node)
  if (ready?.reason !== 'NodeStatusUnknown') return []
  const lostMs = millisecondsOf(ready.lastTransitionTime)
  return pods.filter((pod) => isPodReady(pod) && !(millisecondsOf(readySince(pod)) > lostMs))
}

const isNew = ({ metadata }: Node, nowMs: number): boolean => nowMs - millisecondsOf(metadata.creationTimestamp) < startupGraceMs
