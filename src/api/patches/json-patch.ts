import { deepEqual } from '../deep-equal.ts'
import { ApiError, badRequest, entityTooLarge } from '../errors.ts'
import { goJsonName } from '../go-format.ts'
import { cloneObject, jsonText } from '../json/index.ts'
import type { Json } from '../object.ts'
import { type JsonObject, isJsonObject, ownField, setOwnField } from './own-fields.ts'

const maxOperations = 10_000

// What all copy operations together may add, in bytes of JSON: short patches must not make huge objects.
const maxCopied = 3 * 1024 * 1024

interface Operation {
  op: string
  path?: string
  from?: string
  value: Json
}

type Container = JsonObject | Json[]

/** Kubernetes keeps to itself what went wrong. */
const cannotApply = () => new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

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

/** Fields of operations that mean nothing, in the words of a strict decoder. */
export function unknownOperationFields(patch: Json): string[] {
  if (!Array.isArray(patch)) return []
  return patch.flatMap((entry, i) => {
    const names = isJsonObject(entry) ? Object.keys(entry).filter((name) => !operationFields.has(name)) : []
    return names.map((name) => `unknown field ${JSON.stringify(`[${i}].${name}`)}`)
  })
}

const unescapeKey = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')

/** The index a key means in a list of this length; negative ones count from the end. Undefined outside of it. */
function indexIn(key: string, length: number): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(key)) return undefined
  const number = Number(key)
  const index = number < 0 ? number + length : number
  return index >= 0 && index < length ? index : undefined
}

/** The document being changed: what an operation touches is copied first, once. */
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

  /** The container a path points into and the key in it. Before a write the way there is copied. */
  #find(path: string | undefined, toWrite: boolean): { container: Container; key: string } {
    const parts = (path ?? '').split('/').slice(1).map(unescapeKey)
    const key = parts.pop()
    if (key === undefined) throw cannotApply()
    if (toWrite) this.#root = this.#own(this.#root)
    let at = this.#root
    for (const part of parts) {
      const next = this.#get(at, part)
      const usable = toWrite ? this.#own(next) : next
      if (usable !== next) this.#set(at as Container, part, usable)
      at = usable
    }
    if (typeof at !== 'object' || at === null) throw cannotApply()
    return { container: at, key }
  }

  /** What stands under a key: null if nothing does, in an object; in a list the key must fit. */
  #get(container: Json, key: string): Json {
    if (Array.isArray(container)) {
      const index = indexIn(key, container.length)
      if (index === undefined) throw cannotApply()
      return container[index]!
    }
    if (!isJsonObject(container)) throw cannotApply()
    return ownField(container, key) ?? null
  }

  #set(container: Container, key: string, value: Json): void {
    if (Array.isArray(container)) container[indexIn(key, container.length)!] = value
    else setOwnField(container, key, value)
  }

  #read(path: string | undefined): Json {
    const { container, key } = this.#find(path, false)
    return this.#get(container, key)
  }

  add(path: string | undefined, value: Json): void {
    const { container, key } = this.#find(path, true)
    if (!Array.isArray(container)) return setOwnField(container, key, value)
    const index = key === '-' ? container.length : indexIn(key, container.length + 1)
    if (index === undefined) throw cannotApply()
    container.splice(index, 0, value)
  }

  remove(path: string | undefined): void {
    const { container, key } = this.#find(path, true)
    if (Array.isArray(container)) {
      const index = indexIn(key, container.length)
      if (index === undefined) throw cannotApply()
      container.splice(index, 1)
    } else {
      if (!Object.hasOwn(container, key)) throw cannotApply()
      delete container[key]
    }
  }

  /** As Kubernetes has it, a field that is not there yet can be replaced. */
  replace(path: string | undefined, value: Json): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null) throw cannotApply()
      this.#root = value
      return
    }
    const { container, key } = this.#find(path, true)
    this.#get(container, key)
    this.#set(container, key, value)
  }

  move(from: string | undefined, path: string | undefined): void {
    const value = this.#read(from)
    this.remove(from)
    this.add(path, value)
  }

  copy(from: string | undefined, path: string | undefined): void {
    const value = this.#read(from)
    this.#copied += jsonText(value).length
    if (this.#copied > maxCopied) throw cannotApply()
    // Both places go their own ways from here, so nothing of the copy may count as already owned.
    this.add(path, cloneObject(value))
  }

  test(path: string | undefined, value: Json): void {
    const current = path === '' ? this.#root : this.#read(path)
    if (!deepEqual(current, value)) throw cannotApply()
  }
}

function applyOperation(draft: Draft, { op, path, from, value }: Operation): void {
  if (path === undefined) throw cannotApply()
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
      throw cannotApply()
  }
}

/** Applies an RFC 6902 patch with Kubernetes' leniencies; `doc` and `patch` stay as they are. */
export function applyJsonPatch(doc: Json, patch: Json): Json {
  const operations = decodeOperations(patch)
  const draft = new Draft(doc)
  for (const operation of operations) applyOperation(draft, operation)
  return draft.root
}
