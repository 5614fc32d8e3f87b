import { beforeAll, describe, expect, it } from 'vitest'
import type { Turns } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import { ServerTrial } from '../../server-trial.ts'
import { encodeForStore } from '../../objects/encode-object.ts'
import { StoredObject } from '../../objects/stored-object.ts'
import { encodeResult } from './encode.ts'
import { type Accepted, collection, negotiate, oneObject } from './negotiate.ts'
import { yamlText } from './yaml-text.ts'

let configMaps: Registered
let events: Registered

beforeAll(async () => {
  const { registry } = (await ServerTrial.open()).parts
  configMaps = registry.find('v1', 'configmaps')!
  events = registry.find('events.k8s.io/v1', 'events')!
})

const json: Accepted = { format: 'json', contentType: 'application/json', pretty: false }
const stored = (target: Registered, object: object) => StoredObject.unread('/k', 5, encodeForStore(object as never).value, target.storage.head, undefined)
const configMap = (name: string, data?: object) => stored(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...(data ? { data } : {}) })
const meta = { resourceVersion: '9', continue: 'abc', remainingItemCount: 3 }

async function encoded(result: Parameters<typeof encodeResult>[0], accepted = json, pretty = false) {
  const { code, contentType, body } = await encodeResult(result, accepted, new URLSearchParams(), 0, pretty)
  const pieces: Buffer[] = []
  for await (const piece of body.pieces) pieces.push(piece)
  const bytes = Buffer.concat(pieces)
  if (body.length !== undefined) expect(bytes.length).toBe(body.length)
  return { code, contentType, text: bytes.toString(), pieces: pieces.length, length: body.length }
}

describe('encodeResult()', () => {
  it('sends a stored object as it is stored', async () => {
    const one = configMap('a')
    const { code, text } = await encoded({ kind: 'stored', code: 201, target: configMaps, stored: one })
    expect([code, text]).toEqual([201, one.bytes.toString()])
  })

  it('sends a list with what it says about itself, and items without version and kind', async () => {
    const { text } = await encoded({ kind: 'list', target: configMaps, items: [configMap('a', { x: 'é' }), configMap('b')], meta })
    expect(JSON.parse(text)).toEqual({
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: meta,
      items: [{ metadata: { name: 'a', resourceVersion: '5' }, data: { x: 'é' } }, { metadata: { name: 'b', resourceVersion: '5' } }],
    })
  })

  it('sends an empty list', async () => {
    expect(JSON.parse((await encoded({ kind: 'list', target: configMaps, items: [], meta: { resourceVersion: '1' } })).text)).toMatchObject({ items: [] })
  })

  it('sends a long list in pieces, which together are the list', async () => {
    const items = Array.from({ length: 50 }, (_, i) => configMap(`o-${i}`, { x: 'ü'.repeat(50_000) }))
    const { text, pieces } = await encoded({ kind: 'list', target: configMaps, items, meta })
    expect(pieces).toBeGreaterThan(3)
    expect((JSON.parse(text) as { items: unknown[] }).items).toHaveLength(50)
  })

  it('makes the pieces of a list only as they are asked for', async () => {
    const items = Array.from({ length: 50 }, (_, i) => configMap(`o-${i}`, { x: 'u'.repeat(100_000) }))
    const { body } = await encodeResult({ kind: 'list', target: configMaps, items, meta }, json, new URLSearchParams(), 0, false)
    const first = (await (body.pieces as AsyncIterable<Buffer>)[Symbol.asyncIterator]().next()).value as Buffer
    expect(first.length).toBeLessThan(400_000)
  })

  it('shows objects in the version that was asked for, alone and in lists', async () => {
    const event = stored(events, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: {}, message: 'hello' })
    const one = await encoded({ kind: 'stored', code: 200, target: events, stored: event })
    expect(JSON.parse(one.text)).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'hello' })
    const list = await encoded({ kind: 'list', target: events, items: [event], meta })
    expect(JSON.parse(list.text)).toMatchObject({ kind: 'EventList', apiVersion: 'events.k8s.io/v1', items: [{ note: 'hello' }] })
  })

  it('sends text as text, and values as JSON with a line end', async () => {
    expect(await encoded({ kind: 'text', code: 200, text: 'log' })).toMatchObject({ contentType: 'text/plain', text: 'log' })
    expect((await encoded({ kind: 'value', code: 200, value: { a: 1 } })).text).toBe('{"a":1}\n')
  })

  it('breaks lines for people', async () => {
    expect((await encoded({ kind: 'value', code: 200, value: { a: 1 } }, json, true)).text).toBe('{\n  "a": 1\n}\n')
  })

  it('writes YAML', async () => {
    const { text, contentType } = await encoded({ kind: 'stored', code: 200, target: configMaps, stored: configMap('a') }, negotiate('application/yaml', oneObject))
    expect([contentType, text]).toEqual(['application/yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  resourceVersion: "5"\n'])
  })

  it.each([
    ['Table', oneObject, () => ({ kind: 'stored' as const, code: 200, target: configMaps, stored: configMap('a') }), 'Table'],
    ['Table', collection, () => ({ kind: 'list' as const, target: configMaps, items: [configMap('a')], meta }), 'Table'],
    ['PartialObjectMetadata', oneObject, () => ({ kind: 'stored' as const, code: 200, target: configMaps, stored: configMap('a') }), 'PartialObjectMetadata'],
    ['PartialObjectMetadataList', collection, () => ({ kind: 'list' as const, target: configMaps, items: [configMap('a')], meta }), 'PartialObjectMetadataList'],
    ['Table', oneObject, () => ({ kind: 'value' as const, code: 200, value: { kind: 'Status', metadata: {} } }), 'Status'],
  ])('turns an answer into a %s', async (as, allowed, result, kind) => {
    const { text } = await encoded(result(), negotiate(`application/json;as=${as};v=v1;g=meta.k8s.io`, allowed))
    expect((JSON.parse(text) as { kind: string }).kind).toBe(kind)
  })

  it.each([
    ['PartialObjectMetadata', () => ({ kind: 'list' as const, target: configMaps, items: [], meta }), /is a list/],
    ['PartialObjectMetadataList', () => ({ kind: 'stored' as const, code: 200, target: configMaps, stored: configMap('a') }), /is not a list/],
  ])('refuses %s where it cannot be', async (as, result, why) => {
    const accepted = negotiate(`application/json;as=${as};v=v1;g=meta.k8s.io`, collection)
    await expect(encodeResult(result(), accepted, new URLSearchParams(), 0, false)).rejects.toMatchObject({ code: 406, message: expect.stringMatching(why) as string })
  })
})

