import { deepFreeze, readJson } from '../../api/json/index.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { encodeForStore, specOpening } from './encode-object.ts'
import type { BeforeStatus, Encoded, KnownParts, SpecPlace } from './encode-object.ts'
import { keptBytes } from './kept-bytes.ts'

/** How an object's bytes begin: `{"apiVersion":"v1","kind":"Pod",` and then `"metadata":{`. */
export interface Head {
  readonly text: string
  /** Length of the part that names version and kind, which items of a list go without. */
  readonly typeLength: number
  /** Length up to and including `"metadata":{`, where the resource version goes. */
  readonly metadataLength: number
}

const metadataOpening = '"metadata":{'

/** Items of lists of custom kinds say their version and kind. */
export function headOf(apiVersion: string, kind: string, isCustom = false): Head {
  const type = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`
  const typeLength = isCustom ? 1 : Buffer.byteLength(type)
  return { text: type + metadataOpening, typeLength, metadataLength: Buffer.byteLength(type + metadataOpening) }
}

/** What a dry run has not stored has no revision. */
const versionMember = (revision: number) => (revision === 0 ? '' : `"resourceVersion":"${revision}",`)

/** What an event of a watch says has happened. */
export type LineType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Reads a stored value, which has no resource version. */
export type ReadValue = (value: Buffer) => KubeObject

/** Parses an object's bytes as they are. */
export const parseObject: ReadValue = (bytes) => readJson(bytes.toString()) as KubeObject

/** Most objects have these parts. */
type WithParts = KubeObject & { spec?: unknown; status?: unknown }

/** How an event's line begins, up to the object, and how it ends. */
const opening = (type: string) => `{"type":"${type}","object":`
const ending = '}\n'
const openings: Record<LineType, string> = { ADDED: opening('ADDED'), MODIFIED: opening('MODIFIED'), DELETED: opening('DELETED') }

/**
 * One version of one object as it was committed: immutable, shared by the cache, readers, lists and watchers. It is encoded once;
 * the stored bytes have no resource version (the store knows it), the bytes that clients see have it as metadata's first member.
 */
export class StoredObject implements KnownParts {
  readonly key: string
  readonly revision: number
  /** See `#line`. Undefined while nobody has asked for the bytes that clients see. */
  #encoded: Buffer | undefined
  readonly #type: LineType
  readonly #head: Head
  /**
   * Decoded, takes twice the room of the bytes. It stays for as long as somebody in this process has it, such as an
   * informer, and else until the next full garbage collection: whoever asks then gets another copy out of the bytes.
   */
  #object: WeakRef<KubeObject> | undefined
  /** Where the spec is in the value that this program has stored, and in the line that is made of it. */
  #spec: SpecPlace | undefined
  /**
   * The stored bytes, from which `#object` and `#encoded` are made; undefined once there is the latter, which is the
   * source from then on. A version that only this process looks at, decoded, never has a line: the bytes of a store in
   * memory are then the only copy.
   */
  #value: Buffer | undefined
  /** How `#value` is read that another program has written. */
  #read: ReadValue | undefined

  private constructor(key: string, revision: number, value: Buffer | undefined, type: LineType, head: Head) {
    this.key = key
    this.revision = revision
    this.#encoded = undefined
    this.#type = type
    this.#head = head
    this.#object = undefined
    this.#spec = undefined
    this.#value = value
    this.#read = undefined
  }

  /** `encoded` is what the value was made of, if that is at hand: its object must not be changed any more. `type` is that of the event most watchers get. */
  static fromStore(key: string, revision: number, value: Buffer, head: Head, encoded?: Encoded, type: LineType = 'ADDED'): StoredObject {
    const stored = new StoredObject(key, revision, value, type, head)
    const object = encoded?.object
    if (!object) return stored
    if (revision) object.metadata.resourceVersion = String(revision)
    stored.#object = new WeakRef(object)
    stored.#spec = encoded.spec
    return stored
  }

  /** A version whose bytes or object are made when they are first asked for: by `read`, or as they are stored. */
  static unread(
    key: string,
    revision: number,
    value: Buffer,
    head: Head,
    read: ReadValue | undefined,
    type: LineType = 'ADDED',
  ): StoredObject {
    const stored = new StoredObject(key, revision, value, type, head)
    stored.#read = read
    return stored
  }

  /** The same content under another revision: what a deletion's event shows. */
  at(revision: number): StoredObject {
    const value = this.#read ? undefined : this.#value
    const other = new StoredObject(this.key, revision, value, 'DELETED', this.#head)
    if (!value) {
      const start = this.#head.metadataLength
      other.#encoded = lineOf('DELETED', this.bytes, start, start + versionMember(this.revision).length, revision)
    }
    const was = this.#object?.deref()
    // Parts are shared, as nobody changes them.
    if (was) other.#object = new WeakRef({ ...was, metadata: { ...was.metadata, resourceVersion: String(revision) } })
    return other
  }

  /** The line of the event that made this version. It holds the object's bytes: watchers and readers share one copy. */
  get #line(): Buffer {
    return (this.#encoded ??= this.#encode())
  }

  /** Makes the line. An object that is read for it is not kept: most readers ask for bytes only. */
  #encode(): Buffer {
    if (this.#read) this.#readForeign(this.#read)
    const value = this.#value!
    this.#value = undefined
    const { metadataLength } = this.#head
    return lineOf(this.#type, value, metadataLength, metadataLength, this.revision)
  }

  /** Puts what this program would have stored in the place of what another one has. */
  #readForeign(read: ReadValue): void {
    const known = this.#object?.deref()
    const { value, spec } = encodeForStore(known ? withoutVersion(known) : read(this.#value!))
    this.#value = value
    this.#spec = spec
    this.#read = undefined
  }

  /** True if its bytes begin with this head: it is of that version of its kind. */
  isOf(head: Head): boolean {
    return this.#head.text === head.text
  }

  /** The same revision of the object as another version of its kind shows it. The object is its own from now on. */
  converted(object: KubeObject, head: Head): StoredObject {
    const encoded = encodeForStore(object)
    return StoredObject.fromStore(this.key, this.revision, encoded.value, head, encoded, this.#type)
  }

  /** Length of `bytes`. */
  get size(): number {
    return this.#line.length - openings[this.#type].length - ending.length
  }

  /** The object as clients see it. */
  get bytes(): Buffer {
    return this.#line.subarray(openings[this.#type].length, this.#line.length - ending.length)
  }

  /** False if the text does not stand in its bytes, as far as that can be told without decoding or encoding. */
  mayHold(text: Buffer): boolean {
    const bytes = this.#encoded ?? this.#value
    return bytes === undefined || this.#object?.deref() !== undefined || bytes.includes(text)
  }

  /** The decoded object. Shared: it must not be changed. */
  get object(): KubeObject {
    const known = this.#object?.deref()
    if (known) return known
    const object = this.#value ? this.#readObject(this.#value) : parseObject(this.bytes)
    this.#object = new WeakRef(object)
    return object
  }

  #readObject(value: Buffer): KubeObject {
    const object = (this.#read ?? parseObject)(value)
    return { ...object, metadata: { resourceVersion: String(this.revision), ...object.metadata } }
  }

  /** The bytes of this program, as they are stored or as clients see them: the same but for the resource version. */
  get #written(): Buffer {
    return this.#value ?? this.bytes
  }

  /** The bytes of `spec`, if it is this object's own, and they are known. */
  specBytes(spec: unknown): Buffer | undefined {
    if (!this.#spec || (this.object as WithParts).spec !== spec) return undefined
    const end = this.#written.length - this.#spec.tail
    return this.#written.subarray(end - this.#spec.length, end)
  }

  bytesFromSpec(object: WithParts): { bytes: Buffer; place: SpecPlace } | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.status !== object.status) return undefined
    const written = this.#written
    return { bytes: written.subarray(written.length - this.#spec.tail - this.#spec.length), place: this.#spec }
  }

  bytesBeforeStatus(object: WithParts): BeforeStatus | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.apiVersion !== object.apiVersion || own.kind !== object.kind) return undefined
    if (!isSameButForVersion(own.metadata, object.metadata)) return undefined
    const written = this.#written
    const { metadataLength } = this.#head
    const restFrom = this.#value ? metadataLength : metadataLength + versionMember(this.revision).length
    const rest = written.subarray(restFrom, written.length - this.#spec.tail)
    return { pieces: [written.subarray(0, metadataLength), rest], specLength: this.#spec.length }
  }

  /** The bytes of its metadata, if it is known where they are. */
  get metadataBytes(): Buffer | undefined {
    if (!this.#spec) return undefined
    const { bytes } = this
    return bytes.subarray(this.#head.metadataLength - 1, bytes.length - this.#spec.tail - this.#spec.length - specOpening.length)
  }

  /** The same object for whom we cannot trust to leave it alone. Frozen the first time it is asked for. */
  get frozen(): KubeObject {
    return deepFreeze(this.object)
  }

  /** Everything behind the opening brace but version and kind: how an item of a list goes on after `{`. */
  get itemTail(): Buffer {
    return this.#line.subarray(openings[this.#type].length + this.#head.typeLength, this.#line.length - ending.length)
  }

  /** Length of `itemTail`. */
  get itemTailLength(): number {
    return this.size - this.#head.typeLength
  }

  /** The line of an event about this version; the same one for all who get the event that made it. */
  watchLine(type: LineType): Buffer {
    return type === this.#type ? this.#line : watchLine(type, this.bytes)
  }
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Whether all members but the resource version are the very same. */
function isSameButForVersion(one: ObjectMeta, other: ObjectMeta): boolean {
  const differs = (name: string) => name !== 'resourceVersion' && one[name as keyof ObjectMeta] !== other[name as keyof ObjectMeta]
  for (const name in one) if (differs(name)) return false
  for (const name in other) if (differs(name)) return false
  return true
}

/** The line of an event about `source`, with the version member of `revision` in place of what stands between the offsets. */
function lineOf(type: LineType, source: Buffer, from: number, to: number, revision: number): Buffer {
  const before = openings[type]
  const member = versionMember(revision)
  const out = keptBytes(before.length + source.length - (to - from) + member.length + ending.length)
  let at = out.write(before, 'latin1')
  at += source.copy(out, at, 0, from)
  at += out.write(member, at, 'latin1')
  at += source.copy(out, at, to)
  out.write(ending, at, 'latin1')
  return out
}

/** One event of a watch in its wire form. */
export const watchLine = (type: string, object: Buffer): Buffer => Buffer.concat([Buffer.from(opening(type)), object, Buffer.from(ending)])
