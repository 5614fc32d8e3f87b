import { schema } from '../generated/schema.ts'
import { Members, NumberLiteral } from '../json/index.ts'
import type { Tree } from '../json/index.ts'
import { canonicalQuantity } from '../numbers/quantity.ts'
import { canonicalBase64 } from './base64.ts'
import type { Field, FieldType } from './schema.ts'
import { canonicalTime } from './time.ts'

/** The errors of Go's decoder for a document. */
interface Diagnosis {
  error?: string
  unknown: string[]
  problems: string[]
}

/** The decoder's position in errors: the current structure and the field path, without indexes and map keys. */
interface Place {
  struct: string
  path: string
}

/**
 * An error that aborts decoding: of a type with its own decoder. After other errors decoding continues, and the first
 * one is reported.
 */
class Abort extends Error {}

// Go stops collecting there too.
const maxProblems = 100

function goKind(tree: Tree): string {
  if (tree instanceof NumberLiteral) return 'number'
  if (tree instanceof Members) return 'object'
  if (Array.isArray(tree)) return 'array'
  return typeof tree === 'boolean' ? 'bool' : 'string'
}

/** A type in Go's words: `[]v1.Container`, `map[string]string`. */
function goTypeOf(type: FieldType, named?: string): string {
  switch (type.kind) {
    case 'struct': {
      const struct = schema[type.name]!
      return `${struct.goVersion}.${struct.goName}`
    }
    case 'list':
      return `[]${goTypeOf(type.of, named)}`
    case 'map':
      return type.of.kind === 'quantity' ? 'v1.ResourceList' : `map[string]${goTypeOf(type.of, named)}`
    case 'boolean':
      return 'bool'
    case 'double':
      return 'float64'
    case 'bytes':
      return '[]uint8'
    case 'int32':
    case 'int64':
      return type.kind
    case 'raw':
      return 'runtime.RawExtension'
    case 'string':
      return named ?? 'string'
    default:
      return type.kind
  }
}

class Decoder {
  error: string | undefined
  readonly #unknown: string[] = []
  readonly #problems = new Set<string>()

  diagnosis(): Diagnosis {
    return {
      ...(this.error === undefined ? {} : { error: this.error }),
      unknown: this.#unknown,
      problems: [...this.#problems],
    }
  }

  #report(kind: 'unknown' | 'duplicate', path: string) {
    const problem = `${kind} field ${JSON.stringify(path)}`
    if (this.#problems.size >= maxProblems || this.#problems.has(problem)) return
    this.#problems.add(problem)
    if (kind === 'unknown') this.#unknown.push(path)
  }

  #unfit(what: string, place: Place, type: string): string {
    const where = place.path ? `struct field ${place.struct}.${place.path}` : 'value'
    return `json: cannot unmarshal ${what} into Go ${where} of type ${type}`
  }

