import { type Call, type Comprehension, type Macro, type Node, accumulator } from './ast.ts'
import type { Issue } from './source.ts'

type Expanded = { node: Node } | { issue: Issue }

const literal = (value: boolean | number, offset: number): Node => ({ kind: 'literal', offset, value })
const ident = (name: string, offset: number): Node => ({ kind: 'ident', offset, name })
const call = (name: string, offset: number, ...args: Node[]): Call => ({ kind: 'call', offset, function: name, args })
const list = (offset: number, ...elements: Node[]): Node => ({ kind: 'list', offset, elements, optional: new Set() })

interface Loop {
  node: Call
  macro: Macro
  vars: string[]
  init: Node
  condition: Node
  step: Node
  result?: Node
  filter?: Node
  transform?: Node
}

function loop({ node, macro, vars, init, condition, step, result, filter, transform }: Loop): Expanded {
  const { offset } = node
  const comprehension: Comprehension = {
    kind: 'comprehension',
    offset,
    macro,
    range: node.target!,
    iterVar: vars[0]!,
    accuInit: init,
    condition,
    step,
    result: result ?? ident(accumulator, offset),
  }
  if (vars[1] !== undefined) comprehension.iterVar2 = vars[1]
  if (filter) comprehension.filter = filter
  if (transform) comprehension.transform = transform
  return { node: comprehension }
}

/** Reserved words, which cannot be identifiers. */
export const reservedWords = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** The variables that a macro declares, or the errors in them. */
function variables(macro: string, args: Node[]): string[] | Issue {
  const names: string[] = []
  const wrongName =
    macro === 'map' || macro === 'filter' ? 'argument is not an identifier' : 'argument must be a simple name'
  for (const arg of args) {
    if (arg.kind !== 'ident' || arg.name.startsWith('.') || reservedWords.has(arg.name))
      return { offset: arg.offset, message: wrongName }
    if (arg.name === accumulator)
      return { offset: arg.offset, message: `iteration variable overwrites accumulator variable` }
    if (names.includes(arg.name)) return { offset: arg.offset, message: `duplicate variable name: ${arg.name}` }
    names.push(arg.name)
  }
  return names
}

type Expand = (node: Call, vars: string[], rest: Node[]) => Expanded

const all: Expand = (node, vars, [predicate]) => {
  const at = node.offset
  const accu = () => ident(accumulator, at)
  const condition = call('@not_strictly_false', at, accu())
  const step = call('_&&_', at, accu(), predicate!)
  return loop({ node, macro: 'all', vars, init: literal(true, at), condition, step, filter: predicate! })
}

const exists: Expand = (node, vars, [predicate]) => {
  const at = node.offset
  const accu = () => ident(accumulator, at)
  const condition = call('@not_strictly_false', at, call('!_', at, accu()))
  const step = call('_||_', at, accu(), predicate!)
  return loop({ node, macro: 'exists', vars, init: literal(false, at), condition, step, filter: predicate! })
}

const existsOne: Expand = (node, vars, [predicate]) => {
  const at = node.offset
  const accu = () => ident(accumulator, at)
  const step = call('_?_:_', at, predicate!, call('_+_', at, accu(), literal(1, at)), accu())
  const result = call('_==_', at, accu(), literal(1, at))
  return loop({
    node,
    macro: 'existsOne',
    vars,
    init: literal(0, at),
    condition: literal(true, at),
    step,
    result,
    filter: predicate!,
  })
}

interface Collection {
  node: Call
  macro: Macro
  vars: string[]
  init: Node
  /** Adds the result of one step to the accumulator. */
  add: Node
  transform: Node
  filter: Node | undefined
}

function collect({ node, macro, vars, init, add, transform, filter }: Collection) {
  const at = node.offset
  const step = filter ? call('_?_:_', at, filter, add, ident(accumulator, at)) : add
  const given = filter ? { filter } : {}
  return loop({ node, macro, vars, init, condition: literal(true, at), step, transform, ...given })
}

const toList: Expand = (node, vars, rest) => {
  const at = node.offset
  const transform = rest.at(-1)!
  const add = call('_+_', at, ident(accumulator, at), list(at, transform))
  const chosen = rest.length > 1 ? rest[0] : undefined
  return collect({ node, macro: 'list', vars, init: list(at), add, transform, filter: chosen })
}

