import type { KubeObject } from '../api/object.ts'

/** Where the spec stands in an object's bytes, by what does not move when its metadata grow. */
export interface SpecPlace {
  length: number
  /** How many bytes follow it. */
  tail: number
}

/** An object in the form in which it is stored. */
export interface Encoded {
  value: Buffer
  object: KubeObject
  /** Undefined where it is not known. */
  spec: SpecPlace | undefined
}

/** Whoever may have the bytes of a spec already. */
export interface KnownSpec {
  /** The bytes of this very spec, if it is the one that is known. */
  specBytes(spec: unknown): Buffer | undefined
}

/** Encodes an object. The bytes of a spec that is still the one of `before` are taken from there. */
export function encodeForStore(object: KubeObject, before?: KnownSpec): Encoded {
  const metadata: { resourceVersion?: string | undefined } = object.metadata
  // Not deleted, which would make all of metadata slow: it is set again once the revision is known.
  if (metadata.resourceVersion !== undefined) metadata.resourceVersion = undefined
  if (isUsual(object)) return encodeUsual(object, before)
  return { value: Buffer.from(JSON.stringify(hasMembers(object, firstMembers, true) ? object : inOrder(object))), object, spec: undefined }
}

const firstMembers = ['apiVersion', 'kind', 'metadata']
const usualMembers = [...firstMembers, 'spec', 'status']

/** Whether these are its members in this order, all of them or, if it `goesOn`, the first ones. */
function hasMembers(object: KubeObject, names: readonly string[], goesOn = false): boolean {
  let at = 0
  for (const name in object) {
    if (name !== names[at]) return goesOn && at === names.length
    at++
  }
  return at === names.length
}

/** What most objects are. */
type Usual = KubeObject & { spec: object; status: object }

const isUsual = (object: KubeObject): object is Usual => hasMembers(object, usualMembers) && isObject((object as Usual).spec) && isObject((object as Usual).status)

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

const inOrder = ({ apiVersion, kind, metadata, ...rest }: KubeObject) => ({ apiVersion, kind, metadata, ...rest })

function encodeUsual(object: Usual, before: KnownSpec | undefined): Encoded {
  const { apiVersion, kind, metadata, spec, status } = object
  const opening = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},"metadata":${JSON.stringify(metadata)},"spec":`
  const ending = `,"status":${JSON.stringify(status)}}`
  const tail = Buffer.byteLength(ending)
  const known = before?.specBytes(spec)
  if (!known) {
    const specText = JSON.stringify(spec)
    return { value: Buffer.from(opening + specText + ending), object, spec: { length: Buffer.byteLength(specText), tail } }
  }
  const value = Buffer.allocUnsafe(Buffer.byteLength(opening) + known.length + tail)
  let at = value.write(opening)
  at += known.copy(value, at)
  value.write(ending, at)
  return { value, object, spec: { length: known.length, tail } }
}
