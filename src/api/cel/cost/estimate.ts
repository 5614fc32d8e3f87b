import { type Bind, type Call, type Comprehension, type Node, accumulator } from '../syntax/ast.ts'
import { type CelType, dynType, optionalOf } from '../types.ts'
import { countCodePoints } from '../code-points.ts'
import { characterCost } from '../run/frame.ts'
import { type CallEstimate, type SizeLookup, type Sized, libraryEstimate, matchCost, read } from './function-costs.ts'
import { type Range, either, fixed, noCost, plus, scaled, times, unbounded, unitCost, unknownSize } from './ranges.ts'

/** Sizes of the keys (or indices) and values of a list or map that an expression creates. */
interface EntrySize {
  isList: boolean
  key: Range
  value: Range
}

/** `isWhole` is true if `cost` already includes the cost of the arguments. */
interface LanguageEstimate extends CallEstimate {
  isWhole?: boolean
}

interface Local {
  path: readonly string[] | undefined
  size: Range | undefined
  entries: EntrySize | undefined
}

const listCost = fixed(10)
const mapCost = fixed(30)
const messageCost = fixed(40)

function literalSize(node: Node): Range | undefined {
  if (node.kind === 'list') return fixed(node.elements.length)
  if (node.kind === 'map') return fixed(node.entries.length)
  if (node.kind !== 'literal') return undefined
  if (typeof node.value === 'string') return fixed(countCodePoints(node.value))
  return fixed(node.value instanceof Uint8Array ? node.value.length : 1)
}

/** Types whose values all have size 1. */
function isScalar(type: CelType): boolean {
  const inner = optionalOf(type)
  return inner ? isScalar(inner) : ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)
}

const comparisons = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$|^(?:not_)?equals$/

/** Estimates the cost of an expression by cel-go's rules, with the sizes that a schema allows. */
class Estimator {
  readonly #lookup: SizeLookup
  readonly #paths = new Map<Node, readonly string[]>()
  readonly #sizes = new Map<Node, Range>()
  readonly #entries = new Map<Node, EntrySize>()
  readonly #locals = new Map<string, Local[]>()

  constructor(lookup: SizeLookup) {
    this.#lookup = lookup
  }

  cost(node: Node): Range {
    switch (node.kind) {
      case 'literal':
        return noCost
      case 'ident':
        return this.#ident(node)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'message':
        return plus(...node.fields.map((field) => this.cost(field.value)), messageCost)
      case 'comprehension':
        return this.#loop(node)
      case 'bind':
        return this.#bind(node)
    }
  }

