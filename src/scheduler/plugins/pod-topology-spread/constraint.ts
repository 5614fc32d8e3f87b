import type { LabelSelector, TopologySpreadConstraint } from '../../../api/generated/types.ts'
import { compileRequiredNodes } from '../../../api/kinds/node-matching.ts'
import { untoleratedTaint } from '../../../api/kinds/taints.ts'
import { type LabelMatcher, type Labels, compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import type { PodChoice } from '../../cluster/matching-pods.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'

/** How evenly pods like this one are to be spread over the values of a label of nodes. */
export interface Constraint {
  topologyKey: string
  maxSkew: number
  minDomains: number
  /** Pods that count. Those that are on their way out do not. */
  counted: PodChoice
  selects(labels: Labels): boolean
  /** Whether the node's pods count; undefined if those of all nodes do. */
  includes: ((node: NodeInfo) => boolean) | undefined
}

export const hostnameKey = 'kubernetes.io/hostname'

/** Which nodes count for a pod; undefined for all of them. */
function nodesOf({ pod: { spec } }: PodInfo, honorsAffinity: boolean, honorsTaints: boolean): Constraint['includes'] {
  const matches = honorsAffinity && (spec.nodeSelector ?? spec.affinity?.nodeAffinity) ? compileRequiredNodes(spec) : undefined
  if (!matches && !honorsTaints) return undefined
  const isTolerated = ({ hardTaints }: NodeInfo) => untoleratedTaint(hardTaints, spec.tolerations ?? [], ['NoSchedule', 'NoExecute']) === undefined
  return (node) => (!matches || matches(node.node)) && (!honorsTaints || isTolerated(node))
}

/** Pods in a namespace that all of the selectors select and that stay. */
function livePods(namespace: string, selectors: readonly LabelSelector[], selects: LabelMatcher): PodChoice {
  return {
    key: `live ${JSON.stringify(selectors)}`,
    namespace,
    isCounted: (pod) => pod.namespace === namespace && !pod.isTerminating && selects(pod.labels),
  }
}

/** The selector with what it says of label keys whose values are the pod's own. */
function withOwnLabels({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint, labels: Labels): LabelSelector | undefined {
  const own = matchLabelKeys.filter((key) => labels?.[key] !== undefined)
  if (!labelSelector || own.length === 0) return labelSelector
  const expressions = own.map((key) => ({ key, operator: 'In', values: [labels![key]!] }))
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] }
}

/** The constraints of a pod that must hold, or those that had better hold. */
export function constraintsOf(pod: PodInfo, whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'): Constraint[] {
  const constraints: Constraint[] = []
  for (const constraint of pod.pod.spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== whenUnsatisfiable) continue
    const selector = withOwnLabels(constraint, pod.labels)
    const selects = compileLabelSelector(selector)
    const { topologyKey, maxSkew, minDomains = 1, nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint
    constraints.push({
      topologyKey,
      maxSkew,
      minDomains,
      counted: livePods(pod.namespace, selector ? [selector] : [], selects),
      selects,
      includes: nodesOf(pod, nodeAffinityPolicy === 'Honor', nodeTaintsPolicy === 'Honor'),
    })
  }
  return constraints
}

/** What holds for pods of a service or a set that say nothing of it themselves: they are spread over nodes, and a little over zones. */
export function defaultConstraints(pod: PodInfo, siblings: readonly LabelSelector[]): Constraint[] {
  if (siblings.length === 0) return []
  const matchers = siblings.map((selector) => compileLabelSelector(selector))
  const selects = matchers.length === 1 ? matchers[0]! : (labels: Labels) => matchers.every((matches) => matches(labels))
  const counted = livePods(pod.namespace, siblings, selects)
  const includes = nodesOf(pod, true, false)
  return [
    { topologyKey: hostnameKey, maxSkew: 3, minDomains: 1, counted, selects, includes },
    { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, minDomains: 1, counted, selects, includes },
  ]
}
