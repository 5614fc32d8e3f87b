import { deepEqual } from '../../api/deep-equal.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/errors.ts'
import { keyOf, nodes, pods } from '../../client/index.ts'
import { type ApplyContext, defineController, watching } from '../kit/index.ts'
import { byNode, disruptionPatch, podsOnNode } from '../kit/workload/index.ts'
import { type Action, type Clocks, type Observed, evictingTaints, plan, runningClocks } from './plan.ts'

const noTaints: Observed['taints'] = []
const noClocks: Clocks = new Map()

/** Sets DisruptionTarget on the pod, and deletes it. */
async function evict({ writer, event, nowMs }: ApplyContext<Node>, pod: Pod): Promise<void> {
  event('Normal', 'TaintManagerEviction', `Marking for deletion Pod ${keyOf(pod)}`, pod)
  const patch = disruptionPatch(pod, 'DeletionByTaintManager', 'Taint manager: deleting due to NoExecute taint', nowMs)
  try {
    if (patch) await writer.patch(pods, pod, patch, { type: 'strategic', subresource: 'status' })
  } catch (e) {
    if (isNotFound(e)) return // the pod is gone
    throw e
  }
  await writer.delete(pods, pod)
}

const podConcerns = (before: Pod, after: Pod): boolean =>
  before.spec?.nodeName !== after.spec?.nodeName ||
  before.metadata.uid !== after.metadata.uid ||
  !deepEqual(before.spec?.tolerations, after.spec?.tolerations)

/** Evicts pods from nodes with a NoExecute taint that they do not tolerate. */
export const taintEviction = defineController<Node, Observed, Action>({
  name: 'taint-eviction',
  owner: nodes,
  sources: {
    watches: [
      watching(
        pods,
        ({ spec }, caches) => {
          const node = spec?.nodeName ? caches.get(nodes, '', spec.nodeName) : undefined
          return node && evictingTaints(node.spec?.taints).length > 0 ? [spec!.nodeName!] : []
        },
        podConcerns,
      ),
    ],
    indexes: [byNode],
  },
  observe({ caches, nowMs, remembered }, node) {
    const taints = evictingTaints(node.spec?.taints)
    const clocks = (remembered as Clocks | undefined) ?? noClocks
    // The usual case: no pod has to be evicted.
    if (taints.length === 0 && clocks.size === 0) return { taints: noTaints, pods: [], clocks, nowMs }
    return { taints, pods: podsOnNode(caches, node.metadata.name ?? ''), clocks, nowMs }
  },
  plan,
  apply: {
    Evict: { pace: 'all at once', run: (ctx, { pod }) => evict(ctx, pod) },
    Cancel: async ({ event }, { pod }) =>
      event('Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${keyOf(pod)}`, pod),
  },
  remember: runningClocks,
})
