import { deepFreeze, readJson } from '../../api/json/index.ts'
import { type PackedOwners, decodeOwners, memberLength, noOwners, packAll, withManagedFields, writeMember } from '../../api/managed-fields/index.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { encodeForStore, headText, specOpening } from './encode-object.ts'
import type { BeforeStatus, Encoded, KnownParts, SpecPlace } from './encode-object.ts'
import { passingBytes } from './kept-bytes.ts'

/** How an object's bytes begin: `{"apiVersion":"v1","kind":"Pod",` and then `"metadata":{`. */
export interface Head {
  readonly text: string
  /** Length of the part that names version and kind, which items of a list go without. */
  readonly typeLength: number
  /** Length up to and including `"metadata":{`, where the resource version goes. */
  readonly metadataLength: number
}

const metadataOpening = '"metadata":{'
const ownersOpening = '"managedFields":['

/** Items of lists of custom kinds say their version and kind. */
export function headOf(apiVersion: string, kind: string, isCustom = false): Head {
  const text = headText(apiVersion, kind)
  const metadataLength = Buffer.byteLength(text)
  return { text, typeLength: isCustom ? 1 : metadataLength - metadataOpening.length, metadataLength }
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
 * One version of one object as it was committed: immutable, shared by the cache, readers, lists and watchers. It is encoded once.
 * The stored bytes have no resource version (the store knows it). Clients see it as metadata's first member, followed by managedFields.
 */
export class StoredObject implements KnownParts {
  readonly key: string
  readonly revision: number
  readonly #type: LineType
  readonly #head: Head
  /** The bytes without the resource version. managedFields are in them where `#hasOwnersInside`. */
  #value: Buffer
  /**
   * Many objects have the same managedFields, which are a third of a pod's bytes: the bytes of a version go without them, and
   * `#owners` has them. Values that a store keeps in memory anyway are shared as they are.
   */
  #hasOwnersInside: boolean
  /** Undefined while nobody has asked for those that are inside. */
  #owners: PackedOwners | undefined
  /** How `#value` is read that another program has written. */
  #read: ReadValue | undefined
  /**
   * Decoded, takes twice the room of the bytes. It stays for as long as somebody in this process has it, such as an
   * informer, and else until the next full garbage collection: whoever asks then gets another copy out of the bytes.
   */
  #object: WeakRef<KubeObject> | undefined
  /** The line of the event that made this version. All watchers and readers of the moment share one copy. */
  #line: WeakRef<Buffer> | undefined
  /** Where the spec is in the value that this program has stored. */
  #spec: SpecPlace | undefined

  private constructor(key: string, revision: number, value: Buffer, type: LineType, head: Head) {
    this.key = key
    this.revision = revision
    this.#type = type
    this.#head = head
    this.#value = value
    this.#hasOwnersInside = false
    this.#owners = undefined
    this.#read = undefined
    this.#object = undefined
    this.#line = undefined
    this.#spec = undefined
  }

  /**
   * A version that this process has written. Its object must not be changed any more. `type` is that of the event most watchers
   * get. `isShared`: the store keeps the value in memory.
   */
  static fromEncoded(key: string, revision: number, head: Head, encoded: Encoded, type: LineType = 'ADDED', isShared = false): StoredObject {
    const { value, bare, object, owners, spec } = encoded
    const stored = new StoredObject(key, revision, isShared ? value : bare, type, head)
    stored.#hasOwnersInside = isShared && value !== bare
    stored.#owners = owners
    if (revision) object.metadata.resourceVersion = String(revision)
    stored.#object = new WeakRef(object)
    stored.#spec = spec
    return stored
  }

  /** A version whose object is made when it is first asked for: by `read`, or as it is stored. */
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
    const start = head.metadataLength
    const isInPlace = value.toString('latin1', start, start + ownersOpening.length) === ownersOpening
    stored.#hasOwnersInside = isInPlace || (read !== undefined && value.includes(ownersOpening))
    return stored
  }

  /** The same content under another revision: what a deletion's event shows. */
  at(revision: number): StoredObject {
    this.#readForeign()
    const other = new StoredObject(this.key, revision, this.#value, 'DELETED', this.#head)
    other.#hasOwnersInside = this.#hasOwnersInside
    other.#owners = this.#owners
    const was = this.#object?.deref()
    // Parts are shared, as nobody changes them.
    if (was) other.#object = new WeakRef({ ...was, metadata: { ...was.metadata, resourceVersion: String(revision) } })
    return other
  }

  /** Puts the bytes that this program would have stored in the place of those of another one. */
  #readForeign(): void {
    const read = this.#read
    if (!read) return
    const known = this.#object?.deref()
    const [object, owners] = known ? [withoutVersion(known), this.owners] : splitOwners(read(this.#value))
    const { bare, spec } = encodeForStore(object, owners)
    this.#read = undefined
    this.#value = bare
    this.#hasOwnersInside = false
    this.#owners = owners
    this.#spec = spec
  }

  /** True if its bytes begin with this head: it is of that version of its kind. */
  isOf(head: Head): boolean {
    return this.#head.text === head.text
  }

  /** The same revision of the object as another version of its kind shows it. The object is its own from now on. */
  converted(object: KubeObject, head: Head): StoredObject {
    return StoredObject.fromEncoded(this.key, this.revision, head, encodeForStore(splitOwners(object)[0], this.owners), this.#type)
  }

  /** Those who manage its fields. */
  get owners(): PackedOwners {
    return (this.#owners ??= this.#hasOwnersInside ? splitOwners((this.#read ?? parseObject)(this.#value))[1] : noOwners)
  }

  /** About the length of `bytes`, without making them. */
  get roughSize(): number {
    return this.#value.length
  }

  /** The decoded object, without managedFields. Shared: it must not be changed. */
  get object(): KubeObject {
    const known = this.#object?.deref()
    if (known) return known
    const read = (this.#read ?? parseObject)(this.#value)
    const { managedFields: _, ...metadata } = read.metadata
    const object = { ...read, metadata: { resourceVersion: String(this.revision), ...metadata } }
    this.#object = new WeakRef(object)
    return object
  }

  /** The object with managedFields, as clients see it. */
  get whole(): KubeObject {
    return withManagedFields(this.object, this.owners)
  }

  /** The members of metadata that are not in `#value`, in bytes. */
  get #addedLength(): number {
    return versionMember(this.revision).length + (this.#hasOwnersInside ? 0 : memberLength(this.owners))
  }

  /** Writes the bytes that clients see from an offset in the head on, and answers where they end. */
  #copy(to: Buffer, start: number, from = 0): number {
    const { metadataLength } = this.#head
    let at = start + this.#value.copy(to, start, from, metadataLength)
    at += to.write(versionMember(this.revision), at, 'latin1')
    if (!this.#hasOwnersInside) at = writeMember(this.owners, to, at)
    return at + this.#value.copy(to, at, metadataLength)
  }

  /** Length of `bytes`. */
  get size(): number {
    this.#readForeign()
    return this.#value.length + this.#addedLength
  }

  /** The object as clients see it. */
  get bytes(): Buffer {
    const line = this.#lineOfType()
    return line.subarray(openings[this.#type].length, line.length - ending.length)
  }

  #lineOfType(): Buffer {
    let line = this.#line?.deref()
    if (!line) this.#line = new WeakRef((line = this.#newLine(this.#type)))
    return line
  }

  #newLine(type: LineType): Buffer {
    const before = openings[type]
    const line = passingBytes(before.length + this.size + ending.length)
    const at = this.#copy(line, line.write(before, 'latin1'))
    line.write(ending, at, 'latin1')
    return line
  }

  /** False if the text does not stand in its bytes, as far as that can be told without decoding or encoding. */
  mayHold(text: Buffer): boolean {
    return this.#object?.deref() !== undefined || this.#value.includes(text)
  }

  /** The bytes of `spec`, if it is this object's own, and they are known. */
  specBytes(spec: unknown): Buffer | undefined {
    if (!this.#spec || (this.object as WithParts).spec !== spec) return undefined
    const end = this.#value.length - this.#spec.tail
    return this.#value.subarray(end - this.#spec.length, end)
  }

  bytesFromSpec(object: WithParts): { bytes: Buffer; place: SpecPlace } | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.status !== object.status) return undefined
    return { bytes: this.#value.subarray(this.#value.length - this.#spec.tail - this.#spec.length), place: this.#spec }
  }

  bytesBeforeStatus(object: WithParts): BeforeStatus | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.apiVersion !== object.apiVersion || own.kind !== object.kind) return undefined
    if (!isSameButForVersion(own.metadata, object.metadata)) return undefined
    const { metadataLength } = this.#head
    const restFrom = metadataLength + (this.#hasOwnersInside ? memberLength(this.owners) : 0)
    const rest = this.#value.subarray(restFrom, this.#value.length - this.#spec.tail)
    return { pieces: [this.#value.subarray(0, metadataLength), rest], specLength: this.#spec.length }
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

  /** Length of everything behind the opening brace but version and kind: of how an item of a list goes on after `{`. */
  get itemTailLength(): number {
    return this.size - this.#head.typeLength
  }

  /** Writes these bytes, and answers where they end. */
  copyItemTail(to: Buffer, at: number): number {
    this.#readForeign()
    return this.#copy(to, at, this.#head.typeLength)
  }

  /** The line of an event about this version; the same one for all who get the event that made it. */
  watchLine(type: LineType): Buffer {
    return type === this.#type ? this.#lineOfType() : this.#newLine(type)
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

/** An object without managedFields, and these apart. */
function splitOwners(object: KubeObject): [KubeObject, PackedOwners] {
  const { managedFields, ...metadata } = object.metadata
  if (!managedFields?.length) return [object, noOwners]
  return [{ ...object, metadata }, packAll(decodeOwners(managedFields, true) ?? [])]
}

/** One event of a watch in its wire form. */
export const watchLine = (type: string, object: Buffer): Buffer => Buffer.concat([Buffer.from(opening(type)), object, Buffer.from(ending)])
