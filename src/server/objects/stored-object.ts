import { deepFreeze, readJson } from '../../api/json/index.ts'
import {
  type PackedOwners,
  decodeOwners,
  memberLength,
  noOwners,
  packAll,
  withManagedFields,
  writeMember,
} from '../../api/managed-fields/index.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { encodeForStore, headText, specOpening } from './encode-object.ts'
import type { BeforeStatus, Encoded, KnownParts, SpecPlace } from './encode-object.ts'
import { passingBytes } from '../../base/kept-bytes.ts'

/** The first bytes of an object: `{"apiVersion":"v1","kind":"Pod",` and then `"metadata":{`. */
export interface Head {
  readonly text: string
  /** The length of version and kind, which are left out for items of a list. */
  readonly typeLength: number
  /** The length up to and including `"metadata":{`, where the resource version is inserted. */
  readonly metadataLength: number
}

const metadataOpening = '"metadata":{'
const ownersOpening = '"managedFields":['

/** `isCustom`: list items of custom resources keep apiVersion and kind. */
export function headOf(apiVersion: string, kind: string, isCustom = false): Head {
  const text = headText(apiVersion, kind)
  const metadataLength = Buffer.byteLength(text)
  return { text, typeLength: isCustom ? 1 : metadataLength - metadataOpening.length, metadataLength }
}

/** The object of a dry run has no revision. */
const versionMember = (revision: number) => (revision === 0 ? '' : `"resourceVersion":"${revision}",`)

