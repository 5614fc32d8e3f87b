import { type CelType, dynType, paramType, paramsOf, withParams } from './types.ts'

/** A substitution of type variables that can be rolled back. */
class Substitution {
  readonly #types = new Map<string, CelType>()
  #changes: { name: string; before: CelType | undefined }[] = []

  get(name: string): CelType | undefined {
    return this.#types.get(name)
  }

  set(name: string, type: CelType): void {
    this.#changes.push({ name, before: this.#types.get(name) })
    this.#types.set(name, type)
  }

  /** Commits the bindings since the last commit. */
  keep(): void {
    this.#changes = []
  }

  /** Discards the bindings since the last commit. */
  forget(): void {
    for (const { name, before } of this.#changes.reverse()) {
      if (before) this.#types.set(name, before)
      else this.#types.delete(name)
    }
    this.#changes = []
  }
}

/** Resolves type variables. */
interface Known {
  get(name: string): CelType | undefined
}

/** Substitutes all known type variables. If `isFinal`, unknown ones become dyn. */
function substitute(known: Known, type: CelType, isFinal = false): CelType {
  if (type.kind === 'param') {
    const found = known.get(type.name)
    if (found) return substitute(known, found, isFinal)
    return isFinal ? dynType : type
  }
  if (type.kind === 'type') return type.of ? { ...type, of: substitute(known, type.of, isFinal) } : type
  const params = paramsOf(type)
  if (params.length === 0) return type
  const replaced = params.map((param) => substitute(known, param, isFinal))
  return replaced.every((param, i) => param === params[i]) ? type : withParams(type, replaced)
}

/** True if two types are the same, ignoring limits of a schema. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  if (a.kind === 'object' || a.kind === 'param') return a.name === (b as { name: string }).name
  if (a.kind === 'opaque' && a.name !== (b as { name: string }).name) return false
  const [left, right] = [paramsOf(a), paramsOf(b)]
  return left.length === right.length && left.every((param, i) => isSameType(param, right[i]!))
}

const isWild = (type: CelType) => type.kind === 'dyn' || type.kind === 'error'

/** True if `a` is as general as `b` or more: dyn is more general than any type, list(dyn) more than list(int). */
function isLessSpecific(a: CelType, b: CelType): boolean {
  if (isWild(a) || a.kind === 'param') return true
  if (isWild(b) || b.kind === 'param' || a.kind !== b.kind) return false
  if (a.kind === 'opaque' && a.name !== (b as { name: string }).name) return false
  const params = paramsOf(a)
  if (params.length === 0) return isSameType(a, b)
  const others = paramsOf(b)
  return params.every((param, i) => isLessSpecific(param, others[i]!))
}

/** The more general one of two compatible types. */
const mostGeneral = (a: CelType, b: CelType): CelType => (b.kind === 'null' || isLessSpecific(a, b) ? a : b)

/** True if a variable occurs in a type. Then it cannot be bound to that type. */
function occursIn(known: Substitution, name: string, type: CelType): boolean {
  if (type.kind === 'param') {
    if (type.name === name) return true
    const found = known.get(type.name)
    return found !== undefined && occursIn(known, name, found)
  }
  return paramsOf(type).some((param) => occursIn(known, name, param))
}

type Bound = 'yes' | 'no' | 'cyclic'

/** Binds a variable to a type. If it is bound already, to the more general of both types. */
function bind(known: Substitution, name: string, type: CelType): Bound {
  if (type.kind === 'param' && type.name === name) return 'yes'
  const found = known.get(name)
  if (found) {
    if (isSameType(type, found)) return 'yes'
    if (!unify(known, type, found)) return 'no'
    const general = mostGeneral(type, found)
    if (!occursIn(known, name, general)) known.set(name, general)
    return 'yes'
  }
  if (occursIn(known, name, type)) return 'cyclic'
  known.set(name, type)
  return 'yes'
}

/** Null is a value of objects, durations, timestamps and types of libraries. */
const takesNull = (type: CelType) => ['null', 'object', 'opaque', 'timestamp', 'duration'].includes(type.kind)

function unify(known: Substitution, a: CelType, b: CelType): boolean {
  if (b.kind === 'param') {
    const bound = bind(known, b.name, a)
    if (bound !== 'cyclic') return bound === 'yes'
  }
  if (a.kind === 'param') return bind(known, a.name, b) === 'yes'
  if (isWild(a) || isWild(b)) return true
  if (a.kind === 'null') return takesNull(b)
  if (b.kind === 'null') return takesNull(a)
  if (a.kind !== b.kind) return false
  if (a.kind === 'type') return true
  if (a.kind === 'object') return a.name === (b as { name: string }).name
  if (a.kind === 'opaque' && a.name !== (b as { name: string }).name) return false
  const [left, right] = [paramsOf(a), paramsOf(b)]
  return left.length === right.length && left.every((param, i) => unify(known, param, right[i]!))
}

/** The type variables of one expression. */
export class Inference {
  readonly #known = new Substitution()
  #count = 0

  /** Creates an unbound type variable. */
  fresh(): CelType {
    return paramType(`_var${this.#count++}`)
  }

  /** Substitutes the known type variables. */
  resolve(type: CelType): CelType {
    return substitute(this.#known, type)
  }

  /** Substitutes all type variables. Unbound ones become dyn. */
  final(type: CelType): CelType {
    return substitute(this.#known, type, true)
  }

  /** Unifies two types. If they are not compatible, returns false and binds nothing. */
  unify(given: CelType, wanted: CelType): boolean {
    return this.unifyAll([given], [wanted])
  }

  unifyAll(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    const fits = given.length === wanted.length && given.every((type, i) => unify(this.#known, type, wanted[i]!))
    if (fits) this.#known.keep()
    else this.#known.forget()
    return fits
  }

  /** The common type of two types; dyn if there is none. */
  join(previous: CelType | undefined, current: CelType): CelType {
    if (!previous) return current
    return this.unify(previous, current) ? mostGeneral(previous, current) : dynType
  }

  /** A copy of a signature with fresh type variables. */
  instantiate({ args, result }: { args: readonly CelType[]; result: CelType }): { args: CelType[]; result: CelType } {
    const own = new Map<string, CelType>()
    const visit = (type: CelType): void => {
      if (type.kind === 'param' && !own.has(type.name)) own.set(type.name, this.fresh())
      if (type.kind === 'type' && type.of) visit(type.of)
      paramsOf(type).forEach(visit)
    }
    args.forEach(visit)
    visit(result)
    if (own.size === 0) return { args: [...args], result }
    return { args: args.map((arg) => substitute(own, arg)), result: substitute(own, result) }
  }
}
