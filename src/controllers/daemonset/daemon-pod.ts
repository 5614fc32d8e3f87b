import type { Affinity, DaemonSet, Pod, PodSpec, Toleration } from '../../api/generated/types.ts'
import { templateGenerationAnnotation } from '../../api/kinds/template-generation.ts'
import type { New } from '../../client/index.ts'
import { namePrefix, podOfTemplate, revisionHashLabel } from '../kit/workload/index.ts'

const templateGenerationLabel = 'pod-template-generation'

const taint = (name: string, effect: string): Toleration => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect })

/** Daemons belong to their node: neither its troubles nor an administrator who closes it to others drives them out. */
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

/** The tolerations of a template with those that every daemon has. One that is there for a time only is there for good. */
export function withDaemonTolerations({ tolerations = [], hostNetwork }: Pick<PodSpec, 'tolerations' | 'hostNetwork'>): Toleration[] {
  const ours = hostNetwork ? hostNetworkTolerations : daemonTolerations
  const kept = tolerations.map((toleration) => ours.find((own) => isSame(own, toleration)) ?? toleration)
  return [...kept, ...ours.filter((own) => !kept.includes(own))]
}

/** An affinity to one node, by its name, in place of what nodes the template asks for: this is one of them. */
function affinityTo(node: string, affinity: Affinity = {}): Affinity {
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }]
  return { ...affinity, nodeAffinity: { ...affinity.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }
}

/** The pod of a set for a node. */
export function podFor(set: DaemonSet, node: string, hash: string): New<Pod> {
  const { template } = set.spec
  const generation = set.metadata.annotations?.[templateGenerationAnnotation]
  const labels = { ...(generation ? { [templateGenerationLabel]: generation } : {}), [revisionHashLabel]: hash }
  const pod = podOfTemplate(template, { generateName: namePrefix(set.metadata.name!), labels })
  return { ...pod, spec: { ...pod.spec, tolerations: withDaemonTolerations(template.spec!), affinity: affinityTo(node, template.spec!.affinity) } }
}

/** The node that a pod is on or, before it is scheduled, that it was made for. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName
  for (const { matchFields = [] } of spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []) {
    const byName = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (byName) return byName.values?.length === 1 ? byName.values[0] : undefined
  }
  return undefined
}
