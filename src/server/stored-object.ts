import { deepFreeze } from '../api/json/index.ts'
import type { KubeObject } from '../api/object.ts'

/** How an object's bytes begin: `{"apiVersion":"v1","kind":"Pod",` and then `"metadata":{`. */
export interface Head {
  readonly text: string
  /** Length of the part that names version and kind, which items of a list go without. */
  readonly typeLength: number
  /** Length up to and including `"metadata":{`, where the resource version goes. */
  readonly metadataLength: number
}

const metadataOpening = '"metadata":{'

export function headOf(apiVersion: string, kind: string): Head {
  const type = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`
  return { text: type + metadataOpening, typeLength: Buffer.byteLength(type), metadataLength: Buffer.byteLength(type + metadataOpening) }
}

/** An object in the form in which it is stored. */
export function encodeForStore(object: KubeObject, head: Head): Buffer {
  delete object.metadata.resourceVersion
  const text = JSON.stringify(object)
  if (text.startsWith(head.text)) return Buffer.from(text)
  const { apiVersion, kind, metadata, ...rest } = object
  return Buffer.from(JSON.stringify({ apiVersion, kind, metadata, ...rest }))
}

/** What a dry run has not stored has no revision. */
const versionMember = (revision: number) => (revision === 0 ? '' : `"resourceVersion":"${revision}",`)

/**
 * One version of one object as it was committed: immutable, shared by the cache, readers, lists and watchers. It is encoded once;
 * the stored bytes have no resource version (the store knows it), the bytes that clients see have it as metadata's first member.
 */
export class StoredObject {
  readonly key: string
  readonly revision: number
  readonly bytes: Buffer
  readonly #head: Head
  #object: KubeObject | undefined
  #addedLine: Buffer | undefined
  #modifiedLine: Buffer | undefined

  private constructor(key: string, revision: number, bytes: Buffer, head: Head, object: KubeObject | undefined) {
    this.key = key
    this.revision = revision
    this.bytes = bytes
    this.#head = head
    this.#object = object
  }

  /** `object` is what the value says, if it is at hand: it must not be changed any more. */
  static fromStore(key: string, revision: number, value: Buffer, head: Head, object?: KubeObject): StoredObject {
    if (object && revision) object.metadata.resourceVersion = String(revision)
    return new StoredObject(key, revision, splice(value, head.metadataLength, head.metadataLength, revision), head, object)
  }

  /** The same content under another revision: what a deletion's event shows. */
  at(revision: number): StoredObject {
    const start = this.#head.metadataLength
    const bytes = splice(this.bytes, start, start + versionMember(this.revision).length, revision)
    const was = this.#object
    // Parts are shared, as nobody changes them.
    const object = was && { ...was, metadata: { ...was.metadata, resourceVersion: String(revision) } }
    return new StoredObject(this.key, revision, bytes, this.#head, object)
  }

  /** The decoded object. Shared: it must not be changed. */
  get object(): KubeObject {
    this.#object ??= JSON.parse(this.bytes.toString()) as KubeObject
    return this.#object
  }

  /** The same object for whom we cannot trust to leave it alone. Frozen the first time it is asked for. */
  get frozen(): KubeObject {
    return deepFreeze(this.object)
  }

  /** Everything behind the opening brace but version and kind: how an item of a list goes on after `{`. */
  get itemTail(): Buffer {
    return this.bytes.subarray(this.#head.typeLength)
  }

  /** The line a watcher of everything gets, made once for all of them. */
  watchLine(type: 'ADDED' | 'MODIFIED' | 'DELETED'): Buffer {
    if (type === 'ADDED') return (this.#addedLine ??= watchLine(type, this.bytes))
    if (type === 'MODIFIED') return (this.#modifiedLine ??= watchLine(type, this.bytes))
    return watchLine(type, this.bytes)
  }

  /** Lets go of the lines: they are of use only while their event is being sent. */
  forgetLines(): void {
    this.#addedLine = undefined
    this.#modifiedLine = undefined
  }
}

/** Puts the version member of `revision` in place of what stands between the offsets. */
function splice(source: Buffer, from: number, to: number, revision: number): Buffer {
  const member = versionMember(revision)
  // Not from the shared pool: a cached object would keep a whole slab alive.
  const out = Buffer.allocUnsafeSlow(source.length - (to - from) + member.length)
  source.copy(out, 0, 0, from)
  out.write(member, from, 'latin1')
  source.copy(out, from + member.length, to)
  return out
}

/** One event of a watch in its wire form. */
export function watchLine(type: string, object: Buffer): Buffer {
  const opening = `{"type":"${type}","object":`
  const out = Buffer.allocUnsafe(opening.length + object.length + 2)
  out.write(opening, 0, 'latin1')
  object.copy(out, opening.length)
  out.write('}\n', opening.length + object.length, 'latin1')
  return out
}
