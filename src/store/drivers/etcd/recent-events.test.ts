import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { CompactedError, type StoreEvent } from '../../index.ts'
import { RecentEvents } from './recent-events.ts'

const valueBytes = 400_000
/** The limit, and some space for what the test itself holds. */
const mostAliveBytes = (64 << 20) + 4 * valueBytes

const version = (revision: number, value: Buffer) => ({ key: '/k', value, revision, createRevision: 1 })

type Made = (revision: number, value: () => Buffer) => StoreEvent
const kinds: [string, Made][] = [
  ['creates', (revision, value) => ({ type: 'put', ...version(revision, value()), previous: undefined })],
  ['updates', (revision, value) => ({ type: 'put', ...version(revision, value()), previous: version(revision - 1, value()) })],
  ['deletes', (revision, value) => ({ type: 'delete', key: '/k', revision, previous: version(revision - 1, value()) })],
]

describe('RecentEvents', () => {
  it.each(kinds)('keeps no more than 64 MB of the values of %s alive', async (_, event) => {
    const recent = new RecentEvents(0)
    const values: WeakRef<Buffer>[] = []
    const value = () => {
      const made = Buffer.allocUnsafeSlow(valueBytes)
      values.push(new WeakRef(made))
      return made
    }
    for (let revision = 1; revision <= 400; revision++) recent.add(event(revision, value))
    const alive = async () => {
      // A WeakRef keeps its object until the end of the turn that made it.
      await new Promise((resolve) => setImmediate(resolve))
      setFlagsFromString('--expose-gc')
      runInNewContext('gc')()
      return values.filter((ref) => ref.deref()).length * valueBytes
    }
    expect(await alive()).toBeLessThan(mostAliveBytes)
    // A watch gets all kept events.
    const kept = recent.between(recent.start, 400, '/')
    expect(kept.map(({ revision }) => revision)).toEqual(kept.map((_, i) => 401 - kept.length + i))
    expect(kept.length).toBeGreaterThan(50)
    recent.forget(400)
    kept.length = 0
    expect(await alive()).toBeLessThan(4 * valueBytes)
  })

  it('takes an event whose replaced version was compacted', () => {
    const recent = new RecentEvents(0)
    const event: StoreEvent = {
      type: 'delete',
      key: '/k',
      revision: 1,
      get previous(): never {
        throw new CompactedError(1)
      },
    }
    recent.add(event)
    expect(recent.between(0, 1, '/')).toEqual([event])
  })
})
