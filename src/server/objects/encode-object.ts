import { jsonText, objectJson } from '../../api/json/index.ts'
import { type PackedOwners, memberLength, noOwners, writeMember } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { keptBytes, keptPieces, passingBytes } from './kept-bytes.ts'

/** What stands between metadata and spec. */
export const specOpening = ',"spec":'

/** Where the spec stands in an object's bytes, by what does not move when its metadata grow. */
export interface SpecPlace {
  length: number
  /** How many bytes follow it. */
  tail: number
}

/** An object in the form in which it is stored. */
export interface Encoded {
  /** The bytes for the store, with managedFields as metadata's first member. */
  value: Buffer
  /** The same without managedFields; `value` itself where nobody manages anything. */
  bare: Buffer
  object: KubeObject
  owners: PackedOwners
  /** Undefined where it is not known. */
  spec: SpecPlace | undefined
}

type Bare = Pick<Encoded, 'bare' | 'spec'>

/** All that is stored before the status, in two pieces: a resource version may stand between them. */
export interface BeforeStatus {
  pieces: readonly [Buffer, Buffer]
  specLength: number
}

/** Whoever may have the bytes of an object's parts already. */
export interface KnownParts {
  /** The bytes of this very spec, if it is the one that is known. */
  specBytes(spec: unknown): Buffer | undefined
  /** The bytes from the spec to the end, if both spec and status are those that are known. */
  bytesFromSpec(object: KubeObject): { bytes: Buffer; place: SpecPlace } | undefined
  /** Undefined if anything of it is another than what is known. */
  bytesBeforeStatus(object: KubeObject): BeforeStatus | undefined
}

/** Encodes an object, which has no managedFields of its own. The bytes of parts that are still those of `before` are taken from there. `isValueKept`: the store keeps the value in memory. */
export function encodeForStore(object: KubeObject, owners: PackedOwners = noOwners, before?: KnownParts, isValueKept = false): Encoded {
  const metadata: { resourceVersion?: string | undefined } = object.metadata
  // Not deleted, which would make all of metadata slow: it is set again once the revision is known.
  if (metadata.resourceVersion !== undefined) metadata.resourceVersion = undefined
  const { bare, spec } = encodeBare(object, before)
  return { value: withOwners(bare, object, owners, isValueKept), bare, object, owners, spec }
}

function encodeBare(object: KubeObject, before: KnownParts | undefined): Bare {
  if (isUsual(object)) return encodeUsual(object, before)
  const { apiVersion, kind, metadata, ...rest } = object
  return { bare: keptPieces(objectJson({ apiVersion, kind, metadata, ...rest })), spec: undefined }
}

function withOwners(bare: Buffer, { apiVersion, kind }: KubeObject, owners: PackedOwners, isKept: boolean): Buffer {
  if (owners.length === 0) return bare
  const place = Buffer.byteLength(headText(apiVersion, kind))
  const length = bare.length + memberLength(owners)
  const value = isKept ? keptBytes(length) : passingBytes(length)
  const at = writeMember(owners, value, bare.copy(value, 0, 0, place))
  bare.copy(value, at, place)
  return value
}

/** What most objects are. */
type Usual = KubeObject & { spec: object; status: object }

const usualMembers = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])

/** Whether it has these members and no other, in whatever order. */
function isUsual(object: KubeObject): object is Usual {
  for (const name in object) if (!usualMembers.has(name)) return false
  return isObject((object as Usual).spec) && isObject((object as Usual).status)
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

function encodeUsual(object: Usual, before: KnownParts | undefined): Bare {
  const { spec, status } = object
  const from = before?.bytesFromSpec(object)
  if (from) return { bare: keptPieces(openingOf(object), from.bytes), spec: from.place }
  const ending = `,"status":${jsonText(status)}}`
  const tail = Buffer.byteLength(ending)
  const same = before?.bytesBeforeStatus(object)
  if (same) return { bare: keptPieces(...same.pieces, ending), spec: { length: same.specLength, tail } }
  const opening = openingOf(object)
  const known = before?.specBytes(spec)
  if (known) return { bare: keptPieces(opening, known, ending), spec: { length: known.length, tail } }
  const specText = jsonText(spec)
  return { bare: keptPieces(opening + specText + ending), spec: { length: Buffer.byteLength(specText), tail } }
}

const openingOf = ({ apiVersion, kind, metadata }: Usual): string =>
  `${headText(apiVersion, kind)}${jsonText(metadata).slice(1)}${specOpening}`

/** How an object's bytes begin, up to its first member of metadata. */
export const headText = (apiVersion: string | undefined, kind: string | undefined): string =>
  `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`
