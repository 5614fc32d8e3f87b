import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../generated/types.ts'
import { compileLabelSelector, selectorFromMap } from '../selectors/label-selector.ts'

/** Whether a node is one that is asked for. */
export type NodeMatcher = (node: Pick<Node, 'metadata'>) => boolean

const integer = /^[+-]?[0-9]+$/

/** Requirements that make no sense are no node's. */
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

/** The only field of a node that can be asked for is its name. */
function compileField({ key, operator, values = [] }: NodeSelectorRequirement): NodeMatcher {
  if (key !== 'metadata.name' || values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return nothing
  const [name] = values
  return ({ metadata }) => (metadata.name === name) === (operator === 'In')
}

function compileTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher {
  const requirements = [...matchExpressions.map(compileExpression), ...matchFields.map(compileField)]
  // A term that asks for nothing means no node, not every node.
  return requirements.length === 0 ? nothing : (node) => requirements.every((matches) => matches(node))
}

/** Turns a node selector into its matcher: one of its terms suffices. */
export function compileNodeSelector({ nodeSelectorTerms = [] }: NodeSelector): NodeMatcher {
  const terms = nodeSelectorTerms.map(compileTerm)
  return (node) => terms.some((matches) => matches(node))
}

/** Turns what a pod requires of its node, by `nodeSelector` and node affinity, into its matcher. What it would merely like is left out. */
export function compileRequiredNodes({ nodeSelector, affinity }: Pick<PodSpec, 'nodeSelector' | 'affinity'>): NodeMatcher {
  const hasLabels = selectorFromMap(nodeSelector)
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const isRequired = required ? compileNodeSelector(required) : undefined
  return (node) => hasLabels(node.metadata.labels) && (isRequired?.(node) ?? true)
}
