import type { Affinity, DaemonSet, Node, Pod, PodSpec, Toleration } from '../../api/generated/types.ts'
import { compileRequiredNodes } from '../../api/kinds/placement/node-matching.ts'
import { untoleratedTaint } from '../../api/kinds/placement/tolerations.ts'
import { templateGenerationAnnotation } from '../../api/kinds/workloads/controller-revision.ts'
import type { New } from '../../client/index.ts'
import { namePrefix, podOfTemplate, revisionHashLabel } from '../kit/workload/index.ts'

const templateGenerationLabel = 'pod-template-generation'

const taint = (name: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists',
  effect,
})

/** Daemon pods stay on their node when it has problems or is cordoned. */
const daemonTolerations: readonly Toleration[] = [
  taint('not-ready', 'NoExecute'),
  taint('unreachable', 'NoExecute'),
  taint('disk-pressure', 'NoSchedule'),
  taint('memory-pressure', 'NoSchedule'),
  taint('pid-pressure', 'NoSchedule'),
  taint('unschedulable', 'NoSchedule'),
]
const hostNetworkTolerations: readonly Toleration[] = [...daemonTolerations, taint('network-unavailable', 'NoSchedule')]

const isSame = (a: Toleration, b: Toleration): boolean =>
  a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '')

/**
 * The tolerations of a template and those that every daemon pod has. A temporary toleration of the same taint becomes
 * permanent.
 */
export function withDaemonTolerations({
  tolerations = [],
  hostNetwork,
}: Pick<PodSpec, 'tolerations' | 'hostNetwork'>): Toleration[] {
  const ours = hostNetwork ? hostNetworkTolerations : daemonTolerations
  const kept = tolerations.map((toleration) => ours.find((own) => isSame(own, toleration)) ?? toleration)
  return [...kept, ...ours.filter((own) => !kept.includes(own))]
}

/** An affinity to one node by name. It replaces the required node terms of the template, which this node matches. */
function affinityTo(node: string, affinity: Affinity = {}): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }]
  return {
    ...affinity,
    nodeAffinity: { ...affinity.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  }
}

/** The pod of a set for a node. */
export function podFor(set: DaemonSet, node: string, hash: string): New<Pod> {
  const { template } = set.spec
  const generation = set.metadata.annotations?.[templateGenerationAnnotation]
  const labels = { ...(generation ? { [templateGenerationLabel]: generation } : {}), [revisionHashLabel]: hash }
  const pod = podOfTemplate(template, { generateName: namePrefix(set.metadata.name!), labels })
  return {
    ...pod,
    spec: {
      ...pod.spec,
      tolerations: withDaemonTolerations(template.spec!),
      affinity: affinityTo(node, template.spec!.affinity),
    },
  }
}

/** The node of a pod or, before it is scheduled, the node that it was created for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName
  for (const { matchFields = [] } of spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms ?? []) {
    const byName = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (byName) return byName.values?.length === 1 ? byName.values[0] : undefined
  }
  return undefined
}

/** The eligibility of a node: a pod must `run` there, may `stay` there if it exists, or must `leave`. */
export type Fit = 'run' | 'stay' | 'leave'

export type FitOf = (node: Pick<Node, 'metadata' | 'spec'>) => Fit

const compiled = new WeakMap<DaemonSet, FitOf>()

/** Computes the eligibility of nodes. */
export function fitOf(set: DaemonSet): FitOf {
  const known = compiled.get(set)
  if (known) return known
  const made = compileFit(set)
  compiled.set(set, made)
  return made
}

function compileFit({ spec: { template } }: DaemonSet): FitOf {
  const spec = template.spec ?? { containers: [] }
  const isRequired = compileRequiredNodes(spec)
  const tolerations = withDaemonTolerations(spec)
  return ({ metadata, spec: { taints } = {} }) => {
    if ((spec.nodeName && spec.nodeName !== metadata.name) || !isRequired({ metadata })) return 'leave'
    if (!taints?.length || !untoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute'])) return 'run'
    return untoleratedTaint(taints, tolerations, ['NoExecute']) ? 'leave' : 'stay'
  }
}
