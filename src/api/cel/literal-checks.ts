import { compilePattern } from './pattern.ts'
import { type Call, type ListNode, type MapNode, type Node, childrenOf } from './syntax/ast.ts'
import type { Issue } from './syntax/source.ts'
import { parseDuration, parseTimestamp } from './time.ts'
import { type CelType, formatType, optionalOf } from './types.ts'
import { isSameType } from './unify.ts'

/** Functions whose argument is checked at compile time if it is a literal. */
const checks: Record<string, { isMember: boolean; isValid: (text: string) => boolean }> = {
  duration: { isMember: false, isValid: (text) => parseDuration(text) !== undefined },
  timestamp: { isMember: false, isValid: (text) => parseTimestamp(text) !== undefined },
  matches: { isMember: true, isValid: (text) => compilePattern(text) !== undefined },
}

function checkArgument(node: Call): Issue[] {
  if (!Object.hasOwn(checks, node.function)) return []
  const { isMember, isValid } = checks[node.function]!
  const arg = node.target || !isMember ? node.args[0] : node.args[1]
  if (arg?.kind !== 'literal' || typeof arg.value !== 'string' || isValid(arg.value)) return []
  return [{ offset: arg.offset, message: `invalid ${node.function} argument` }]
}

/** The first node whose type differs from those before it. */
function firstOther(nodes: readonly { node: Node; type: CelType }[]): Issue[] {
  const [first, ...rest] = nodes
  const other = rest.find(({ type }) => !isSameType(first!.type, type))
  if (!other) return []
  return [
    {
      offset: other.node.offset,
      message: `expected type '${formatType(first!.type)}' but found '${formatType(other.type)}'`,
    },
  ]
}

const typed = (node: Node, isOptional: boolean) => ({
  node,
  type: (isOptional && optionalOf(node.type!)) || node.type!,
})

function checkElements(node: ListNode | MapNode): Issue[] {
  if (node.kind === 'list') return firstOther(node.elements.map((element, i) => typed(element, node.optional.has(i))))
  return [
    ...firstOther(node.entries.map((entry) => typed(entry.key, false))),
    ...firstOther(node.entries.map((entry) => typed(entry.value, entry.isOptional))),
  ]
}

/**
 * Rejects literals that Kubernetes rejects in addition to type errors: invalid durations, timestamps and regular
 * expressions, and list and map literals of mixed types (except arguments of `format`).
 */
export function checkLiterals(root: Node, isHomogeneous: boolean): Issue[] {
  const issues: Issue[] = []
  const visit = (node: Node, isExempt: boolean): void => {
    const isLiteral = node.kind === 'list' || node.kind === 'map'
    if (node.kind === 'call') issues.push(...checkArgument(node))
    if (isLiteral && isHomogeneous && !isExempt) issues.push(...checkElements(node))
    const exempts = (node.kind === 'call' && node.function === 'format') || (isLiteral && isExempt)
    for (const child of childrenOf(node)) visit(child, exempts)
  }
  visit(root, false)
  return issues
}
