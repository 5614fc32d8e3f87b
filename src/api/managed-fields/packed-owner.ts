import type { FieldSet } from './field-set.ts'
import { type Manager, type Operation, type Owner, compareOwners, isSameEntry } from './managers.ts'

/**
 * Path elements with values of a single object, such as `k:{"ip":"10.0.0.7"}` of podIPs. Sets of many objects differ in
 * nothing else. Only the text inside quotes is cut out, so the pattern matches the JSON text of a set.
 */
const ownValues = /(?<=\{\\"(?:ip|uid)\\":\\")[\w.:-]+(?=\\"\})/g

/** An entry of managedFields without its time and object-specific values. Objects share it. */
class Shape implements Manager {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  readonly subresource: string
  /** The JSON text of the set, split at the object-specific values. */
  readonly texts: readonly string[]
  /** The entry's JSON before its time and after it, split as `texts`. */
  readonly opening: Buffer
  readonly pieces: readonly Buffer[]
  /** Bytes of `opening` and `pieces`. */
  readonly length: number
  /** Recently created sets, by their values. */
  readonly #lately = new Map<string, FieldSet>()

  constructor({ manager, operation, apiVersion, subresource }: Manager, texts: readonly string[]) {
    this.manager = manager
    this.operation = operation
    this.apiVersion = apiVersion
    this.subresource = subresource
    this.texts = texts
    this.opening = Buffer.from(
      `{"manager":${JSON.stringify(manager)},"operation":"${operation}","apiVersion":${JSON.stringify(apiVersion)}`,
    )
    const ending = subresource ? `,"subresource":${JSON.stringify(subresource)}}` : '}'
    const isLast = (i: number) => i === texts.length - 1
    this.pieces = texts.map((text, i) => Buffer.from((i === 0 ? setOpening : '') + text + (isLast(i) ? ending : '')))
    this.length = this.pieces.reduce((sum, piece) => sum + piece.length, this.opening.length)
  }

  /** The set with these values. Consecutive calls with equal values return the same set. */
  fields(values: readonly string[]): FieldSet {
    const name = values.join()
    let set = this.#lately.get(name)
    if (set) return set
    if (this.#lately.size >= maxLately) this.#lately.clear()
    this.#lately.set(name, (set = JSON.parse(this.text(values)) as FieldSet))
    packings.set(set, [{ shape: this, values }])
    return set
  }

  /** The JSON text of the set with these values. */
  text(values: readonly string[]): string {
    let text = this.texts[0]!
    for (const [i, value] of values.entries()) text += value + this.texts[i + 1]!
    return text
  }
}

const setOpening = ',"fieldsType":"FieldsV1","fieldsV1":'
const maxLately = 16

const timeOpening = ',"time":"'
const timeLength = timeOpening.length + '"'.length

/**
 * An owner as stored with each version of an object. Common parts are shared. A pod's managedFields are 1.6 to 4 KB of
 * JSON, and about 100 bytes as two packed owners.
 */
export class PackedOwner implements Owner {
  readonly #shape: Shape
  readonly #values: readonly string[]
  readonly time: string | undefined

  constructor(shape: Shape, values: readonly string[], time: string | undefined) {
    this.#shape = shape
    this.#values = values
    this.time = time
  }

  get manager(): string {
    return this.#shape.manager
  }

  get operation(): Operation {
    return this.#shape.operation
  }

  get apiVersion(): string {
    return this.#shape.apiVersion
  }

  get subresource(): string {
    return this.#shape.subresource
  }

  get fields(): FieldSet {
    return this.#shape.fields(this.#values)
  }

  /** True for the same manager with the same fields, ignoring the time. */
  isSameButForTime(other: PackedOwner): boolean {
    if (!isSameEntry(this, other)) return false
    if (this.#shape === other.#shape) return this.#values.every((value, i) => value === other.#values[i])
    return this.#shape.text(this.#values) === other.#shape.text(other.#values)
  }

  /** The length of the entry's JSON in bytes. */
  get length(): number {
    let length = this.#shape.length + (this.time === undefined ? 0 : timeLength + this.time.length)
    for (const value of this.#values) length += value.length
    return length
  }

  /** Writes the entry's JSON and returns its end. */
  write(to: Buffer, start: number): number {
    const { opening, pieces } = this.#shape
    let at = start + opening.copy(to, start)
    if (this.time !== undefined) at += to.write(`${timeOpening}${this.time}"`, at, 'latin1')
    for (const [i, piece] of pieces.entries()) {
      if (i > 0) at += to.write(this.#values[i - 1]!, at, 'latin1')
      at += piece.copy(to, at)
    }
    return at
  }
}

/** Shapes by their text. Bounded, so that requests cannot exhaust memory; dropping a shape only reduces sharing. */
const shapes = new Map<string, Shape>()
const maxShapes = 4096
const longText = 16_384

interface Packing {
  readonly shape: Shape
  readonly values: readonly string[]
}

/** Packed owners by the identity of their set, one per manager. */
const packings = new WeakMap<FieldSet, Packing[]>()

const none: readonly string[] = []

/** Packs an owner. */
function pack(owner: Owner): PackedOwner {
  if (owner instanceof PackedOwner) return owner
  let known = packings.get(owner.fields)
  let packing = known?.find(({ shape }) => isSameEntry(shape, owner))
  if (!packing) {
    const text = JSON.stringify(owner.fields)
    const values = text.match(ownValues) ?? none
    packing = { shape: sharedShape(owner, values.length ? text.split(ownValues) : [text]), values }
    if (!known) packings.set(owner.fields, (known = []))
    known.push(packing)
  }
  return new PackedOwner(packing.shape, packing.values, owner.time)
}

function sharedShape(by: Manager, texts: readonly string[]): Shape {
  const name = JSON.stringify([by.manager, by.operation, by.apiVersion, by.subresource, ...texts])
  const known = shapes.get(name)
  if (known) return known
  const shape = new Shape(by, texts)
  if (name.length > longText) return shape
  if (shapes.size >= maxShapes) shapes.clear()
  shapes.set(name, shape)
  return shape
}

/** The owners of one version of an object in the order of managedFields. Immutable. */
export type PackedOwners = readonly PackedOwner[]

export const noOwners: PackedOwners = Object.freeze([])

/** Packs owners, in Kubernetes' order: applies first, then by time and name. */
export const packAll = (owners: readonly Owner[]): PackedOwners =>
  owners.length === 0 ? noOwners : owners.map(pack).sort(compareOwners)

const memberOpening = '"managedFields":['
const memberEnding = '],'

/** The length of managedFields as a member of metadata, with its comma; 0 without owners. */
export function memberLength(owners: PackedOwners): number {
  if (owners.length === 0) return 0
  let length = memberOpening.length + memberEnding.length + owners.length - 1
  for (const owner of owners) length += owner.length
  return length
}

/** Writes managedFields as a member of metadata with a trailing comma, and returns its end. */
export function writeMember(owners: PackedOwners, to: Buffer, start: number): number {
  if (owners.length === 0) return start
  let at = start + to.write(memberOpening, start, 'latin1')
  for (const [i, owner] of owners.entries()) {
    if (i > 0) at += to.write(',', at, 'latin1')
    at = owner.write(to, at)
  }
  return at + to.write(memberEnding, at, 'latin1')
}

/** True if two lists of owners differ only in their times. */
export function isSameButForTimes(a: PackedOwners, b: PackedOwners): boolean {
  if (a === b) return true
  return (
    a.length === b.length &&
    a.every((owner, i) => owner.isSameButForTime(b[i]!) || b.some((other) => owner.isSameButForTime(other)))
  )
}
