import type { FunctionDeclaration, Overload } from './declarations.ts'
import type { Environment, NameDeclaration } from './environment.ts'
import {
  type Bind,
  type Call,
  type Comprehension,
  type Ident,
  type ListNode,
  type MapNode,
  type MessageNode,
  type Node,
  type Select,
  accumulator,
  childrenOf,
} from './syntax/ast.ts'
import type { Issue } from './syntax/source.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatSignature,
  formatType,
  intType,
  listType,
  mapType,
  nullType,
  optionalOf,
  optionalType,
  stringType,
  uintType,
} from './types.ts'
import { Inference, isSameType } from './unify.ts'
import { Double, Uint, type Value } from './values.ts'

type Scope = Map<string, CelType>

function literalType(value: Value): CelType {
  if (value === null) return nullType
  if (typeof value === 'boolean') return boolType
  if (typeof value === 'string') return stringType
  if (value instanceof Double) return doubleType
  if (value instanceof Uint) return uintType
  return value instanceof Uint8Array ? bytesType : intType
}

/** The qualified name of a chain of selections such as `a.b.c`; undefined for any other node. */
function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'ident') return node.name
  if (node.kind !== 'select' || node.isTest) return undefined
  const operand = qualifiedName(node.operand)
  return operand === undefined ? undefined : `${operand}.${node.field}`
}

const isOpen = (type: CelType) =>
  type.kind === 'dyn' || type.kind === 'param' || type.kind === 'error' || type.kind === 'null'

/** Compares only the outermost types. It rejects most overloads before type variables are unified. */
const mayTake = (wanted: CelType, given: CelType) => wanted.kind === given.kind || isOpen(wanted) || isOpen(given)

/** Infers the type of every node and resolves every name, by cel-go's rules. */
class Checker {
  readonly issues: Issue[] = []
  readonly #env: Environment
  readonly #scopes: Scope[] = []
  readonly #types = new Inference()

  constructor(env: Environment) {
    this.#env = env
  }

  check(node: Node): CelType {
    const type = this.#typeOf(node)
    node.type = type
    return type
  }

  /** Replaces type variables that were resolved after the node was checked. */
  finish(node: Node): void {
    if (node.type) node.type = this.#types.final(node.type)
    for (const child of childrenOf(node)) this.finish(child)
  }

