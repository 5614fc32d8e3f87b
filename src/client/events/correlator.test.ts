import { describe, expect, it } from 'vitest'
import type { ObjectReference } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { pods } from '../resources.ts'
import { EventCorrelator } from './correlator.ts'
import { EventNames, referenceTo } from './event-object.ts'

const ref = (name: string): ObjectReference => ({ kind: 'Pod', namespace: 'default', name, uid: `uid-${name}`, apiVersion: 'v1' })

function setUp() {
  const clock = new VirtualClock()
  const correlator = new EventCorrelator(clock, new EventNames(new SeededRandom(1)), (r) => r)
  const add = (message: string, { name = 'web', reason = 'Failed' } = {}) =>
    correlator.add({ ref: ref(name), type: 'Warning', reason, message, action: undefined, related: undefined, atMs: clock.now() })
  return { clock, correlator, add }
}

describe('EventCorrelator', () => {
  it('counts the same event', async () => {
    const { clock, add } = setUp()
    const first = add('no image').record
    await clock.advance(5000)
    const again = add('no image').record
    expect(again).toBe(first)
    expect([again.count, again.lastAtMs - again.first.atMs]).toEqual([2, 5000])
  })

  it('keeps events apart that differ in object, reason or message', () => {
    const { add } = setUp()
    const records = [add('a'), add('b'), add('a', { name: 'db' }), add('a', { reason: 'Other' })].map((c) => c.record)
    expect(new Set(records.map((r) => r.name)).size).toBe(4)
  })

  it('combines from the tenth different message of one reason on', () => {
    const { add } = setUp()
    const records = Array.from({ length: 12 }, (_, i) => add(`try ${i + 1}`).record)
    expect(new Set(records.slice(0, 9)).size).toBe(9)
    expect(records[9]).toMatchObject({ message: '(combined from similar events): try 12', count: 3 })
    expect([records[10], records[11]]).toEqual([records[9], records[9]])
    expect(records[9]!.name).not.toBe(records[8]!.name)
    // A remembered event is still counted separately. Other reasons are unknown.
    expect(add('try 12').record.message).toBe('try 12')
    expect(add('x', { reason: 'Other' }).record.message).toBe('x')
  })

  it('starts anew when nothing similar has happened for ten minutes', async () => {
    const { clock, add } = setUp()
    for (let i = 0; i < 9; i++) add(`try ${i}`)
    await clock.advance(600_000)
    expect(add('still').record.message).toBe('(combined from similar events): still')
    await clock.advance(600_001)
    expect(add('anew').record.message).toBe('anew')
  })

  it('lets 25 events about an object through, then one every five minutes, and counts all', async () => {
    const { clock, add } = setUp()
    const spam = Array.from({ length: 40 }, () => add('no image').isSpam)
    expect(spam.filter((is) => !is).length).toBe(25)
    expect(add('hello', { name: 'other' }).isSpam).toBe(false)
    await clock.advance(299_000)
    expect(add('no image').isSpam).toBe(true)
    await clock.advance(1000)
    expect(add('no image')).toMatchObject({ isSpam: false, record: { count: 42 } })
  })

  it('does not remember without end', () => {
    const { add } = setUp()
    const first = add('m', { name: 'pod-0' }).record
    for (let i = 1; i <= 5000; i++) add('m', { name: `pod-${i}` })
    expect(add('m', { name: 'pod-0' }).record).not.toBe(first)
  })

  it('remembers longest what happened last', () => {
    const { add } = setUp()
    const first = add('m', { name: 'pod-0' }).record
    add('m', { name: 'pod-1' })
    for (let i = 2; i <= 5000; i++) {
      add('m', { name: `pod-${i}` })
      if (i % 1000 === 0) add('m', { name: 'pod-0' })
    }
    expect(add('m', { name: 'pod-0' }).record).toBe(first)
    expect(add('m', { name: 'pod-1' }).record.count).toBe(1)
  })

  it('does not remember without end what happens to one object', () => {
    const { add } = setUp()
    const records = new Set<unknown>()
    for (let i = 0; i < 100; i++) {
      for (let n = 0; n < 60; n++) records.add(add('m', { reason: `Reason${i}-${n}` }).record)
    }
    const known = Array.from({ length: 60 }, (_, n) => add('m', { reason: `Reason0-${n}` }).record)
    expect(known.filter((record) => records.has(record))).toEqual([])
  })

  it('forgets an object that is gone', () => {
    const { correlator, add } = setUp()
    const kept = add('m', { name: 'db' }).record
    const gone = add('m').record
    for (let i = 0; i < 30; i++) add('m')
    correlator.forget('uid-web')
    const again = add('m')
    expect([again.record === gone, again.isSpam, again.record.count]).toEqual([false, false, 1])
    expect(add('m', { name: 'db' }).record).toBe(kept)
  })
})

describe('EventNames', () => {
  it('are the object’s name and a time, never the same twice', () => {
    const names = new EventNames(new SeededRandom(1))
    const nowMs = Date.UTC(2026, 0, 1)
    const made = Array.from({ length: 1000 }, () => names.next('web-0', nowMs))
    expect(made[0]).toMatch(/^web-0\.1886[0-9a-f]{12}$/)
    expect(new Set(made).size).toBe(1000)
  })

  it.each([['system:node'], ['x'.repeat(250)], ['']])('are not made of what cannot be a name: %s', (name) => {
    expect(new EventNames(new SeededRandom(1)).next(name, 0)).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('referenceTo()', () => {
  it('names what the object says it is, or its resource', () => {
    const metadata = { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '7', labels: { a: 'b' } }
    const wanted = { kind: 'Pod', apiVersion: 'v1', name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '7' }
    expect(referenceTo({ kind: 'Pod', apiVersion: 'v1', metadata })).toEqual(wanted)
    expect(referenceTo({ metadata }, pods)).toEqual(wanted)
    expect(referenceTo({ ...wanted, fieldPath: 'spec.containers{main}' })).toEqual({ ...wanted, fieldPath: 'spec.containers{main}' })
    expect([referenceTo({ metadata }), referenceTo({ kind: 'Pod', metadata: {} })]).toEqual([undefined, undefined])
  })
})
