import { jsonText, objectJson } from '../../api/json/index.ts'
import { type PackedOwners, memberLength, noOwners, writeMember } from '../../api/managed-fields/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { keptBytes, keptPieces, passingBytes } from '../../base/kept-bytes.ts'

/** The bytes between metadata and spec. */
export const specOpening = ',"spec":'

/**
 * The position of the spec in an object's bytes, measured from the end, so that it does not depend on the length of
 * metadata.
 */
export interface SpecPlace {
  length: number
  /** The number of bytes after the spec. */
  tail: number
}

/** An object as it is stored. */
export interface Encoded {
  /** The stored bytes, with managedFields as the first member of metadata. */
  value: Buffer
  /** The bytes without managedFields; the same buffer as `value` if there are none. */
  bare: Buffer
  object: KubeObject
  owners: PackedOwners
  /** Undefined if the position is unknown. */
  spec: SpecPlace | undefined
}

type Bare = Pick<Encoded, 'bare' | 'spec'>

/** The bytes before the status, in two pieces, so that a resource version can be inserted. */
export interface BeforeStatus {
  pieces: readonly [Buffer, Buffer]
  specLength: number
}

/** A source of already encoded parts of an object. */
export interface KnownParts {
  /** The bytes of the spec, if it is the same object as the encoded one. */
  specBytes(spec: unknown): Buffer | undefined
  /** The bytes from the spec to the end, if spec and status are the encoded ones. */
  bytesFromSpec(object: KubeObject): { bytes: Buffer; place: SpecPlace } | undefined
  /** Undefined if any of these parts is not the encoded one. */
  bytesBeforeStatus(object: KubeObject): BeforeStatus | undefined
}

/**
 * Encodes an object without managedFields. Bytes of parts shared with `before` are copied from it. `isValueKept`: the
 * store keeps the value in memory.
 */
export function encodeForStore(
  object: KubeObject,
  owners: PackedOwners = noOwners,
  before?: KnownParts,
  isValueKept = false,
): Encoded {
  const metadata: { resourceVersion?: string | undefined } = object.metadata
  // `delete` would make all later accesses to metadata slow. The version is set again once the revision is known.
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

/** The shape of most objects. */
type Usual = KubeObject & { spec: object; status: object }

const usualMembers = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])

/** True if the object has exactly these members, in any order. */
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

/** The head of an object's bytes, up to the first member of metadata. */
export const headText = (apiVersion: string | undefined, kind: string | undefined): string =>
  `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":{`
