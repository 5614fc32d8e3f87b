import type { NodeSelector } from '../../../api/generated/types.ts'
import {
  type NodeMatcher,
  compileNodeSelector,
  compileRequiredNodes,
} from '../../../api/kinds/placement/node-matching.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import { type FilterPlugin, type Rejection, type ScorePlugin, normalizeScores } from '../plugin.ts'

const name = 'NodeAffinity'
const rejection: Rejection = {
  plugin: name,
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  isFinal: true,
}
const conflict: Rejection = { plugin: name, reasons: ['pod affinity terms conflict'], isFinal: true }

const requiredOf = ({ pod }: PodInfo): NodeSelector | undefined =>
  pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution

/** The nodes that all terms of a pod name, as those of DaemonSet pods do. Only they need to be checked. */
function namedNodes({ nodeSelectorTerms }: NodeSelector): ReadonlySet<string> | undefined {
  const all = new Set<string>()
  for (const { matchFields = [] } of nodeSelectorTerms) {
    const lists = matchFields
      .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      .map(({ values = [] }) => values)
    if (lists.length === 0) return undefined
    for (const name of lists[0]!) if (lists.every((list) => list.includes(name))) all.add(name)
  }
  return all
}

const matchers = new WeakMap<PodInfo, NodeMatcher>()

/** Computed once per pod, because every change of a node may need it. */
function matcherOf(pod: PodInfo): NodeMatcher {
  let matcher = matchers.get(pod)
  if (!matcher) matchers.set(pod, (matcher = compileRequiredNodes(pod.pod.spec)))
  return matcher
}

/** Enforces the node selector and the required node affinity of pods. */
export const nodeAffinity: FilterPlugin = {
  name,
  filter(pod) {
    const required = requiredOf(pod)
    if (!required && !pod.pod.spec.nodeSelector) return undefined
    const onlyNodes = required?.nodeSelectorTerms?.length ? namedNodes(required) : undefined
    if (onlyNodes?.size === 0) return conflict
    const matches = matcherOf(pod)
    return { ...(onlyNodes ? { onlyNodes } : {}), check: ({ node }) => (matches(node) ? undefined : rejection) }
  },
  hears: ['NodeAdd', 'NodeUpdate'],
  helps(event, pod) {
    const matches = matcherOf(pod)
    if (event.kind === 'NodeAdd') return matches(event.node)
    return event.kind === 'NodeUpdate' && matches(event.node) && !matches(event.before)
  },
}

/** Scores the preferred node affinity of pods. */
export const preferredNodes: ScorePlugin = {
  name,
  weight: 2,
  scorer({ pod }) {
    const preferred = pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution
    if (!preferred?.length) return undefined
    const terms = preferred
      .filter(
        ({ weight, preference }) =>
          weight !== 0 && (preference.matchExpressions?.length || preference.matchFields?.length),
      )
      .map(({ weight, preference }) => ({ weight, matches: compileNodeSelector({ nodeSelectorTerms: [preference] }) }))
    return {
      score: ({ node }) => terms.reduce((sum, { weight, matches }) => (matches(node) ? sum + weight : sum), 0),
      normalize: (scores) => normalizeScores(scores, false),
    }
  },
}
