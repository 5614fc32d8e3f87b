import { beforeEach, describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { ServerTrial } from '../../server-trial.ts'
import { encodeForStore } from '../../objects/encode-object.ts'
import { StoredObject } from '../../objects/stored-object.ts'
import { type Accepted, negotiate, watchStream } from '../answer/negotiate.ts'
import { type Sink, type WatchChunk, WatchChunks } from './watch-chunks.ts'
import { WatchWriter } from './watch-writer.ts'

const { registry } = (await ServerTrial.open()).parts
const target = registry.find('v1', 'configmaps')!

class TestSink implements Sink {
  readonly chunks: Buffer[] = []
  unread = 0
  isReading = true
  isEnded = false
  resume = () => {}
  write({ lines }: WatchChunk): void {
    this.chunks.push(lines)
    if (!this.isReading) this.unread += lines.length
  }
  backlog(): number {
    return this.unread
  }
  onDrain(resume: () => void): void {
    this.resume = resume
  }
  end(): void {
    this.isEnded = true
  }
  drain(): void {
    this.unread = 0
    this.resume()
  }
  lines(): any[] {
    return Buffer.concat(this.chunks).toString().split('\n').filter(Boolean).map((l) => JSON.parse(l) as unknown)
  }
}

const stored = (name: string, size = 0) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'ns' }, ...(size ? { data: { x: 'x'.repeat(size) } } : {}) }
  return StoredObject.unread(`/${name}`, 5, encodeForStore(object).value, target.head, undefined)
}
const added = (name: string, size?: number) => [{ type: 'ADDED' as const, object: stored(name, size) }]

let clock: VirtualClock
let sink: TestSink
let overruns: number
const chunks = new WatchChunks()

const json: Accepted = { format: 'json', contentType: 'application/json', pretty: false }
const writer = (accepted = json) => new WatchWriter(target, accepted, new URLSearchParams(), sink, { clock, chunks, onOverrun: () => overruns++ })

beforeEach(() => {
  clock = new VirtualClock(0)
  sink = new TestSink()
  overruns = 0
})

