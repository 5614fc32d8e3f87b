import type { DaemonSet, Node } from '../../api/generated/types.ts'
import { compileRequiredNodes } from '../../api/kinds/node-matching.ts'
import { untoleratedTaint } from '../../api/kinds/taints.ts'
import { withDaemonTolerations } from './daemon-pod.ts'

/** What a node is to a set: a pod is to `run` there; it may `stay` if it is there; it has to `leave`. */
export type Fit = 'run' | 'stay' | 'leave'

export type FitOf = (node: Pick<Node, 'metadata' | 'spec'>) => Fit

const compiled = new WeakMap<DaemonSet, FitOf>()

/** Tells what nodes are to a set. */
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
