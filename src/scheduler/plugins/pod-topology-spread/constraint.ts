import type { LabelSelector, TopologySpreadConstraint } from '../../../api/generated/types.ts'
import { compileRequiredNodes } from '../../../api/kinds/placement/node-matching.ts'
import { untoleratedTaint } from '../../../api/kinds/placement/tolerations.ts'
import { type LabelMatcher, type Labels, compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import type { PodChoice } from '../../cluster/matching-pods.ts'
import type { NodeInfo } from '../../cluster/node-info.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'

/** The allowed skew of similar pods over the values of a node label. */
export interface Constraint {
  topologyKey: string
  maxSkew: number
  minDomains: number
  /** The pods that count, without terminating ones. */
  counted: PodChoice
  selects(labels: Labels): boolean
  /** Reports whether the pods of a node count. Undefined if all nodes count. */
  includes: ((node: NodeInfo) => boolean) | undefined
}

export const hostnameKey = 'kubernetes.io/hostname'

/** The nodes that count for a pod. Undefined for all. */
function nodesOf({ pod: { spec } }: PodInfo, honorsAffinity: boolean, honorsTaints: boolean): Constraint['includes'] {
  const matches =
    honorsAffinity && (spec.nodeSelector ?? spec.affinity?.nodeAffinity) ? compileRequiredNodes(spec) : undefined
  if (!matches && !honorsTaints) return undefined
  const isTolerated = ({ hardTaints }: NodeInfo) =>
    untoleratedTaint(hardTaints, spec.tolerations ?? [], ['NoSchedule', 'NoExecute']) === undefined
  return (node) => (!matches || matches(node.node)) && (!honorsTaints || isTolerated(node))
}

/** Pods in a namespace that all selectors match, without terminating ones. */
function livePods(namespace: string, selectors: readonly LabelSelector[], selects: LabelMatcher): PodChoice {
  return {
    key: `live ${JSON.stringify(selectors)}`,
    namespace,
    isCounted: (pod) => pod.namespace === namespace && !pod.isTerminating && selects(pod.labels),
  }
}

/** The selector with the pod's own values of `matchLabelKeys`. */
function withOwnLabels(
  { labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint,
  labels: Labels,
): LabelSelector | undefined {
  const own = matchLabelKeys.filter((key) => labels?.[key] !== undefined)
  if (!labelSelector || own.length === 0) return labelSelector
  const expressions = own.map((key) => ({ key, operator: 'In', values: [labels![key]!] }))
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] }
}

/** The hard or the soft constraints of a pod. */
export function constraintsOf(pod: PodInfo, whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'): Constraint[] {
  const constraints: Constraint[] = []
  for (const constraint of pod.pod.spec.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== whenUnsatisfiable) continue
    const selector = withOwnLabels(constraint, pod.labels)
    const selects = compileLabelSelector(selector)
    const {
      topologyKey,
      maxSkew,
      minDomains = 1,
      nodeAffinityPolicy = 'Honor',
      nodeTaintsPolicy = 'Ignore',
    } = constraint
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

/** The default constraints for pods of a service or a set: spread over nodes and, with a larger skew, over zones. */
export function defaultConstraints(pod: PodInfo, siblings: readonly LabelSelector[]): Constraint[] {
  if (siblings.length === 0) return []
  const matchers = siblings.map((selector) => compileLabelSelector(selector))
  const selects =
    matchers.length === 1 ? matchers[0]! : (labels: Labels) => matchers.every((matches) => matches(labels))
  const counted = livePods(pod.namespace, siblings, selects)
  const includes = nodesOf(pod, true, false)
  return [
    { topologyKey: hostnameKey, maxSkew: 3, minDomains: 1, counted, selects, includes },
    { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, minDomains: 1, counted, selects, includes },
  ]
}