describe('WatchWriter', () => {
  it('sends events at once while they are few, and gathers them when they are many', () => {
    const to = writer()
    const names = Array.from({ length: 13 }, (_, i) => `c${i}`)
    to.events(added('a'))
    to.events(added('b'))
    expect(sink.chunks).toHaveLength(2)
    to.events(names.flatMap((name) => added(name)))
    clock.advance(1)
    to.events(added('d'))
    clock.advance(2)
    expect(sink.chunks).toHaveLength(2)
    clock.advance(1)
    expect(sink.chunks).toHaveLength(3)
    expect(sink.lines().map((l) => l.object.metadata.name)).toEqual(['a', 'b', ...names, 'd'])
    expect(clock.pending).toBe(0)
  })

  it('sends bookmarks in the shape of the kind', () => {
    writer().bookmark(7, false)
    expect(sink.lines()).toEqual([{ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '7' } } }])
  })

  it('sends the end of what was there without delay', () => {
    const to = writer()
    to.initial([stored('a')])
    to.bookmark(5, true)
    expect(sink.lines().map((l) => l.type)).toEqual(['ADDED', 'BOOKMARK'])
    expect(sink.lines()[1].object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
  })

  it('sends an error as a Status, and ends after everything that came before', () => {
    const to = writer()
    to.events(added('a'))
    to.events(added('b'))
    to.error(new ApiError(410, 'Expired', 'too old'))
    to.end()
    expect(sink.lines().map((l) => l.type)).toEqual(['ADDED', 'ADDED', 'ERROR'])
    expect(sink.lines()[2].object).toMatchObject({ kind: 'Status', code: 410 })
    expect([sink.isEnded, clock.pending]).toEqual([true, 0])
    to.events(added('c'))
    expect(sink.lines()).toHaveLength(3)
  })

  it('sends the same bytes as every other watcher of the same events', () => {
    const [event] = added('a')
    const [one, other] = [writer(), new TestSink()]
    one.events([event!])
    new WatchWriter(target, json, new URLSearchParams(), other, { clock, chunks, onOverrun: () => {} }).events([event!])
    expect(other.chunks[0]).toBe(sink.chunks[0])
  })

  it('waits for a client that does not read, and keeps the order', () => {
    const to = writer()
    sink.isReading = false
    for (const name of ['a', 'b', 'c']) to.events(added(name, 600_000))
    to.bookmark(9, false)
    clock.advance(10)
    const before = sink.lines().length
    expect(before).toBeLessThan(3)
    sink.drain()
    sink.drain()
    sink.drain()
    clock.advance(10)
    expect(sink.lines().map((l) => l.object.metadata.name ?? l.type)).toEqual(['a', 'b', 'c', 'BOOKMARK'])
    expect(overruns).toBe(0)
  })

  it('cuts off a client for whom too much waits, once', () => {
    const to = writer()
    sink.isReading = false
    for (let i = 0; i < 60; i++) to.events(added(`o-${i}`, 1_000_000))
    expect(overruns).toBe(1)
    const sent = sink.chunks.length
    sink.drain()
    expect(sink.chunks).toHaveLength(sent)
  })

  it('cuts off a client that takes nothing of what waits for two minutes, and none that takes some', () => {
    const to = writer()
    sink.isReading = false
    for (let i = 0; i < 20; i++) to.events(added(`o-${i}`, 1_000_000))
    for (let i = 0; i < 4; i++) {
      clock.advance(119_000)
      sink.drain()
    }
    expect(overruns).toBe(0)
    clock.advance(120_000)
    expect([overruns, clock.pending]).toEqual([1, 0])
  })

  it('sends what was there at the start as fast as it is read, however much it is', () => {
    const to = writer()
    sink.isReading = false
    to.initial(Array.from({ length: 60 }, (_, i) => stored(`o-${String(i).padStart(2, '0')}`, 1_000_000)))
    to.events(added('later'))
    expect(sink.lines().length).toBeLessThan(4)
    for (let i = 0; i < 70; i++) sink.drain()
    expect(overruns).toBe(0)
    expect(sink.lines()).toHaveLength(61)
    expect(sink.lines().at(-1).object.metadata.name).toBe('later')
  })

  it('goes on as usual after it has caught up', () => {
    const to = writer()
    sink.isReading = false
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 20; i++) to.events(added(`o-${i}`, 1_000_000))
      for (let i = 0; i < 30; i++) sink.drain()
    }
    expect(overruns).toBe(0)
    expect(sink.lines()).toHaveLength(100)
  })

  it.each([
    ['Table', 'Table', 'meta.k8s.io/v1'],
    ['PartialObjectMetadata', 'PartialObjectMetadata', 'meta.k8s.io/v1'],
  ])('sends %s to who asked for it', (as, kind, apiVersion) => {
    const to = writer(negotiate(`application/json;as=${as};v=v1;g=meta.k8s.io`, watchStream))
    to.events(added('a'))
    to.bookmark(9, true)
    expect(sink.lines().map((l) => [l.object.kind, l.object.apiVersion])).toEqual([[kind, apiVersion], [kind, apiVersion]])
  })
})

describe('what is there at the start of a watch', () => {
  it('is sent in slices, with all that comes since behind it', async () => {
    const turns = { isSpent: true, taken: 0, next: async () => void turns.taken++ }
    const machine = { now: () => clock.now(), after: (ms: number, fn: () => void) => clock.after(ms, fn), turns }
    const sliced = new WatchWriter(target, json, new URLSearchParams(), sink, { clock: machine, chunks, onOverrun: () => overruns++ })
    sliced.initial(Array.from({ length: 100 }, (_, i) => stored(`o-${i}`)))
    sliced.bookmark(9, true)
    sliced.events(added('late'))
    expect(sink.lines()).toHaveLength(16)
    await new Promise((resolve) => setImmediate(resolve))
    expect(turns.taken).toBe(6)
    const names = sink.lines().map((l: { type: string; object: { metadata: { name?: string } } }) => l.object.metadata.name ?? l.type)
    expect(names).toEqual([...Array.from({ length: 100 }, (_, i) => `o-${i}`), 'BOOKMARK', 'late'])
  })

  it('lets history go on once there is room', () => {
    const one = writer()
    let resumed = 0
    expect(one.hasRoom(() => resumed++)).toBe(true)
    sink.isReading = false
    one.events(added('large', 1 << 20))
    one.events(added('waits'))
    expect(one.hasRoom(() => resumed++)).toBe(false)
    expect(resumed).toBe(0)
    sink.isReading = true
    sink.drain()
    expect(resumed).toBe(1)
    sink.drain()
    expect(resumed).toBe(1)
  })
})
