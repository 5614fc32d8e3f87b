import { jsonText } from '../../../api/json/index.ts'
import { withManagedFields } from '../../../api/managed-fields/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type Turns, endlessTurn, inSlices } from '../../../base/turns.ts'
import {
  type ListMeta,
  asPartialMetadata,
  asPartialMetadataList,
  isAList,
  isNotAList,
  partialMetadataBytes,
} from '../../answers/partial-metadata.ts'
import type { Registered } from '../../registry/registry.ts'
import { type Tabular, listKindOf } from '../../registry/resource.ts'
import type { Result } from '../../requests/request.ts'
import type { StoredObject } from '../../objects/stored-object.ts'
import { includeObjectOf, objectTable, scaleTabular, tableRows, toTable } from '../../answers/table.ts'
import { type Body, wholeBody } from '../exchange/exchange.ts'
import { type LongList, listBytes, listWriter } from './list-text.ts'
import type { Accepted } from './negotiate.ts'
import { type WriteYaml, yamlText } from './yaml-text.ts'

/** An encoded response. */
interface Encoded {
  code: number
  contentType: string
  body: Body
}

type Immediate = Exclude<Result, { kind: 'watch' | 'relay' }>

/** The object in the requested version, without managedFields. */
export const present = (target: Registered, stored: StoredObject): KubeObject =>
  target.resource.storedAs ? target.resource.storedAs.fromStored(stored.object) : stored.object

/** The object as clients see it, with managedFields. */
export const presentWhole = (target: Registered, stored: StoredObject): KubeObject =>
  withManagedFields(present(target, stored), stored.owners)

/** The object of a table row. Metadata in rows has no managedFields. */
export const presentRow = (target: Registered, stored: StoredObject, includeObject: string): KubeObject =>
  includeObject === 'Object' ? presentWhole(target, stored) : present(target, stored)

type Listed = Extract<Result, { kind: 'list' }>

interface EncodeOptions {
  /** The turns of a long list. Default: one turn. */
  turns?: Turns | undefined
  /** Writes YAML. Default: on the main thread. */
  writeYaml?: WriteYaml
}

/** Encodes a result in the negotiated form. A long list is encoded in slices. */
export async function encodeResult(
  result: Immediate,
  accepted: Accepted,
  query: URLSearchParams,
  now: number,
  pretty: boolean,
  { turns = endlessTurn, writeYaml = yamlText }: EncodeOptions = {},
): Promise<Encoded> {
  if (result.kind === 'text')
    return { code: result.code, contentType: 'text/plain', body: wholeBody(Buffer.from(result.text)) }
  const code = result.kind === 'list' ? 200 : result.code
  const { contentType, transform, format } = accepted
  if (result.kind === 'list' && result.items.length > 0) {
    if (format === 'json' && !pretty && !transform && !result.target.resource.storedAs) {
      return { code, contentType, body: await listBody(result, turns) }
    }
    const list = longList(result, transform, query, now)
    const pieces = listBytes(list, await listWriter(list, format, pretty, writeYaml), turns)
    return { code, contentType, body: await wholeIfShort(pieces) }
  }
  const bytes = format === 'json' && !pretty ? fromBytes(result, transform) : undefined
  if (bytes) return { code, contentType, body: bytes }
  const value = transform ? transformed(result, transform, query, now) : plainValue(result)
  const text = format === 'yaml' ? await writeYaml(value) : pretty ? `${jsonText(value, 2)}\n` : `${jsonText(value)}\n`
  return { code, contentType, body: wholeBody(Buffer.from(text)) }
}

/** A body in one piece is sent with its length. */
async function wholeIfShort(pieces: AsyncIterableIterator<Buffer>): Promise<Body> {
  const first = await pieces.next()
  const second = await pieces.next()
  if (second.done) return wholeBody(first.value as Buffer)
  return { length: undefined, pieces: continued([first.value as Buffer, second.value], pieces) }
}