const filter: Expand = (node, vars, [predicate]) => toList(node, vars, [predicate!, ident(vars[0]!, node.offset)])

const toMap =
  (macro: 'mapInsert' | 'mapMerge'): Expand =>
  (node, vars, rest) => {
    const at = node.offset
    const transform = rest.at(-1)!
    const key = macro === 'mapInsert' ? [ident(vars[0]!, at)] : []
    const add = call('cel.@mapInsert', at, ident(accumulator, at), ...key, transform)
    const init: Node = { kind: 'map', offset: at, entries: [] }
    return collect({ node, macro, vars, init, add, transform, filter: rest.length > 1 ? rest[0] : undefined })
  }

/**
 * `x.optMap(v, e)`: `v` is bound to the value of `x` if there is one. cel-go copies `x`, which doubles the cost with
 * each call in a chain; here `x` is bound to a variable first.
 */
const optional =
  (isFlat: boolean): Expand =>
  (node, vars, [result]) => {
    const at = node.offset
    const input = '@__optional_input__'
    const member = (name: string): Call => ({
      kind: 'call',
      offset: at,
      function: name,
      target: ident(input, at),
      args: [],
    })
    const inner: Node = { kind: 'bind', offset: at, name: vars[0]!, init: member('value'), result: result! }
    const yes = isFlat ? inner : call('optional.of', at, inner)
    const choice = call('_?_:_', at, member('hasValue'), yes, call('optional.none', at))
    return { node: { kind: 'bind', offset: at, name: input, init: node.target!, result: choice } }
  }

/** `list.sortBy(e, key)`: the list is bound to a variable, so it is evaluated once. */
const sortBy: Expand = (node, vars, [key]) => {
  const at = node.offset
  const input = '@__sortBy_input__'
  const keys = toList({ ...node, target: ident(input, at) }, vars, [key!])
  if (!('node' in keys)) return keys
  const sorted: Call = {
    kind: 'call',
    offset: at,
    function: '@sortByAssociatedKeys',
    target: ident(input, at),
    args: [keys.node],
  }
  return { node: { kind: 'bind', offset: at, name: input, init: node.target!, result: sorted } }
}

/** Macros by name and number of arguments: how many of the arguments are variables, and the expansion. */
const macros: Record<string, { vars: number; expand: Expand }> = {
  'all/2': { vars: 1, expand: all },
  'exists/2': { vars: 1, expand: exists },
  'exists_one/2': { vars: 1, expand: existsOne },
  'existsOne/2': { vars: 1, expand: existsOne },
  'map/2': { vars: 1, expand: toList },
  'map/3': { vars: 1, expand: toList },
  'filter/2': { vars: 1, expand: filter },
  'all/3': { vars: 2, expand: all },
  'exists/3': { vars: 2, expand: exists },
  'exists_one/3': { vars: 2, expand: existsOne },
  'existsOne/3': { vars: 2, expand: existsOne },
  'transformList/3': { vars: 2, expand: toList },
  'transformList/4': { vars: 2, expand: toList },
  'transformMap/3': { vars: 2, expand: toMap('mapInsert') },
  'transformMap/4': { vars: 2, expand: toMap('mapInsert') },
  'transformMapEntry/3': { vars: 2, expand: toMap('mapMerge') },
  'transformMapEntry/4': { vars: 2, expand: toMap('mapMerge') },
  'sortBy/2': { vars: 1, expand: sortBy },
  'optMap/2': { vars: 1, expand: optional(false) },
  'optFlatMap/2': { vars: 1, expand: optional(true) },
}

function expandHas(node: Call): Expanded {
  const [arg] = node.args
  if (arg?.kind !== 'select' || arg.isTest)
    return { issue: { offset: arg?.offset ?? node.offset, message: 'invalid argument to has() macro' } }
  return { node: { ...arg, offset: node.offset, isTest: true } }
}

/** Expands a call of a macro; undefined for a plain call. */
export function expandMacro(node: Call): Expanded | undefined {
  if (!node.target) return node.function === 'has' && node.args.length === 1 ? expandHas(node) : undefined
  const macro = macros[`${node.function}/${node.args.length}`]
  if (!macro) return undefined
  const vars = variables(node.function, node.args.slice(0, macro.vars))
  if (!Array.isArray(vars)) return { issue: vars }
  return macro.expand(node, vars, node.args.slice(macro.vars))
}