  #report(offset: number, message: string): void {
    this.issues.push({ offset, message })
  }

  #typeOf(node: Node): CelType {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value)
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
        return this.#message(node)
      case 'comprehension':
        return this.#comprehension(node)
      case 'bind':
        return this.#bind(node)
    }
  }

  #isLocal(name: string): CelType | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const type = this.#scopes[i]!.get(name)
      if (type) return type
    }
    return undefined
  }

  #ident(node: Ident): CelType {
    const local = this.#isLocal(node.name)
    if (local) return local
    const declared = this.#env.findName(node.name)
    if (declared) return this.#refer(node, declared)
    this.#report(node.offset, `undeclared reference to '${node.name}' (in container '')`)
    return errorType
  }

  #refer(node: Ident | Select, { name, constant, type }: NameDeclaration): CelType {
    node.reference = constant === undefined ? { name } : { name, constant }
    return type
  }

  #select(node: Select): CelType {
    const name = node.isTest ? undefined : qualifiedName(node)
    if (name !== undefined && !this.#isLocal(name.split('.')[0]!)) {
      const declared = this.#env.findName(name)
      if (declared) return this.#refer(node, declared)
    }
    const operand = this.check(node.operand)
    const type = this.#fieldType(operand, node.field, node.offset, false)
    return node.isTest ? boolType : type
  }

  /** The type of a field. A field of an optional is optional, too. */
  #fieldType(operand: CelType, field: string, offset: number, isOptional: boolean): CelType {
    const given = this.#types.resolve(operand)
    const inner = optionalOf(given)
    const target = inner ? this.#types.resolve(inner) : given
    const wrap = (type: CelType) => (isOptional || inner ? optionalType(type) : type)
    switch (target.kind) {
      case 'dyn':
      case 'error':
        return wrap(dynType)
      case 'param':
        this.#types.unify(target, dynType)
        return wrap(dynType)
      case 'map':
        return wrap(target.value)
      case 'object': {
        const found = target.fields.get(field)
        if (found) return wrap(found.type)
        this.#report(offset, `undefined field '${field}'`)
        return errorType
      }
      default:
        this.#report(offset, `type '${formatType(target)}' does not support field selection`)
        return errorType
    }
  }

  #call(node: Call): CelType {
    if (node.function === '_?._' && !node.target) return this.#optionalSelect(node)
    for (const arg of node.args) this.check(arg)
    if (node.target) {
      const prefix = qualifiedName(node.target)
      const qualified = prefix === undefined ? undefined : this.#env.findFunction(`${prefix}.${node.function}`)
      if (qualified && !this.#isLocal(prefix!.split('.')[0]!)) {
        node.function = qualified.name
        delete node.target
        return this.#resolve(node, qualified, node.args)
      }
      this.check(node.target)
    }
    const declared = this.#env.findFunction(node.function)
    if (declared) return this.#resolve(node, declared, node.target ? [node.target, ...node.args] : node.args)
    this.#report(node.offset, `undeclared reference to '${node.function}' (in container '')`)
    return errorType
  }

  #optionalSelect(node: Call): CelType {
    const [operand, field] = node.args as [Node, Node]
    this.check(operand)
    this.check(field)
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : ''
    return this.#fieldType(operand.type!, name, node.offset, true)
  }

  /**
   * Finds the overloads that accept these arguments. If there are several, the result type is known only at run time.
   */
  #resolve(node: Call, declared: FunctionDeclaration, args: Node[]): CelType {
    const isMember = node.target !== undefined
    const given = args.map((arg) => this.#types.resolve(arg.type!))
    let result: CelType | undefined
    const overloads: Overload[] = []
    for (const overload of declared.overloads) {
      if (overload.isMember !== isMember || overload.args.length !== given.length) continue
      if (!overload.args.every((type, i) => mayTake(type, given[i]!))) continue
      const { args: wanted, result: answer } = this.#types.instantiate(overload)
      if (!this.#types.unifyAll(given, wanted)) continue
      overloads.push(overload)
      const type = this.#types.resolve(answer)
      result = result === undefined || isSameType(result, type) ? (result ?? type) : dynType
    }
    if (result) {
      node.overloads = overloads
      return result
    }
    const signature = formatSignature(
      given.map((type) => this.#types.final(type)),
      isMember,
    )
    this.#report(node.offset, `found no matching overload for '${declared.name}' applied to '${signature}'`)
    return errorType
  }

  #mismatch(offset: number, expected: CelType, found: CelType): void {
    const [left, right] = [expected, found].map((type) => formatType(this.#types.final(type)))
    this.#report(offset, `expected type '${left}' but found '${right}'`)
  }

  /** The type of an optional element `?x`: the type of the value inside the optional. */
  #unwrapped(type: CelType, offset: number): CelType {
    const given = this.#types.resolve(type)
    const inner = optionalOf(given)
    if (inner) return inner
    if (given.kind !== 'dyn' && given.kind !== 'error') this.#mismatch(offset, optionalType(given), given)
    return given
  }

  #list(node: ListNode): CelType {
    let element: CelType | undefined
    node.elements.forEach((child, i) => {
      const type = this.check(child)
      element = this.#types.join(element, node.optional.has(i) ? this.#unwrapped(type, child.offset) : type)
    })
    return listType(element ?? this.#types.fresh())
  }

  #map(node: MapNode): CelType {
    let [key, value]: (CelType | undefined)[] = []
    for (const entry of node.entries) {
      key = this.#types.join(key, this.check(entry.key))
      const type = this.check(entry.value)
      value = this.#types.join(value, entry.isOptional ? this.#unwrapped(type, entry.value.offset) : type)
    }
    return mapType(key ?? this.#types.fresh(), value ?? this.#types.fresh())
  }

  #message(node: MessageNode): CelType {
    const type = this.#env.findMessage(node.name)
    if (!type) {
      this.#report(node.offset, `undeclared reference to '${node.name}' (in container '')`)
      return errorType
    }
    for (const field of node.fields) this.check(field.value)
    for (const { offset, name, value, isOptional } of node.fields) {
      const wanted = type.fields.get(name)?.type
      if (!wanted) {
        this.#report(offset, `undefined field '${name}'`)
        continue
      }
      const given = isOptional ? this.#unwrapped(value.type!, value.offset) : value.type!
      if (!this.#types.unify(given, wanted)) {
        const [left, right] = [wanted, given].map((t) => formatType(this.#types.final(t)))
        this.#report(offset, `expected type of field '${name}' is '${left}' but provided type is '${right}'`)
      }
    }
    return type
  }

  /** The types of the variables of a loop over a range. */
  #iterated(node: Comprehension): [CelType, CelType] {
    const range = this.#types.resolve(node.range.type!)
    switch (range.kind) {
      case 'list':
        return node.iterVar2 === undefined ? [range.element, range.element] : [intType, range.element]
      case 'map':
        return [range.key, range.value]
      case 'param':
        this.#types.unify(range, dynType)
        return [dynType, dynType]
      case 'dyn':
      case 'error':
        return [dynType, dynType]
      default:
        this.#report(
          node.range.offset,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [errorType, errorType]
    }
  }

  #comprehension(node: Comprehension): CelType {
    this.check(node.range)
    const accu = this.check(node.accuInit)
    const [first, second] = this.#iterated(node)
    this.#scopes.push(new Map([[accumulator, accu]]))
    const names: Scope = new Map([[node.iterVar, first]])
    if (node.iterVar2 !== undefined) names.set(node.iterVar2, second)
    this.#scopes.push(names)
    this.#expect(node.condition, boolType)
    this.#expect(node.step, accu)
    this.#scopes.pop()
    const type = this.check(node.result)
    this.#scopes.pop()
    return this.#types.resolve(type)
  }

  #expect(node: Node, type: CelType): void {
    const found = this.check(node)
    if (!this.#types.unify(type, found)) this.#mismatch(node.offset, type, found)
  }

  #bind(node: Bind): CelType {
    const init = this.check(node.init)
    this.#scopes.push(new Map([[node.name, init]]))
    const type = this.check(node.result)
    this.#scopes.pop()
    return type
  }
}

/** Type-checks an expression against an environment. Without issues, every node has its type. */
export function check(node: Node, env: Environment): Issue[] {
  const checker = new Checker(env)
  checker.check(node)
  checker.finish(node)
  return checker.issues
}
