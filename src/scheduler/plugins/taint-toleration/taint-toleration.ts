import { deepEqual } from '../../../api/deep-equal.ts'
import type { Node, Taint } from '../../../api/generated/types.ts'
import { tolerates, untoleratedTaint } from '../../../api/kinds/placement/tolerations.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import { type FilterPlugin, type Rejection, type ScorePlugin, normalizeScores } from '../plugin.ts'

const name = 'TaintToleration'
const rejection: Rejection = { plugin: name, reasons: ['node(s) had untolerated taint(s)'], isFinal: true }

const hardEffects = ['NoSchedule', 'NoExecute']

const isTolerated = (taints: readonly Taint[], { pod }: PodInfo): boolean =>
  taints.length === 0 || untoleratedTaint(taints, pod.spec.tolerations ?? [], hardEffects) === undefined

const taintsOf = ({ spec }: Node): readonly Taint[] => spec?.taints ?? []

/** Rejects nodes with taints that the pod does not tolerate. */
export const taintToleration: FilterPlugin = {
  name,
  filter: (pod) => ({ check: ({ hardTaints }) => (isTolerated(hardTaints, pod) ? undefined : rejection) }),
  hears: ['NodeAdd', 'NodeUpdate', 'TargetPodUpdate'],
  helps(event, pod) {
    if (event.kind === 'NodeAdd') return isTolerated(taintsOf(event.node), pod)
    if (event.kind === 'NodeUpdate') {
      return isTolerated(taintsOf(event.node), pod) && !isTolerated(taintsOf(event.before), pod)
    }
    return (
      event.kind === 'TargetPodUpdate' && !deepEqual(event.before.pod.spec.tolerations, event.pod.pod.spec.tolerations)
    )
  },
}

/** Prefers nodes with fewer PreferNoSchedule taints that the pod does not tolerate. */
export const avoidedTaints: ScorePlugin = {
  name,
  weight: 3,
  scorer({ pod }, { cluster }) {
    if (!cluster.hasSoftTaints) return undefined
    const tolerations = (pod.spec.tolerations ?? []).filter(({ effect }) => !effect || effect === 'PreferNoSchedule')
    const isAvoided = (taint: Taint) => !tolerations.some((toleration) => tolerates(toleration, taint))
    return {
      score: ({ softTaints }) => (softTaints.length === 0 ? 0 : softTaints.filter(isAvoided).length),
      normalize: (scores) => normalizeScores(scores, true),
    }
  },
}