  #save(error: string) {
    this.error ??= error
  }

  struct(name: string, tree: Tree, place: Place, strictPath: string) {
    if (tree === null) return
    const struct = schema[name]!
    if (!(tree instanceof Members)) {
      this.#save(this.#unfit(goKind(tree), place, `${struct.goVersion}.${struct.goName}`))
      return
    }
    const seen = new Set<string>()
    for (const [key, value] of tree.entries) {
      const at = strictPath ? `${strictPath}.${key}` : key
      const field = Object.hasOwn(struct.fields, key) ? struct.fields[key] : undefined
      if (!field) {
        this.#report('unknown', at)
        continue
      }
      if (seen.has(key)) this.#report('duplicate', at)
      seen.add(key)
      const inside = { struct: struct.goName, path: place.path ? `${place.path}.${key}` : key }
      this.value(field.type, field, value, inside, at)
    }
  }

  value(type: FieldType, field: Field, tree: Tree, place: Place, strictPath: string) {
    if (tree === null) return
    switch (type.kind) {
      case 'struct':
        this.struct(type.name, tree, place, strictPath)
        return
      case 'list':
        if (!Array.isArray(tree)) this.#save(this.#unfit(goKind(tree), place, goTypeOf(type, field.goType)))
        else tree.forEach((item, i) => this.value(type.of, field, item, place, `${strictPath}[${i}]`))
        return
      case 'map':
        this.#map(type, field, tree, place, strictPath)
        return
      case 'raw':
        this.#raw(tree)
        return
      default:
        this.#scalar(type, field, tree, place)
    }
  }

  #map(type: FieldType & { kind: 'map' }, field: Field, tree: Tree, place: Place, strictPath: string) {
    if (!(tree instanceof Members)) {
      this.#save(this.#unfit(goKind(tree), place, goTypeOf(type, field.goType)))
      return
    }
    const seen = new Set<string>()
    for (const [key, value] of tree.entries) {
      const at = `${strictPath}.${key}`
      if (seen.has(key)) this.#report('duplicate', at)
      seen.add(key)
      this.value(type.of, field, value, place, at)
    }
  }

  /**
   * Kubernetes keeps free-form values as text. Here they are values, so a number that no double can represent is
   * rejected.
   */
  #raw(tree: Tree) {
    if (tree instanceof NumberLiteral) {
      if (Number.isFinite(Number(tree.text))) return
      this.#save(`json: cannot unmarshal number ${tree.text} into Go value of type float64`)
    } else if (Array.isArray(tree)) {
      for (const item of tree) this.#raw(item)
    } else if (tree instanceof Members) {
      for (const [, value] of tree.entries) this.#raw(value)
    }
  }

  #scalar(type: FieldType, field: Field, tree: Tree, place: Place) {
    switch (type.kind) {
      case 'time':
      case 'microTime':
        if (typeof tree !== 'string') throw new Abort(this.#unfit(goKind(tree), place, 'string'))
        abortOn(() => canonicalTime(tree, type.kind === 'time' ? 'second' : 'microsecond'))
        return
      case 'quantity':
        if (typeof tree === 'string') abortOn(() => canonicalQuantity(tree.trim()))
        else abortOn(() => canonicalQuantity(tree instanceof NumberLiteral ? tree.text : goKind(tree)))
        return
      case 'intOrString':
        if (typeof tree === 'string') return
        if (!isInteger(tree, 'int32')) throw new Abort(this.#unfit(numberOrKind(tree), place, 'int32'))
        return
      case 'int32':
      case 'int64':
        if (!isInteger(tree, type.kind)) this.#save(this.#unfit(numberOrKind(tree), place, type.kind))
        return
      case 'bytes':
        if (typeof tree !== 'string') this.#save(this.#unfit(goKind(tree), place, '[]uint8'))
        else this.#saveThrown(() => canonicalBase64(tree))
        return
      default: {
        const wanted = type.kind === 'boolean' ? 'bool' : type.kind === 'double' ? 'number' : 'string'
        if (goKind(tree) !== wanted) this.#save(this.#unfit(goKind(tree), place, goTypeOf(type, field.goType)))
      }
    }
  }

  #saveThrown(run: () => void) {
    try {
      run()
    } catch (e) {
      this.#save((e as Error).message)
    }
  }
}

function abortOn(run: () => void) {
  try {
    run()
  } catch (e) {
    throw new Abort((e as Error).message)
  }
}

const numberOrKind = (tree: Tree) => (tree instanceof NumberLiteral ? `number ${tree.text}` : goKind(tree))

const bits = { int32: 32, int64: 64 }

/** The longest int64 is -9223372036854775808. A longer number is rejected without parsing. */
const maxIntegerChars = 20

function isInteger(tree: Tree, size: 'int32' | 'int64'): boolean {
  if (!(tree instanceof NumberLiteral) || tree.text.length > maxIntegerChars || !/^-?\d+$/.test(tree.text)) return false
  const n = BigInt(tree.text)
  return BigInt.asIntN(bits[size], n) === n
}

/** Decodes as Go does, in the order of the document, only to find its errors. */
export function diagnose(typeName: string, tree: Tree): Diagnosis {
  const decoder = new Decoder()
  try {
    decoder.struct(typeName, tree, { struct: '', path: '' }, '')
  } catch (e) {
    if (!(e instanceof Abort)) throw e
    decoder.error = e.message
  }
  return decoder.diagnosis()
}