/** Each turn is spent by the first who asks. */
function spentTurns(): Turns & { taken: number } {
  return {
    taken: 0,
    isSpent: true,
    async next() {
      this.taken++
    },
  }
}

const forms: [string, string, boolean][] = [
  ['JSON', 'application/json', false],
  ['JSON for people', 'application/json', true],
  ['YAML', 'application/yaml', false],
  ['a table', 'application/json;as=Table;v=v1;g=meta.k8s.io', false],
  ['a table in YAML', 'application/yaml;as=Table;v=v1;g=meta.k8s.io', false],
  ['metadata', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', false],
]

describe('a long list', () => {
  const all = (count: number) => Array.from({ length: count }, (_, i) => configMap(`o-${i}`, { x: `ü\n- items: []\n${'y'.repeat(400)}` }))

  it.each(forms)('as %s is encoded in slices', async (_, accept, pretty) => {
    const turns = spentTurns()
    const { body } = await encodeResult({ kind: 'list', target: configMaps, items: all(1000), meta }, negotiate(accept, collection), new URLSearchParams(), 0, pretty, { turns })
    for await (const piece of body.pieces) expect(piece.length).toBeLessThan(1_500_000)
    expect(turns.taken).toBeGreaterThanOrEqual(62) // one in sixteen items at least
  })

  it.each(forms)('as %s says the same in pieces as in one', async (_, accept, pretty) => {
    const accepted = negotiate(accept, collection)
    const items = all(5)
    const long = (await encoded({ kind: 'list', target: configMaps, items: Array.from({ length: 1500 }, (_, i) => items[i % 5]!), meta }, accepted, pretty)).text
    const short = await encoded({ kind: 'list', target: configMaps, items, meta }, accepted, pretty)
    expect(short.length).toBeDefined()
    const value = await read(accept, short.text)
    expect(await read(accept, long)).toEqual({ ...value, ...repeated(value, 300) })
    if (accept === 'application/json' && pretty) expect(short.text).toBe(`${JSON.stringify(value, null, 2)}\n`)
    if (accept.includes('yaml')) expect(short.text).toBe(await yamlText(value))
  })

  it('of another version of its kind, too', async () => {
    const event = stored(events, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: {}, message: 'hello'.repeat(100) })
    const { text, length } = await encoded({ kind: 'list', target: events, items: Array.from({ length: 3000 }, () => event), meta })
    expect([(JSON.parse(text) as { items: unknown[] }).items.length, length]).toEqual([3000, undefined])
  })
})

type Value = Record<string, unknown[]>

const read = async (accept: string, text: string): Promise<Value> =>
  accept.includes('yaml') ? ((await import('yaml')).parse(text, { version: '1.1' }) as Value) : (JSON.parse(text) as Value)

/** The list within a value, so many times. */
function repeated(value: Value, times: number): Value {
  const member = 'rows' in value ? 'rows' : 'items'
  return { [member]: Array.from({ length: times }, () => value[member]!).flat() }
}