const quote = '"'.charCodeAt(0)
/** Text that is the same in JSON. */
const plainText = /^[ !#-[\]-~]*$/

/** The type of a watch event. */
export type LineType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Decodes a stored value, which has no resource version. */
export type ReadValue = (value: Buffer) => KubeObject

/** Parses an object's bytes without decoding or defaulting. */
export const parseObject: ReadValue = (bytes) => readJson(bytes.toString()) as KubeObject

/** The shape of most objects. */
type WithParts = KubeObject & { spec?: unknown; status?: unknown }

/** The start of a watch line, up to the object. */
const opening = (type: string) => `{"type":"${type}","object":`
const ending = '}\n'
const openings: Record<LineType, string> = {
  ADDED: opening('ADDED'),
  MODIFIED: opening('MODIFIED'),
  DELETED: opening('DELETED'),
}

/**
 * One committed version of an object: immutable, encoded once, shared by the cache, readers, lists and watchers. The
 * stored bytes have no resource version, because the store knows it. Clients see it as the first member of metadata,
 * followed by managedFields.
 */
export class StoredObject implements KnownParts {
  readonly key: string
  readonly revision: number
  readonly #type: LineType
  readonly #head: Head
  /** The bytes without the resource version. They contain managedFields if `#hasOwnersInside`. */
  #value: Buffer
  /**
   * Many objects have equal managedFields, which are a third of a pod's bytes. Therefore the bytes are kept without
   * them, and `#owners` is shared. Values that a store keeps in memory are shared unchanged.
   */
  #hasOwnersInside: boolean
  /** Undefined until the owners inside the bytes are first read. */
  #owners: PackedOwners | undefined
  /** Decodes `#value` if another program has written it. */
  #read: ReadValue | undefined
  /**
   * A decoded object takes twice the memory of its bytes. It lives while anything in this process, such as an informer,
   * refers to it, or until the next full garbage collection; then it is decoded again on access.
   */
  #object: WeakRef<KubeObject> | undefined
  /** The watch line of this version's event, shared by all concurrent watchers. */
  #line: WeakRef<Buffer> | undefined
  /** The position of the spec in a value that this program has written. */
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
   * A version that this process has written. The object must not be changed afterwards. `type` is the event type that
   * most watchers get. `isShared`: the store keeps the value in memory.
   */
  static fromEncoded(
    key: string,
    revision: number,
    head: Head,
    encoded: Encoded,
    type: LineType = 'ADDED',
    isShared = false,
  ): StoredObject {
    const { value, bare, object, owners, spec } = encoded
    const stored = new StoredObject(key, revision, isShared ? value : bare, type, head)
    stored.#hasOwnersInside = isShared && value !== bare
    stored.#owners = owners
    // The event of its commit may have set it already.
    if (revision && object.metadata.resourceVersion !== String(revision))
      object.metadata.resourceVersion = String(revision)
    stored.#object = new WeakRef(object)
    stored.#spec = spec
    return stored
  }

  /** A version that is decoded on first access: by `read`, or as stored. */
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

  /** The same content at another revision, for deletion events. */
  at(revision: number): StoredObject {
    this.#readForeign()
    const other = new StoredObject(this.key, revision, this.#value, 'DELETED', this.#head)
    other.#hasOwnersInside = this.#hasOwnersInside
    other.#owners = this.#owners
    const was = this.#object?.deref()
    // Parts can be shared because they are immutable.
    if (was) other.#object = new WeakRef({ ...was, metadata: { ...was.metadata, resourceVersion: String(revision) } })
    return other
  }

  /** Replaces the bytes of another program with those that this program would have stored. */
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

  /** True if the bytes start with this head, so that they are of its version. */
  isOf(head: Head): boolean {
    return this.#head.text === head.text
  }

  /** The same revision, converted to another version of the kind. It takes ownership of the object. */
  converted(object: KubeObject, head: Head): StoredObject {
    return StoredObject.fromEncoded(
      this.key,
      this.revision,
      head,
      encodeForStore(splitOwners(object)[0], this.owners),
      this.#type,
    )
  }

  /** The owners of the object's fields. */
  get owners(): PackedOwners {
    return (this.#owners ??= this.#hasOwnersInside
      ? splitOwners((this.#read ?? parseObject)(this.#value))[1]
      : noOwners)
  }

  /** The approximate length of `bytes`, without encoding. */
  get roughSize(): number {
    return this.#value.length
  }

  /** The decoded object without managedFields. It is shared and must not be changed. */
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

  /** The length of the members of metadata that are not in `#value`. */
  get #addedLength(): number {
    return versionMember(this.revision).length + (this.#hasOwnersInside ? 0 : memberLength(this.owners))
  }

  /** Writes the client's view of the bytes from an offset in the head on, and returns the end position. */
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

  /** The object's bytes as clients see it. */
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

  /** False if the bytes cannot contain the text, as far as this is known without decoding or encoding. */
  mayHold(text: Buffer): boolean {
    return this.#object?.deref() !== undefined || this.#value.includes(text)
  }

  /**
   * The value of the only member with a name that has a text as its value, at any depth: `opening` is that name in
   * quotes, a colon and a quote. '' if there is none; undefined if only the decoded object tells.
   */
  textBehind(opening: Buffer): string | undefined {
    const value = this.#value
    // The bytes of another program may have blanks between names and values.
    if (this.#read) return undefined
    const at = value.indexOf(opening)
    if (at < 0) return ''
    const start = at + opening.length
    if (value.includes(opening, start)) return undefined
    const text = value.toString('latin1', start, value.indexOf(quote, start))
    return plainText.test(text) ? text : undefined
  }

  /** The bytes of `spec`, if it is this object's spec and its position is known. */
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
    if (!this.#spec || own.spec !== object.spec || own.apiVersion !== object.apiVersion || own.kind !== object.kind)
      return undefined
    if (!isSameButForVersion(own.metadata, object.metadata)) return undefined
    const { metadataLength } = this.#head
    const restFrom = metadataLength + (this.#hasOwnersInside ? memberLength(this.owners) : 0)
    const rest = this.#value.subarray(restFrom, this.#value.length - this.#spec.tail)
    return { pieces: [this.#value.subarray(0, metadataLength), rest], specLength: this.#spec.length }
  }

  /** The bytes of metadata, if their position is known. */
  get metadataBytes(): Buffer | undefined {
    if (!this.#spec) return undefined
    const { bytes } = this
    return bytes.subarray(
      this.#head.metadataLength - 1,
      bytes.length - this.#spec.tail - this.#spec.length - specOpening.length,
    )
  }

  /** The object for untrusted readers, frozen on first access. */
  get frozen(): KubeObject {
    return deepFreeze(this.object)
  }

  /** The length of the item's bytes after `{`, without version and kind. */
  get itemTailLength(): number {
    return this.size - this.#head.typeLength
  }

  /** Writes these bytes and returns the end position. */
  copyItemTail(to: Buffer, at: number): number {
    this.#readForeign()
    return this.#copy(to, at, this.#head.typeLength)
  }

  /** The watch line of an event for this version, shared by all receivers of the event. */
  watchLine(type: LineType): Buffer {
    return type === this.#type ? this.#lineOfType() : this.#newLine(type)
  }
}

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** True if all members but the resource version are identical. */
function isSameButForVersion(one: ObjectMeta, other: ObjectMeta): boolean {
  const differs = (name: string) =>
    name !== 'resourceVersion' && one[name as keyof ObjectMeta] !== other[name as keyof ObjectMeta]
  for (const name in one) if (differs(name)) return false
  for (const name in other) if (differs(name)) return false
  return true
}

/** Splits an object into the object without managedFields and the owners. */
function splitOwners(object: KubeObject): [KubeObject, PackedOwners] {
  const { managedFields, ...metadata } = object.metadata
  if (!managedFields?.length) return [object, noOwners]
  return [{ ...object, metadata }, packAll(decodeOwners(managedFields, true) ?? [])]
}

/** The wire form of a watch event. */
export const watchLine = (type: string, object: Buffer): Buffer =>
  Buffer.concat([Buffer.from(opening(type)), object, Buffer.from(ending)])
