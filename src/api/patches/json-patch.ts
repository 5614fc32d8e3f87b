import { deepEqual } from '../deep-equal.ts'
import { ApiError, badRequest, entityTooLarge } from '../errors.ts'
import { goJsonName } from '../printing/go-format.ts'
import { cloneObject, jsonText } from '../json/index.ts'
import type { Json } from '../object.ts'
import { type JsonObject, isJsonObject, ownField, setOwnField } from './own-fields.ts'

const maxOperations = 10_000

// The maximum size that all copy operations may add, in bytes of JSON: a short patch must not create a huge object.
const maxCopied = 3 * 1024 * 1024

interface Operation {
  op: string
  path?: string
  from?: string
  value: Json
}

type Container = JsonObject | Json[]

/** A patch that cannot be applied. The API does not tell clients the reason; policies report it. */
export class JsonPatchError extends ApiError {
  /** The message of the library that Kubernetes uses. */
  readonly detail: string
  /** A test operation failed. */
  readonly isTest: boolean
  constructor(detail: string, isTest = false) {
    super(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
    this.detail = detail
    this.isTest = isTest
  }
}

const cannotApply = (detail: string) => new JsonPatchError(detail)

const missingPath = (op: string, path: string | undefined) => {
  const shown = op === 'add' || op === 'remove' ? JSON.stringify(path ?? '') : (path ?? '')
  return cannotApply(`${op} operation does not apply: doc is missing path: ${shown}: missing value`)
}

const undecodable = (what: string) => badRequest(`error decoding patch: json: cannot unmarshal ${what}`)

function textField(entry: JsonObject, field: 'op' | 'path' | 'from'): string | undefined {
  const value = ownField(entry, field) ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw undecodable(`${goJsonName(value)} into Go struct field jsonPatchOp.${field} of type string`)
}

function decodeOperations(patch: Json): Operation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) throw undecodable(`${goJsonName(patch)} into Go value of type []handlers.jsonPatchOp`)
  const operations = patch.map((entry): Operation => {
    if (entry === null) return { op: '', value: null }
    if (!isJsonObject(entry)) throw undecodable(`${goJsonName(entry)} into Go value of type handlers.jsonPatchOp`)
    return {
      op: textField(entry, 'op') ?? '',
      path: textField(entry, 'path'),
      from: textField(entry, 'from'),
      value: ownField(entry, 'value') ?? null,
    }
  })
  if (operations.length > maxOperations) {
    throw entityTooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`,
    )
  }
  return operations
}

const operationFields = new Set(['op', 'path', 'from', 'value'])

/** Unknown fields of operations, in the words of a strict decoder. */
export function unknownOperationFields(patch: Json): string[] {
  if (!Array.isArray(patch)) return []
  return patch.flatMap((entry, i) => {
    const names = isJsonObject(entry) ? Object.keys(entry).filter((name) => !operationFields.has(name)) : []
    return names.map((name) => `unknown field ${JSON.stringify(`[${i}].${name}`)}`)
  })
}

const unescapeKey = (key: string) => (key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key)

/** The maximum length of a path. Every field that can be stored has a shorter one. */
const maxPathLength = 1 << 16

/** The list index of a key. Negative indices count from the end. Undefined if it is out of range. */
function indexIn(key: string, length: number): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(key)) return undefined
  const number = Number(key)
  const index = number < 0 ? number + length : number
  return index >= 0 && index < length ? index : undefined
}

const wrongIndex = (key: string) =>
  /^[+-]?[0-9]+$/.test(key)
    ? `Unable to access invalid index: ${key}: invalid index referenced`
    : `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`

/** The document being patched. Touched parts are copied once, on first write. */
class Draft {
  #root: Json
  readonly #owned = new WeakSet<object>()
  #copied = 0

  constructor(doc: Json) {
    this.#root = doc
  }

  get root(): Json {
    return this.#root
  }

  #own<T extends Json>(value: T): T {
    if (typeof value !== 'object' || value === null || this.#owned.has(value)) return value
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as T & object
    this.#owned.add(copy)
    return copy
  }

  /** The container and key of a path. Before a write, the containers on the path are copied. */
  #find(path: string | undefined, toWrite: boolean, op: string): { container: Container; key: string } {
    const parts = path === undefined || path.length > maxPathLength ? [] : path.split('/')
    if (parts.length < 2) throw missingPath(op, path)
    if (toWrite) this.#root = this.#own(this.#root)
    let at = this.#root
    // The first part is the text before the first slash.
    for (let i = 1; i < parts.length - 1; i++) {
      const part = unescapeKey(parts[i]!)
      const next = this.#get(at, part)
      if (next === undefined) throw missingPath(op, path)
      const usable = toWrite ? this.#own(next) : next
      if (usable !== next) this.#set(at as Container, part, usable)
      at = usable
    }
    if (typeof at !== 'object' || at === null) throw missingPath(op, path)
    return { container: at, key: unescapeKey(parts.at(-1)!) }
  }

  /**
   * The value of a key: null for a missing field of an object; undefined for an index out of range, and for scalars.
   */
  #get(container: Json, key: string): Json | undefined {
    if (Array.isArray(container)) {
      const index = indexIn(key, container.length)
      return index === undefined ? undefined : container[index]!
    }
    return isJsonObject(container) ? (ownField(container, key) ?? null) : undefined
  }

  #set(container: Container, key: string, value: Json): void {
    if (Array.isArray(container)) container[indexIn(key, container.length)!] = value
    else setOwnField(container, key, value)
  }

  #read(path: string | undefined, op: string): Json {
    const { container, key } = this.#find(path, false, op)
    const value = this.#get(container, key)
    if (value === undefined) throw cannotApply(`error in ${op} for path: '${path ?? ''}': missing value`)
    return value
  }

  add(path: string | undefined, value: Json): void {
    const { container, key } = this.#find(path, true, 'add')
    if (!Array.isArray(container)) return setOwnField(container, key, value)
    const index = key === '-' ? container.length : indexIn(key, container.length + 1)
    if (index === undefined) throw cannotApply(`error in add for path: '${path ?? ''}': ${wrongIndex(key)}`)
    container.splice(index, 0, value)
  }

  remove(path: string | undefined): void {
    const { container, key } = this.#find(path, true, 'remove')
    const failed = (why: string) => cannotApply(`error in remove for path: '${path ?? ''}': ${why}`)
    if (Array.isArray(container)) {
      const index = indexIn(key, container.length)
      if (index === undefined) throw failed(wrongIndex(key))
      container.splice(index, 1)
    } else {
      if (!Object.hasOwn(container, key)) throw failed(`Unable to remove nonexistent key: ${key}: missing value`)
      delete container[key]
    }
  }

  /** As in Kubernetes, a missing field can be replaced. */
  replace(path: string | undefined, value: Json): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null)
        throw cannotApply('replace operation does not apply: value is neither an object nor a list')
      this.#root = value
      return
    }
    const { container, key } = this.#find(path, true, 'replace')
    if (this.#get(container, key) === undefined) {
      throw cannotApply(`replace operation does not apply: doc is missing key: ${path ?? ''}: missing value`)
    }
    this.#set(container, key, value)
  }

  move(from: string | undefined, path: string | undefined): void {
    const value = this.#read(from, 'move')
    this.remove(from)
    this.add(path, value)
  }

  copy(from: string | undefined, path: string | undefined): void {
    const value = this.#read(from, 'copy')
    this.#copied += jsonText(value).length
    if (this.#copied > maxCopied)
      throw cannotApply(
        `Unable to copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${maxCopied}`,
      )
    // The copy may be modified independently of the source, so no part of it counts as owned.
    this.add(path, cloneObject(value))
  }

  test(path: string | undefined, value: Json): void {
    const current = path === '' ? this.#root : this.#read(path, 'test')
    if (!deepEqual(current, value)) throw new JsonPatchError(`testing value ${path ?? ''} failed: test failed`, true)
  }
}

function applyOperation(draft: Draft, { op, path, from, value }: Operation): void {
  if (path === undefined) throw cannotApply(`${op} operation does not apply: missing path`)
  switch (op) {
    case 'add':
      return draft.add(path, value)
    case 'remove':
      return draft.remove(path)
    case 'replace':
      return draft.replace(path, value)
    case 'move':
      return draft.move(from, path)
    case 'copy':
      return draft.copy(from, path)
    case 'test':
      return draft.test(path, value)
    default:
      throw cannotApply(`Unexpected kind: ${op}`)
  }
}

/** Applies an RFC 6902 patch with Kubernetes' leniencies. Does not modify `doc` and `patch`. */
export function applyJsonPatch(doc: Json, patch: Json): Json {
  const steps = jsonPatchSteps(doc, patch)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** As applyJsonPatch, yielding after each operation. */
export function* jsonPatchSteps(doc: Json, patch: Json): Generator<void, Json> {
  const operations = decodeOperations(patch)
  const draft = new Draft(doc)
  for (const operation of operations) {
    applyOperation(draft, operation)
    yield
  }
  return draft.root
}
