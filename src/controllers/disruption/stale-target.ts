import { isNotFound } from '../../api/errors.ts'
import type { Namespace, Pod } from '../../api/generated/types.ts'
import { soonestOf } from '../../base/soonest.ts'
import { namespaces, pods } from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'
import {
  disruptionTarget,
  findCondition,
  isPodFinished,
  isPodTerminating,
  millisecondsOf,
  timestamp,
} from '../kit/workload/index.ts'

/** A pod with the condition is deleted within this time, or the condition is cleared. */
const staleAfterMs = 120_000

/**
 * The time since which a pod has the condition without being deleted. Undefined for others. Conditions set by a kubelet
 * are ignored.
 */
function targetedSince(pod: Pod): number | undefined {
  if (isPodTerminating(pod) || isPodFinished(pod)) return undefined
  const condition = findCondition(pod.status?.conditions, disruptionTarget)
  return condition?.status === 'True' && condition.reason !== 'TerminationByKubelet'
    ? millisecondsOf(condition.lastTransitionTime)
    : undefined
}

export interface Observed {
  /** Pods with the condition that are not being deleted. */
  pods: Pod[]
  nowMs: number
}

export interface Action {
  kind: 'Clear'
  pod: Pod
}

/** Clears the conditions of pods that are not deleted. */
function plan({ pods: targeted, nowMs }: Observed): Step<Action> {
  const dueIn = (pod: Pod) => (targetedSince(pod) ?? Number.NEGATIVE_INFINITY) + staleAfterMs - nowMs
  const requeueAfterMs = soonestOf(targeted.map(dueIn).filter((ms) => ms > 0))
  return {
    actions: targeted.filter((pod) => !(dueIn(pod) > 0)).map((pod) => ({ kind: 'Clear', pod })),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  }
}

const targetedIn = indexing(pods, 'disruption-target', (pod) =>
  targetedSince(pod) === undefined ? [] : [pod.metadata.namespace ?? ''],
)

/** Clears DisruptionTarget on pods that were not deleted. */
export const staleDisruption = defineController<Namespace, Observed, Action>({
  name: 'stale-pod-disruption',
  owner: namespaces,
  sources: {
    watches: [watching(pods, (pod) => (targetedSince(pod) === undefined ? [] : [pod.metadata.namespace ?? '']))],
    indexes: [targetedIn],
  },
  observe: ({ caches, nowMs }, namespace) => ({
    pods: caches.byIndex(pods, targetedIn.name, namespace.metadata.name ?? ''),
    nowMs,
  }),
  plan,
  apply: {
    async Clear({ writer, nowMs }, { pod }) {
      const condition = {
        type: disruptionTarget,
        status: 'False',
        reason: null,
        message: null,
        lastTransitionTime: timestamp(nowMs),
      }
      try {
        const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
        await writer.patch(pods, pod, patch, { type: 'strategic', subresource: 'status' })
      } catch (e) {
        if (!isNotFound(e)) throw e // the pod is gone
      }
    },
  },
})
