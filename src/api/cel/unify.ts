import { type CelType, dynType, paramType, paramsOf, withParams } from './types.ts'

/** The types that are known of type variables, with a way back to what was known before. */
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

  /** Keeps what was learned since the last time. */
  keep(): void {
    this.#changes = []
  }

  /** Forgets what was learned since then. */
  forget(): void {
    for (const { name, before } of this.#changes.reverse()) {
      if (before) this.#types.set(name, before)
      else this.#types.delete(name)
    }
    this.#changes = []
  }
}

/** Anything that knows types of variables. */
interface Known {
  get(name: string): CelType | undefined
}

/** The type with all known variables filled in; unknown ones become dyn if `isFinal`. */
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

/** True if two types are the same, but for facts of a schema. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  if (a.kind === 'object' || a.kind === 'param') return a.name === (b as { name: string }).name
  if (a.kind === 'opaque' && a.name !== (b as { name: string }).name) return false
  const [left, right] = [paramsOf(a), paramsOf(b)]
  return left.length === right.length && left.every((param, i) => isSameType(param, right[i]!))
}

const isWild = (type: CelType) => type.kind === 'dyn' || type.kind === 'error'

/** True if `a` says no more than `b`: dyn is less than anything, list(dyn) less than list(int). */
function isLessSpecific(a: CelType, b: CelType): boolean {
  if (isWild(a) || a.kind === 'param') return true
  if (isWild(b) || b.kind === 'param' || a.kind !== b.kind) return false
  if (a.kind === 'opaque' && a.name !== (b as { name: string }).name) return false
  const params = paramsOf(a)
  if (params.length === 0) return isSameType(a, b)
  const others = paramsOf(b)
  return params.every((param, i) => isLessSpecific(param, others[i]!))
}

/** The one of two compatible types that fits both. */
export const mostGeneral = (a: CelType, b: CelType): CelType => (b.kind === 'null' || isLessSpecific(a, b) ? a : b)

/** True if a variable occurs in a type: then it cannot stand for it. */
function occursIn(known: Substitution, name: string, type: CelType): boolean {
  if (type.kind === 'param') {
    if (type.name === name) return true
    const found = known.get(type.name)
    return found !== undefined && occursIn(known, name, found)
  }
  return paramsOf(type).some((param) => occursIn(known, name, param))
}

type Bound = 'yes' | 'no' | 'cyclic'

/** Lets a variable stand for a type, or for what fits both it and the type it stands for already. */
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

/** All that is known about the type variables of one expression. */
export class Inference {
  readonly #known = new Substitution()
  #count = 0

  /** A type variable that nothing is known about. */
  fresh(): CelType {
    return paramType(`_var${this.#count++}`)
  }

  /** The type as far as it is known. */
  resolve(type: CelType): CelType {
    return substitute(this.#known, type)
  }

  /** The type with dyn for what never became known. */
  final(type: CelType): CelType {
    return substitute(this.#known, type, true)
  }

  /** Lets values of one type stand for another; false if they do not fit, and nothing is learned. */
  unify(given: CelType, wanted: CelType): boolean {
    return this.unifyAll([given], [wanted])
  }

  unifyAll(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    const fits = given.length === wanted.length && given.every((type, i) => unify(this.#known, type, wanted[i]!))
    if (fits) this.#known.keep()
    else this.#known.forget()
    return fits
  }

  /** The type of both; dyn if they have none in common. */
  join(previous: CelType | undefined, current: CelType): CelType {
    if (!previous) return current
    return this.unify(previous, current) ? mostGeneral(previous, current) : dynType
  }

  /** A signature with type variables of its own. */
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