async function* continued(begun: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncIterableIterator<Buffer> {
  yield* begun
  yield* rest
}

/** A list in the negotiated form, whose items are generated on demand. */
function longList(result: Listed, to: Accepted['transform'], query: URLSearchParams, now: number): LongList {
  const { target, items, meta } = result
  if (to?.kind === 'PartialObjectMetadata') throw isAList(target.resource)
  if (!to)
    return {
      frame: plainValue({ ...result, items: [] }),
      member: 'items',
      items: each(items, (i) => itemOf(target, i)),
    }
  const { version } = to
  if (to.kind === 'Table') {
    const options = { now, version, includeObject: includeObjectOf(query), listMeta: meta }
    const frame = { ...toTable(target.resource, [], options), rows: [] }
    return {
      frame,
      member: 'rows',
      items: tableRows(
        target.resource,
        each(items, (i) => presentRow(target, i, options.includeObject)),
        options,
      ),
    }
  }
  const frame = { ...asPartialMetadataList([], meta, version), items: [] }
  return { frame, member: 'items', items: each(items, (i) => asPartialMetadata(presentWhole(target, i), version)) }
}

function* each<T, R>(items: Iterable<T>, make: (item: T) => R): Iterable<R> {
  for (const item of items) yield make(item)
}

/** The hot path: stored bytes, or a part of them, are sent unchanged. Undefined if the result has to be encoded. */
function fromBytes(result: Exclude<Immediate, { kind: 'text' }>, transform: Accepted['transform']): Body | undefined {
  if (!transform) return plainJson(result)
  if (transform.kind !== 'PartialObjectMetadata' || result.kind !== 'stored' || result.target.resource.storedAs)
    return undefined
  const { metadataBytes } = result.stored
  return metadataBytes && wholeBody(partialMetadataBytes(metadataBytes, transform.version))
}

function plainJson(result: Exclude<Immediate, { kind: 'text' }>): Body {
  if (result.kind === 'stored') {
    if (!result.target.resource.storedAs) return wholeBody(result.stored.bytes)
    return wholeBody(Buffer.from(jsonText(presentWhole(result.target, result.stored))))
  }
  if (result.kind === 'value') return wholeBody(Buffer.from(`${jsonText(result.value)}\n`))
  return wholeBody(Buffer.from(`${jsonText(plainValue(result))}\n`))
}

const firstItem = Buffer.from('{')
const nextItem = Buffer.from(',{')
const listEnd = Buffer.from(']}\n')
/**
 * Copying items into pieces is cheaper than writing thousands of small buffers. A larger piece would delay other
 * requests.
 */
const pieceBytes = 1 << 18

/** The bytes of a list. Stored items are immutable, so pieces can be assembled when the client is ready for them. */
async function listBody({ target, items, meta }: Listed, turns: Turns): Promise<Body> {
  const head = Buffer.from(
    `{"kind":"${listKindOf(target.resource)}","apiVersion":"${target.apiVersion}","metadata":${jsonText(listMeta(target, meta))},"items":[`,
  )
  let length = head.length + listEnd.length + items.length * nextItem.length - (nextItem.length - firstItem.length)
  // Objects that have not been read yet are encoded here.
  await inSlices(turns, items, (item) => (length += item.itemTailLength))
  const pieces = listPieces(head, items)
  return { length, pieces: length > pieceBytes ? inTurns(pieces, turns) : pieces }
}

/** Yields pieces as turns are available, because there may be many such lists at once. */
async function* inTurns(pieces: Iterable<Buffer>, turns: Turns): AsyncIterableIterator<Buffer> {
  for (const piece of pieces) {
    if (turns.isSpent) await turns.next()
    yield piece
  }
}

function* listPieces(head: Buffer, items: readonly StoredObject[]): IterableIterator<Buffer> {
  let from = 0
  let size = head.length
  for (const [i, item] of items.entries()) {
    size += item.itemTailLength + (i === 0 ? firstItem : nextItem).length
    if (size < pieceBytes) continue
    yield listPiece(head, items, from, i + 1, size)
    from = i + 1
    size = 0
  }
  yield listPiece(head, items, from, items.length, size)
  yield listEnd
}

/** The bytes of a range of items. The first piece starts with the list's head. */
function listPiece(head: Buffer, items: readonly StoredObject[], from: number, to: number, size: number): Buffer {
  const piece = Buffer.allocUnsafe(size)
  let at = from === 0 ? head.copy(piece) : 0
  for (let i = from; i < to; i++) {
    at += (i === 0 ? firstItem : nextItem).copy(piece, at)
    at = items[i]!.copyItemTail(piece, at)
  }
  return piece
}

/** List items have no apiVersion and kind, except for custom resources. */
function itemOf(target: Registered, stored: StoredObject): object {
  const { apiVersion, kind, ...rest } = presentWhole(target, stored)
  return target.resource.isCustom ? { apiVersion, kind, ...rest } : rest
}

/** Lists of custom resources always contain `continue`. */
const listMeta = ({ resource }: Registered, meta: ListMeta): ListMeta =>
  resource.isCustom ? { continue: '', ...meta } : meta

function plainValue(result: Exclude<Immediate, { kind: 'text' }>): object {
  if (result.kind === 'stored') return presentWhole(result.target, result.stored)
  if (result.kind === 'value') return result.value
  const { target, items, meta } = result
  return {
    kind: listKindOf(target.resource),
    apiVersion: target.apiVersion,
    metadata: listMeta(target, meta),
    items: items.map((i) => itemOf(target, i)),
  }
}

interface ValueList {
  metadata: ListMeta
  items: KubeObject[]
}

function transformedList(
  { items, metadata }: ValueList,
  tabular: Tabular,
  { kind, version }: NonNullable<Accepted['transform']>,
  query: URLSearchParams,
  now: number,
): object {
  if (kind === 'Table')
    return toTable(tabular, items, { now, version, includeObject: includeObjectOf(query), listMeta: metadata })
  return asPartialMetadataList(items, metadata, version)
}

function transformed(
  result: Exclude<Immediate, { kind: 'text' }>,
  to: NonNullable<Accepted['transform']>,
  query: URLSearchParams,
  now: number,
): object {
  const { version } = to
  if (result.kind === 'value') {
    const value = result.value as KubeObject
    if (value.kind === 'Status') return value
    if ('items' in value) return transformedList(value as unknown as ValueList, result.resource ?? {}, to, query, now)
    if (to.kind === 'Table')
      return objectTable(result.resource ?? scaleTabular, value, {
        now,
        version,
        includeObject: includeObjectOf(query),
      })
    return asPartialMetadata(value, version)
  }
  const { resource } = result.target
  if (result.kind === 'stored') {
    const { target, stored } = result
    const includeObject = includeObjectOf(query)
    if (to.kind === 'Table')
      return objectTable(resource, presentRow(target, stored, includeObject), { now, version, includeObject })
    if (to.kind === 'PartialObjectMetadataList') throw isNotAList(resource)
    return asPartialMetadata(presentWhole(target, stored), version)
  }
  const { target, items, meta } = result
  if (to.kind === 'Table') {
    const includeObject = includeObjectOf(query)
    return toTable(
      resource,
      items.map((i) => presentRow(target, i, includeObject)),
      { now, version, includeObject, listMeta: meta },
    )
  }
  if (to.kind === 'PartialObjectMetadata') throw isAList(resource)
  return asPartialMetadataList(
    items.map((i) => presentWhole(target, i)),
    meta,
    version,
  )
}
