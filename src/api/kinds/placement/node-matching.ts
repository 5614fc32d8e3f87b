import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../../generated/types.ts'
import { compileLabelSelector, selectorFromMap } from '../../selectors/label-selector.ts'

/** True if a node matches. */
export type NodeMatcher = (node: Pick<Node, 'metadata'>) => boolean

const integer = /^[+-]?[0-9]+$/

/** An invalid requirement matches no node. */
const nothing: NodeMatcher = () => false

function compileExpression({ key, operator, values = [] }: NodeSelectorRequirement): NodeMatcher {
  if (operator !== 'Gt' && operator !== 'Lt') {
    if (!['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator)) return nothing
    const matches = compileLabelSelector({ matchExpressions: [{ key, operator, values }] })
    return ({ metadata }) => matches(metadata.labels)
  }
  const [text = ''] = values
  if (!integer.test(text)) return nothing
  const limit = BigInt(text)
  return ({ metadata }) => {
    const label = metadata.labels?.[key]
    if (label === undefined || !integer.test(label)) return false
    return operator === 'Gt' ? BigInt(label) > limit : BigInt(label) < limit
  }
}

/** The only selectable field of a node is its name. */
function compileField({ key, operator, values = [] }: NodeSelectorRequirement): NodeMatcher {
  if (key !== 'metadata.name' || values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return nothing
  const [name] = values
  return ({ metadata }) => (metadata.name === name) === (operator === 'In')
}

function compileTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher {
  const requirements = [...matchExpressions.map(compileExpression), ...matchFields.map(compileField)]
  // An empty term matches no node.
  return requirements.length === 0 ? nothing : (node) => requirements.every((matches) => matches(node))
}

/** Compiles a node selector. A node matches if one of the terms matches. */
export function compileNodeSelector({ nodeSelectorTerms = [] }: NodeSelector): NodeMatcher {
  const terms = nodeSelectorTerms.map(compileTerm)
  return (node) => terms.some((matches) => matches(node))
}

/**
 * Compiles the required node placement of a pod: `nodeSelector` and required node affinity. Preferences are ignored.
 */
export function compileRequiredNodes({
  nodeSelector,
  affinity,
}: Pick<PodSpec, 'nodeSelector' | 'affinity'>): NodeMatcher {
  const hasLabels = selectorFromMap(nodeSelector)
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const isRequired = required ? compileNodeSelector(required) : undefined
  return (node) => hasLabels(node.metadata.labels) && (isRequired?.(node) ?? true)
}

/** Deprecated node labels with the text of their warnings. */
export const deprecatedNodeLabels: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
    'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  }),
)
