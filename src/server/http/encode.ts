import { jsonText } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { type ListMeta, asPartialMetadata, asPartialMetadataList, isAList, isNotAList, partialMetadataBytes } from '../partial-metadata.ts'
import type { Registered } from '../registry.ts'
import type { Result } from '../request.ts'
import type { StoredObject } from '../stored-object.ts'
import { type Tabular, includeObjectOf, objectTable, scaleTabular, toTable } from '../table.ts'
import { type Body, wholeBody } from './exchange.ts'
import type { Accepted } from './negotiate.ts'
import { yamlText } from './yaml-text.ts'

/** An answer in its wire form. */
export interface Encoded {
  code: number
  contentType: string
  body: Body
}

type Immediate = Exclude<Result, { kind: 'watch' | 'relay' }>

/** An object as this version of its kind shows it. */
export const present = (target: Registered, stored: StoredObject): KubeObject =>
  target.resource.storedAs ? target.resource.storedAs.fromStored(stored.object) : stored.object

/** Encodes what a verb answered, in the form that was accepted. */
export async function encodeResult(result: Immediate, accepted: Accepted, query: URLSearchParams, now: number, pretty: boolean): Promise<Encoded> {
  if (result.kind === 'text') return { code: result.code, contentType: 'text/plain', body: wholeBody(Buffer.from(result.text)) }
  const code = result.kind === 'list' ? 200 : result.code
  const { contentType } = accepted
  const bytes = accepted.format === 'json' && !pretty ? fromBytes(result, accepted.transform) : undefined
  if (bytes) return { code, contentType, body: bytes }
  const value = accepted.transform ? transformed(result, accepted.transform, query, now) : plainValue(result)
  const text = accepted.format === 'yaml' ? await yamlText(value) : pretty ? `${jsonText(value, 2)}\n` : `${jsonText(value)}\n`
  return { code, contentType, body: wholeBody(Buffer.from(text)) }
}

/** The hot path: stored bytes, or the part of them that was asked for, go out as they are. Undefined where something else has to be made of them. */
function fromBytes(result: Exclude<Immediate, { kind: 'text' }>, transform: Accepted['transform']): Body | undefined {
  if (!transform) return plainJson(result)
  if (transform.kind !== 'PartialObjectMetadata' || result.kind !== 'stored' || result.target.resource.storedAs) return undefined
  const { metadataBytes } = result.stored
  return metadataBytes && wholeBody(partialMetadataBytes(metadataBytes, transform.version))
}

function plainJson(result: Exclude<Immediate, { kind: 'text' }>): Body {
  if (result.kind === 'stored') {
    if (!result.target.resource.storedAs) return wholeBody(result.stored.bytes)
    return wholeBody(Buffer.from(jsonText(present(result.target, result.stored))))
  }
  if (result.kind === 'value') return wholeBody(Buffer.from(`${jsonText(result.value)}\n`))
  const { target, items, meta } = result
  if (target.resource.storedAs) return wholeBody(Buffer.from(jsonText(plainValue(result))))
  const head = `{"kind":"${target.resource.kind}List","apiVersion":"${target.apiVersion}","metadata":${jsonText(meta)},"items":[`
  return listBody(Buffer.from(head), items)
}

const firstItem = Buffer.from('{')
const nextItem = Buffer.from(',{')
const listEnd = Buffer.from(']}\n')
/** Copying items together is cheaper than handing thousands of small pieces to the socket. */
const pieceBytes = 1 << 20

/** A list's bytes. Items are shared and never change, so they can be put together whenever the client is ready for more. */
function listBody(head: Buffer, items: readonly StoredObject[]): Body {
  let length = head.length + listEnd.length
  for (const [i, item] of items.entries()) length += item.itemTail.length + (i === 0 ? firstItem : nextItem).length
  return { length, pieces: listPieces(head, items) }
}

function* listPieces(head: Buffer, items: readonly StoredObject[]): IterableIterator<Buffer> {
  let parts: Buffer[] = [head]
  let size = 0
  for (const [i, item] of items.entries()) {
    const tail = item.itemTail
    parts.push(i === 0 ? firstItem : nextItem, tail)
    size += tail.length + 2
    if (size < pieceBytes) continue
    yield Buffer.concat(parts)
    parts = []
    size = 0
  }
  parts.push(listEnd)
  yield Buffer.concat(parts)
}

const withoutType = ({ apiVersion: _version, kind: _kind, ...rest }: KubeObject) => rest

function plainValue(result: Exclude<Immediate, { kind: 'text' }>): object {
  if (result.kind === 'stored') return present(result.target, result.stored)
  if (result.kind === 'value') return result.value
  const { target, items, meta } = result
  return { kind: `${target.resource.kind}List`, apiVersion: target.apiVersion, metadata: meta, items: items.map((i) => withoutType(present(target, i))) }
}

interface ValueList {
  metadata: ListMeta
  items: KubeObject[]
}

function transformedList({ items, metadata }: ValueList, tabular: Tabular, { kind, version }: NonNullable<Accepted['transform']>, query: URLSearchParams, now: number): object {
  if (kind === 'Table') return toTable(tabular, items, { now, version, includeObject: includeObjectOf(query), listMeta: metadata })
  return asPartialMetadataList(items, metadata, version)
}

function transformed(result: Exclude<Immediate, { kind: 'text' }>, to: NonNullable<Accepted['transform']>, query: URLSearchParams, now: number): object {
  const { version } = to
  if (result.kind === 'value') {
    const value = result.value as KubeObject
    if (value.kind === 'Status') return value
    if ('items' in value) return transformedList(value as unknown as ValueList, result.resource ?? {}, to, query, now)
    if (to.kind === 'Table') return objectTable(result.resource ?? scaleTabular, value, { now, version, includeObject: includeObjectOf(query) })
    return asPartialMetadata(value, version)
  }
  const { resource } = result.target
  if (result.kind === 'stored') {
    const object = present(result.target, result.stored)
    if (to.kind === 'Table') return objectTable(resource, object, { now, version, includeObject: includeObjectOf(query) })
    if (to.kind === 'PartialObjectMetadataList') throw isNotAList(resource)
    return asPartialMetadata(object, version)
  }
  const objects = result.items.map((i) => present(result.target, i))
  if (to.kind === 'Table') return toTable(resource, objects, { now, version, includeObject: includeObjectOf(query), listMeta: result.meta })
  if (to.kind === 'PartialObjectMetadata') throw isAList(resource)
  return asPartialMetadataList(objects, result.meta, version)
}
