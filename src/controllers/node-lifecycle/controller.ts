import { isNotFound } from '../../api/errors.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { leases, nodes, pods } from '../../client/index.ts'
import { type ApplyContext, defineController, watching } from '../kit/index.ts'
import { byNode, findCondition, timestamp } from '../kit/workload/index.ts'
import { type Observed, leaseNamespace, observe } from './observe.ts'
import { type Action, memory, plan, status } from './plan.ts'

/** Marks a pod on a lost node as not ready, so that it receives no traffic. */
async function markPod({ writer, event, nowMs }: ApplyContext<Node>, pod: Pod): Promise<void> {
  const condition = { type: 'Ready', status: 'False', lastTransitionTime: timestamp(nowMs) }
  const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
  try {
    await writer.patch(pods, pod, patch, { type: 'strategic', subresource: 'status' })
  } catch (e) {
    if (isNotFound(e)) return // the pod is gone
    throw e
  }
  event('Warning', 'NodeNotReady', 'Node is not ready', pod)
}

/** Detects lost nodes, and maintains the taints of nodes. */
export const nodeLifecycle = defineController<Node, Observed, Action>({
  name: 'node',
  owner: nodes,
  sources: {
    watches: [
      watching(
        leases,
        ({ metadata }) => (metadata.namespace === leaseNamespace ? [metadata.name ?? ''] : []),
        (before, after) => before.spec?.renewTime !== after.spec?.renewTime,
      ),
    ],
    reads: [pods],
    indexes: [byNode],
  },
  status: {
    observesGeneration: false,
    compute: status,
    announce({ event, owner }, before) {
      if (findCondition(before?.conditions, 'Ready')?.status !== 'True') return
      event('Normal', 'NodeNotReady', `Node ${owner.metadata.name} status is now: NodeNotReady`)
    },
  },
  observe,
  plan,
  apply: {
    Register: async ({ event, owner: { metadata } }) =>
      event('Normal', 'RegisteredNode', `Node ${metadata.name} event: Registered Node ${metadata.name} in Controller`),
    ChangeNode: ({ writer, owner }, { labels, taints }) => {
      const metadata = { resourceVersion: owner.metadata.resourceVersion, ...(labels ? { labels } : {}) }
      return writer.patch(
        nodes,
        owner,
        {
          metadata,
          ...(taints ? { spec: { taints: taints.length ? taints : null } } : {}),
        },
        { type: 'merge' },
      )
    },
    MarkPod: { pace: 'all at once', run: (ctx, { pod }) => markPod(ctx, pod) },
  },
  remember: memory,
})
