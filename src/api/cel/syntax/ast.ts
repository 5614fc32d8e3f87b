import type { CelType } from '../types.ts'
import type { Overload } from '../declarations.ts'
import type { Value } from '../values.ts'

/**
 * The nodes of a parsed expression, as cel-go has them: operators are calls (`_+_`), macros are already expanded. The
 * checker fills in `type`, and `overloads` or `reference` where a name was resolved.
 */
export type Node = Literal | Ident | Select | Call | ListNode | MapNode | MessageNode | Comprehension | Bind

interface Base {
  /** The offset that errors of this node report: the operator of a call, the dot of a selection. */
  offset: number
  type?: CelType
}

interface Literal extends Base {
  kind: 'literal'
  value: Value
}

export interface Ident extends Base {
  kind: 'ident'
  name: string
  /** The declared variable or constant that the checker found. */
  reference?: Reference
}

/** A resolved name: a variable by its declared name, or a constant such as the type `int`. */
export interface Reference {
  name: string
  constant?: Value
}

export interface Select extends Base {
  kind: 'select'
  operand: Node
  field: string
  /** `has(operand.field)`. */
  isTest: boolean
  /** The whole chain names a declared variable, such as `a.b`. */
  reference?: Reference
}

export interface Call extends Base {
  kind: 'call'
  function: string
  target?: Node
  args: Node[]
  overloads?: Overload[]
}

export interface ListNode extends Base {
  kind: 'list'
  elements: Node[]
  /** Indices of the optional elements `?x`, which are omitted if the optional is empty. */
  optional: Set<number>
}

export interface MapEntry {
  offset: number
  key: Node
  value: Node
  isOptional: boolean
}

export interface MapNode extends Base {
  kind: 'map'
  entries: MapEntry[]
}

export interface MessageNode extends Base {
  kind: 'message'
  name: string
  fields: { offset: number; name: string; value: Node; isOptional: boolean }[]
}

/** The macro that a comprehension was expanded from. It is compiled to a plain loop. */
export type Macro = 'all' | 'exists' | 'existsOne' | 'list' | 'mapInsert' | 'mapMerge'

/**
 * A loop in cel-go's general form (for the checker and the cost), and in the form that is compiled: `filter` decides
 * about each element, `transform` computes the result for it.
 */
export interface Comprehension extends Base {
  kind: 'comprehension'
  macro: Macro
  range: Node
  iterVar: string
  iterVar2?: string
  accuInit: Node
  condition: Node
  step: Node
  result: Node
  filter?: Node
  transform?: Node
}

/** A variable bound to a value, as `optMap` needs it for its argument. */
export interface Bind extends Base {
  kind: 'bind'
  name: string
  init: Node
  result: Node
}

/** cel-go's name of the accumulator variable of a loop. */
export const accumulator = '__result__'

/** The child nodes of a node. */
export function childrenOf(node: Node): Node[] {
  switch (node.kind) {
    case 'select':
      return node.reference ? [] : [node.operand]
    case 'call':
      return node.target ? [node.target, ...node.args] : node.args
    case 'list':
      return node.elements
    case 'map':
      return node.entries.flatMap((entry) => [entry.key, entry.value])
    case 'message':
      return node.fields.map((field) => field.value)
    case 'comprehension':
      return [node.range, node.accuInit, node.condition, node.step, node.result]
    case 'bind':
      return [node.init, node.result]
    default:
      return []
  }
}

/** True if the tree is deeper than `limit`. It does not recurse, since the tree may be very deep. */
export function isDeeper(root: Node, limit: number): boolean {
  let level = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true
    level = level.flatMap(childrenOf)
  }
  return false
}
