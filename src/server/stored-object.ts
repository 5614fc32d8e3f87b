import { deepFreeze } from '../api/json/index.ts'
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import { type BeforeStatus, type Encoded, type KnownParts, type SpecPlace, specOpening } from './encode-object.ts'

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

/** What a dry run has not stored has no revision. */
const versionMember = (revision: number) => (revision === 0 ? '' : `"resourceVersion":"${revision}",`)

/** What an event of a watch says has happened. */
export type LineType = 'ADDED' | 'MODIFIED' | 'DELETED'

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
  /** The line of the event that made this version, which holds the object's bytes: watchers and readers share one copy. */
  readonly #line: Buffer
  readonly #type: LineType
  readonly #head: Head
  #object: KubeObject | undefined
  readonly #spec: SpecPlace | undefined

  private constructor(key: string, revision: number, line: Buffer, type: LineType, head: Head, object: KubeObject | undefined, spec?: SpecPlace) {
    this.key = key
    this.revision = revision
    this.#line = line
    this.#type = type
    this.#head = head
    this.#object = object
    this.#spec = spec
  }

  /** `encoded` is what the value was made of, if that is at hand: its object must not be changed any more. `type` is that of the event most watchers get. */
  static fromStore(key: string, revision: number, value: Buffer, head: Head, encoded?: Encoded, type: LineType = 'ADDED'): StoredObject {
    const object = encoded?.object
    if (object && revision) object.metadata.resourceVersion = String(revision)
    const { metadataLength } = head
    return new StoredObject(key, revision, lineOf(type, value, metadataLength, metadataLength, revision), type, head, object, encoded?.spec)
  }

  /** The same content under another revision: what a deletion's event shows. */
  at(revision: number): StoredObject {
    const start = this.#head.metadataLength
    const line = lineOf('DELETED', this.bytes, start, start + versionMember(this.revision).length, revision)
    const was = this.#object
    // Parts are shared, as nobody changes them.
    const object = was && { ...was, metadata: { ...was.metadata, resourceVersion: String(revision) } }
    return new StoredObject(this.key, revision, line, 'DELETED', this.#head, object)
  }

  /** Length of `bytes`. */
  get size(): number {
    return this.#line.length - openings[this.#type].length - ending.length
  }

  /** The object as clients see it. */
  get bytes(): Buffer {
    return this.#line.subarray(openings[this.#type].length, this.#line.length - ending.length)
  }

  /** The decoded object. Shared: it must not be changed. */
  get object(): KubeObject {
    this.#object ??= JSON.parse(this.bytes.toString()) as KubeObject
    return this.#object
  }

  /** The bytes of `spec`, if it is this object's own, and they are known. */
  specBytes(spec: unknown): Buffer | undefined {
    if (!this.#spec || (this.object as WithParts).spec !== spec) return undefined
    const end = this.#line.length - ending.length - this.#spec.tail
    return this.#line.subarray(end - this.#spec.length, end)
  }

  bytesFromSpec(object: WithParts): { bytes: Buffer; place: SpecPlace } | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.status !== object.status) return undefined
    const end = this.#line.length - ending.length
    return { bytes: this.#line.subarray(end - this.#spec.tail - this.#spec.length, end), place: this.#spec }
  }

  bytesBeforeStatus(object: WithParts): BeforeStatus | undefined {
    const own: WithParts = this.object
    if (!this.#spec || own.spec !== object.spec || own.apiVersion !== object.apiVersion || own.kind !== object.kind) return undefined
    if (!isSameButForVersion(own.metadata, object.metadata)) return undefined
    const { bytes } = this
    const { metadataLength } = this.#head
    const rest = bytes.subarray(metadataLength + versionMember(this.revision).length, bytes.length - this.#spec.tail)
    return { pieces: [bytes.subarray(0, metadataLength), rest], specLength: this.#spec.length }
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

  /** The line of an event about this version; the same one for all who get the event that made it. */
  watchLine(type: LineType): Buffer {
    return type === this.#type ? this.#line : watchLine(type, this.bytes)
  }
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
  // Not from the shared pool: a cached object would keep a whole slab alive.
  const out = Buffer.allocUnsafeSlow(before.length + source.length - (to - from) + member.length + ending.length)
  let at = out.write(before, 'latin1')
  at += source.copy(out, at, 0, from)
  at += out.write(member, at, 'latin1')
  at += source.copy(out, at, to)
  out.write(ending, at, 'latin1')
  return out
}

/** One event of a watch in its wire form. */
export const watchLine = (type: string, object: Buffer): Buffer => Buffer.concat([Buffer.from(opening(type)), object, Buffer.from(ending)])
