import { beforeEach, describe, expect, it } from 'vitest'
import type { StoreEvent } from '../../store/index.ts'
import type { CacheEvent } from './cache-listeners.ts'
import { ResourceCache } from './resource-cache.ts'
import { type Encoded, encodeForStore } from './encode-object.ts'
import { headOf, parseObject } from './stored-object.ts'

const head = headOf('v1', 'ConfigMap')
const prefix = '/registry/configmaps/'
const value = (name: string, x: string) => encodeForStore({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x } } as never).value
const put = (name: string, revision: number, x = '', previous?: StoreEvent['previous']): StoreEvent => ({ type: 'put', key: prefix + name, revision, value: value(name, x), createRevision: revision, previous })
const removal = (name: string, revision: number, previous = { key: prefix + name, value: value(name, ''), revision: 1, createRevision: 1 }): StoreEvent => ({ type: 'delete', key: prefix + name, revision, previous })
const shown = ({ type, object, previous }: CacheEvent) => `${type} ${object.object.metadata.name}@${object.revision}${previous ? ` was ${previous.revision}` : ''}`

/** All that these tests load was written before. */
const foreign = { upTo: 10, ownMark: undefined, read: parseObject }

let cache: ResourceCache
let told: string[][]

beforeEach(() => {
  cache = new ResourceCache(prefix, head, new WeakMap(), foreign)
  told = []
})

describe('ResourceCache', () => {
  it('keeps what is current, in order, and tells each commit once', () => {
    cache.load({ key: `${prefix}b`, revision: 1, value: value('b', '') })
    cache.listen((events) => told.push(events.map(shown)))
    cache.apply([put('c', 2), put('a', 3)], 3)
    cache.apply([put('b', 4)], 4)
    cache.apply([removal('c', 5)], 5)
    expect(told).toEqual([['ADDED c@2', 'ADDED a@3'], ['MODIFIED b@4 was 1'], ['DELETED c@5 was 2']])
    expect(Array.from(cache.range(prefix), (o) => o.key)).toEqual([`${prefix}a`, `${prefix}b`])
    expect([cache.size, cache.get(`${prefix}c`)]).toEqual([2, undefined])
  })

  it('tells nobody who has stopped listening', () => {
    const stop = cache.listen((events) => told.push(events.map(shown)))
    expect(cache.listeners).toBe(1)
    stop()
    cache.apply([put('a', 1)], 1)
    expect([cache.listeners, told]).toEqual([0, []])
  })

  it('is up to date when it tells', () => {
    cache.listen((_events, revision) => told.push([String(revision), String(cache.size)]))
    cache.apply([put('a', 1), put('b', 2)], 2)
    expect(told).toEqual([['2', '2']])
  })

  it('goes on behind a key', () => {
    for (const [i, name] of ['x/a', 'x/b', 'x/c', 'y/a'].entries()) {
      cache.load({ key: prefix + name, revision: i + 1, value: value(name, '') })
    }
    const page = (after: string, limit?: number) => {
      const { values, behind } = cache.snapshot(`${prefix}x/`, prefix + after, limit)
      return [...values.map((o) => o.key.slice(prefix.length)), behind]
    }
    expect([page('x/a'), page('x/a', 1), page('x/c', 1)]).toEqual([['x/b', 'x/c', 0], ['x/b', 1], [0]])
  })

  it('does not decode what its writer has decoded', () => {
    const encoded = new WeakMap<Buffer, Encoded>()
    const own = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
    cache = new ResourceCache(prefix, head, encoded, foreign)
    const event = put('a', 9)
    const { value } = event as { value: Buffer }
    encoded.set(value, { value, bare: value, object: own, owners: [], spec: undefined })
    cache.apply([event], 9)
    expect(cache.get(`${prefix}a`)!.object).toBe(own)
  })

  it('freezes what it gets if it is told to', () => {
    const encoded = new WeakMap<Buffer, Encoded>()
    cache = new ResourceCache(prefix, head, encoded, foreign, { freezes: true })
    cache.apply([put('a', 9)], 9)
    expect(Object.isFrozen(cache.get(`${prefix}a`)!.object.metadata)).toBe(true)
  })

  it('tells history as it would have told it then', () => {
    cache.load({ key: `${prefix}a`, revision: 3, value: value('a', 'now') })
    const older = { key: `${prefix}a`, value: value('a', 'then'), revision: 1, createRevision: 1 }
    expect(shown(cache.fromHistory(put('a', 1)))).toBe('ADDED a@1')
    expect(shown(cache.fromHistory(put('a', 3, 'now', older)))).toBe('MODIFIED a@3 was 1')
    expect(shown(cache.fromHistory(removal('a', 4, { ...older, revision: 3, value: value('a', 'now') })))).toBe('DELETED a@4 was 3')
  })

  it('has versions read that other processes wrote, and takes its own as they are', () => {
    const read = (bytes: Buffer) => ({ ...parseObject(bytes), data: { x: 'read' } })
    cache = new ResourceCache(prefix, head, new WeakMap(), { ...foreign, read })
    const dataOf = ({ object }: CacheEvent) => (object.object as unknown as { data: { x: string } }).data.x
    const written = value('a', 'as written')
    const then = (revision: number) => ({ key: `${prefix}a`, value: written, revision, createRevision: 1 })
    const historyOf = (event: StoreEvent) => dataOf(cache.fromHistory(event))
    cache.load({ key: `${prefix}a`, revision: 9, value: written })
    const puts = [8, 9, 10, 11].map((revision) => historyOf(put('a', revision, 'as written')))
    expect(puts).toEqual(['read', 'read', 'read', 'as written'])
    expect([10, 11].map((revision) => historyOf(removal('a', 12, then(revision))))).toEqual(['read', 'as written'])
    // Nobody here has encoded it, so that another server on the same store has.
    cache.listen((events) => told.push(events.map(dataOf)))
    cache.apply([put('b', 13, 'as written'), removal('a', 14)], 14)
    expect(told).toEqual([['read', 'read']])
  })

  it('takes versions of this program as they are, whichever process wrote them', () => {
    const read = (bytes: Buffer) => ({ ...parseObject(bytes), data: { x: 'read' } })
    cache = new ResourceCache(prefix, head, new WeakMap(), { ...foreign, ownMark: 7, read })
    const marks = [undefined, 6, 7]
    const written = value('a', 'as written')
    for (const mark of marks) cache.load({ key: `${prefix}${mark}`, revision: 1, value: written, mark })
    const dataOf = (key: string) => (cache.get(prefix + key)!.object as unknown as { data: { x: string } }).data.x
    expect(marks.map((mark) => dataOf(String(mark)))).toEqual(['read', 'read', 'as written'])
    cache.apply(marks.map((mark, i) => ({ ...put(`b${mark}`, 11 + i, 'as written'), mark })), 13)
    expect(marks.map((mark) => dataOf(`b${mark}`))).toEqual(['read', 'read', 'as written'])
  })

  it('shares with history what is still current', () => {
    cache.load({ key: `${prefix}a`, revision: 3, value: value('a', 'now') })
    expect(cache.fromHistory(put('a', 3, 'now')).object).toBe(cache.get(`${prefix}a`))
  })
})