  #ident(node: Node & { kind: 'ident' }): Range {
    const local = this.#local(node.name)
    if (local) this.#setPath(node, local.path)
    else if (node.reference?.constant !== undefined) this.#sizes.set(node, unitCost)
    else this.#setPath(node, [node.reference?.name ?? node.name])
    return unitCost
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #with<T>(names: Record<string, Local>, body: () => T): T {
    for (const [name, local] of Object.entries(names)) {
      const stack = this.#locals.get(name)
      if (stack) stack.push(local)
      else this.#locals.set(name, [local])
    }
    const result = body()
    for (const name of Object.keys(names)) this.#locals.get(name)!.pop()
    return result
  }

  #setPath(node: Node, path: readonly string[] | undefined): void {
    if (path) this.#paths.set(node, path)
  }

  #path(node: Node): readonly string[] | undefined {
    return this.#paths.get(node)
  }

  #extended(node: Node, part: string): readonly string[] | undefined {
    const path = this.#path(node)
    return path && [...path, part]
  }

  #size(node: Node): Range | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node) ?? this.#lookup(this.#path(node))
    if (known) return known
    if (isScalar(node.type ?? dynType)) return unitCost
    return node.kind === 'ident' ? this.#local(node.name)?.size : undefined
  }

  #sizeOrUnknown(node: Node): Range {
    return this.#size(node) ?? unknownSize
  }

  #entrySize(node: Node): EntrySize | undefined {
    return this.#entries.get(node) ?? (node.kind === 'ident' ? this.#local(node.name)?.entries : undefined)
  }

  #sized(node: Node): Sized {
    const path = this.#path(node)
    const base = { node, type: node.type ?? dynType, size: this.#size(node) }
    return path && path[0] !== accumulator ? { ...base, path } : base
  }

  #select(node: Node & { kind: 'select' }): Range {
    if (node.reference) {
      this.#setPath(node, [node.reference.name])
      return unitCost
    }
    const operand = this.cost(node.operand)
    if (node.isTest) return operand
    this.#setPath(node, this.#extended(node.operand, node.field))
    const kind = node.operand.type?.kind
    return kind === 'map' || kind === 'object' || kind === 'param' ? plus(operand, unitCost) : operand
  }

  #list(node: Node & { kind: 'list' }): Range {
    const costs = node.elements.map((element) => this.cost(element))
    const sizes = node.elements.map((element) => this.#sizeOrUnknown(element))
    const value = sizes.length ? sizes.reduce(either) : noCost
    this.#entries.set(node, { isList: true, key: unitCost, value })
    return plus(...costs, listCost)
  }

  #map(node: Node & { kind: 'map' }): Range {
    const costs = node.entries.map(({ key, value }) => plus(this.cost(key), this.cost(value)))
    const keys = node.entries.map(({ key }) => this.#sizeOrUnknown(key))
    const values = node.entries.map(({ value }) => this.#sizeOrUnknown(value))
    const all = (sizes: Range[]) => (sizes.length ? sizes.reduce(either) : noCost)
    this.#entries.set(node, { isList: false, key: all(keys), value: all(values) })
    return plus(...costs, mapCost)
  }

  #bind(node: Bind): Range {
    const init = this.cost(node.init)
    const local = { path: this.#path(node.init), size: this.#size(node.init), entries: this.#entrySize(node.init) }
    const result = this.#with({ [node.name]: local }, () => this.cost(node.result))
    const size = this.#size(node.result)
    if (size) this.#sizes.set(node, size)
    return plus(listCost, init, result)
  }

  #loopLocals(node: Comprehension): Record<string, Local> {
    const entries = this.#entrySize(node.range)
    const isList = entries?.isList ?? node.range.type?.kind === 'list'
    const local = (size: Range | undefined, part: string): Local => ({
      path: this.#extended(node.range, part),
      size,
      entries: undefined,
    })
    if (node.iterVar2 === undefined) {
      return { [node.iterVar]: isList ? local(entries?.value, '@items') : local(entries?.key, '@keys') }
    }
    return {
      [node.iterVar]: local(entries?.key, isList ? '@indices' : '@keys'),
      [node.iterVar2]: local(entries?.value, isList ? '@items' : '@values'),
    }
  }

  #loop(node: Comprehension): Range {
    const range = this.cost(node.range)
    const init = this.cost(node.accuInit)
    const accu: Local = { path: undefined, size: this.#size(node.accuInit), entries: this.#entrySize(node.accuInit) }
    return this.#with({ [accumulator]: accu }, () => {
      const round = this.#with(this.#loopLocals(node), () => plus(this.cost(node.condition), this.cost(node.step)))
      const result = this.cost(node.result)
      const count = this.#sizeOrUnknown(node.range)
      if (node.accuInit.kind === 'literal') this.#sizes.set(node, this.#sizeOrUnknown(node.accuInit))
      else {
        this.#sizes.set(node, count)
        const entries = this.#entrySize(node.step)
        if (entries) this.#entries.set(node, entries)
      }
      return plus(range, init, result, times(count, round))
    })
  }

  #call(node: Call): Range {
    if (node.function === 'dyn' && !node.target && node.args[0]) {
      const cost = this.cost(node.args[0])
      const size = this.#size(node.args[0])
      if (size) this.#sizes.set(node, size)
      return plus(unitCost, cost)
    }
    const argCosts = node.args.map((arg) => this.cost(arg))
    const targetCost = node.target ? this.cost(node.target) : noCost
    const overloads = node.overloads?.map((overload) => overload.id) ?? []
    if (node.function === '_?._') overloads.push('select_optional_field')
    if (overloads.length === 0) return noCost
    let cost: Range | undefined
    let size: Range | undefined
    for (const overload of overloads) {
      const estimate = this.#functionCost(node, overload, argCosts)
      cost = cost ? either(cost, estimate.cost) : estimate.cost
      if (estimate.size) size = size ? either(size, estimate.size) : estimate.size
      size = this.#indexed(node, overload, size)
    }
    size ??= this.#size(node)
    if (size) this.#sizes.set(node, size)
    return plus(targetCost, cost!)
  }

  /** The path of an element of a list or map in the data. */
  #indexed(node: Call, overload: string, size: Range | undefined): Range | undefined {
    const part = overload === 'index_list' ? '@items' : overload === 'index_map' ? '@values' : undefined
    if (!part) return size
    this.#setPath(node, this.#extended(node.args[0]!, part))
    return this.#entrySize(node.args[0]!)?.value
  }

  #functionCost(node: Call, overload: string, argCosts: Range[]): CallEstimate {
    const target = node.target && this.#sized(node.target)
    const args = node.args.map((arg) => this.#sized(arg))
    const own: LanguageEstimate | undefined =
      libraryEstimate(node.function, overload, this.#lookup, target, args) ??
      this.#languageCost(node, overload, target, args, argCosts)
    if (own === undefined) return { cost: plus(unitCost, ...argCosts) }
    if (own.isWhole) return own
    return { ...own, cost: plus(own.cost, ...argCosts) }
  }

  /** Functions of the language whose cost depends on the sizes of their arguments. */
  #languageCost(
    node: Call,
    overload: string,
    target: Sized | undefined,
    args: Sized[],
    argCosts: Range[],
  ): LanguageEstimate | undefined {
    const sizeOf = (sized: Sized | undefined) => sized?.size ?? unknownSize
    const [a, b] = args
    switch (overload) {
      case 'string_format':
        return { cost: read(sizeOf(target)) }
      case 'string_to_bytes':
        return { cost: read(sizeOf(a)), size: { min: sizeOf(a).min, max: Math.min(unbounded, sizeOf(a).max * 4) } }
      case 'bytes_to_string':
        return { cost: read(sizeOf(a)), size: { min: Math.floor(sizeOf(a).min / 4), max: sizeOf(a).max } }
      case 'strings_quote':
        return {
          cost: read(sizeOf(a)),
          size: { min: sizeOf(a).min + 2, max: Math.min(unbounded, sizeOf(a).max * 2 + 2) },
        }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: read(sizeOf(a)) }
      case 'in_list':
        return { cost: sizeOf(b) }
      case 'matches_string':
        return target && { cost: matchCost(sizeOf(target), sizeOf(a)) }
      case 'contains_string':
        return target && { cost: times(read(sizeOf(target)), read(sizeOf(a))) }
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: argCosts[0]!.min, max: plus(argCosts[0]!, argCosts[1]!).max }, isWhole: true }
      case 'conditional':
        return this.#conditional(node, args, argCosts)
      case 'add_string':
      case 'add_bytes':
      case 'add_list':
        return this.#addition(node, overload, plus(sizeOf(a), sizeOf(b)))
      default:
        if (!comparisons.test(overload)) return undefined
        return { cost: this.#comparison(sizeOf(a), sizeOf(b)) }
    }
  }

  #comparison(a: Range, b: Range): Range {
    const max = Math.min(a.max, b.max)
    return scaled({ min: max > 0 ? 1 : 0, max }, characterCost)
  }

  #conditional(node: Call, args: Sized[], [condition, yes, no]: Range[]): LanguageEstimate {
    const [left, right] = [this.#entrySize(node.args[1]!), this.#entrySize(node.args[2]!)]
    this.#joinEntries(node, left, right)
    const size = either(args[1]!.size ?? unknownSize, args[2]!.size ?? unknownSize)
    return { cost: plus(condition!, either(yes!, no!)), size, isWhole: true }
  }

  #joinEntries(node: Node, left: EntrySize | undefined, right: EntrySize | undefined): void {
    if (left && right)
      this.#entries.set(node, {
        isList: left.isList,
        key: either(left.key, right.key),
        value: either(left.value, right.value),
      })
  }

  #addition(node: Call, overload: string, size: Range): CallEstimate {
    this.#joinEntries(node, this.#entrySize(node.args[0]!), this.#entrySize(node.args[1]!))
    return { cost: overload === 'add_list' ? unitCost : read(size), size }
  }
}

/** The minimum and maximum cost of one evaluation of a checked expression. */
export function estimateCost(node: Node, lookup: SizeLookup): Range {
  return new Estimator(lookup).cost(node)
}

/**
 * Sizes from the limits in the types of variables. A path is `self`, then names of fields, `@items`, `@keys` and
 * `@values`.
 */
export function schemaSizes(variables: Record<string, CelType>): SizeLookup {
  return (path) => {
    if (!path?.length) return undefined
    let type: CelType | undefined = Object.hasOwn(variables, path[0]!) ? variables[path[0]!] : undefined
    for (const part of path.slice(1)) {
      if (part === '@items' || part === '@values')
        type = type?.kind === 'list' ? type.element : type?.kind === 'map' ? type.value : undefined
      else if (part === '@keys') type = type?.kind === 'map' ? type.key : undefined
      else type = type?.kind === 'object' ? type.fields.get(part)?.type : undefined
      if (!type) return undefined
    }
    return type && { min: 0, max: type.facts?.maxElements ?? 0 }
  }
}
