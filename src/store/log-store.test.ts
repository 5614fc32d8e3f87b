import { describe, expect, it } from 'vitest'
import { SetClock, bytes } from './conformance/scene.ts'
import { LogState } from './log-state.ts'
import { LogStore } from './log-store.ts'
import { LogBroken } from './record-log.ts'
import type { Commit, LogRecord, RecordLog } from './record-log.ts'
import { CommitFailedError } from './store.ts'
import type { Store, WriteResult } from './store.ts'

/** A log whose commits end when, and as, the test says. */
class HeldLog implements RecordLog {
  records = new Map<number, LogRecord>()
  commits: Commit[] = []
  #end: ((failure?: Error) => void) | undefined

  commit(commit: Commit): Promise<void> {
    this.commits.push({ ...commit, records: [...commit.records] })
    return new Promise((resolve, reject) => {
      this.#end = (failure) => {
        if (failure) return reject(failure)
        for (const record of commit.records) this.records.set(record.revision, record)
        for (const revision of commit.removed) this.records.delete(revision)
        resolve()
      }
    })
  }

  /** Ends the running commit, and lets everybody hear of it. */
  async end(failure?: Error): Promise<void> {
    await tick()
    this.#end!(failure)
    await tick()
  }

  record = (revision: number): LogRecord | undefined => this.records.get(revision)
  value = (revision: number): Buffer | undefined => this.records.get(revision)?.value
  size = (): number => this.records.size
  close = async (): Promise<void> => undefined
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function setUp(): { log: HeldLog; store: Store; put: (key: string, value: string, expected?: number) => Promise<WriteResult> } {
  const log = new HeldLog()
  const store = new LogStore(log, new LogState(), new SetClock())
  return { log, store, put: (key, value, expected = 0) => store.write({ key, expected, value: bytes(value) }) }
}

/** The present state of a promise. */
function fate(promise: Promise<WriteResult>): { now: string } {
  const seen = { now: 'waiting' }
  promise.then(
    (result) => (seen.now = result.ok ? `revision ${result.revision}` : `refused for ${result.current?.revision ?? 'nothing'}`),
    (error: Error) => (seen.now = error instanceof CommitFailedError ? error.message : 'another error'),
  )
  return seen
}

describe('a commit', () => {
  it('gathers what arrives while the one before runs', async () => {
    const { log, put } = setUp()
    const fates = [fate(put('/a', 'x'))]
    await tick()
    for (const key of ['/b', '/c', '/d']) fates.push(fate(put(key, 'x')))
    await log.end()
    expect(fates.map(({ now }) => now)).toEqual(['revision 1', 'waiting', 'waiting', 'waiting'])
    await log.end()
    expect(fates.map(({ now }) => now)).toEqual(['revision 1', 'revision 2', 'revision 3', 'revision 4'])
    expect(log.commits.map(({ records }) => records.map(({ endsCommit }) => endsCommit))).toEqual([[true], [false, false, true]])
  })

  it.each([0, 1, 2, 3, 4, 5, 6])('comes for a write that was sent %i microtasks after the one before was answered', async (microtasks) => {
    const { log, put } = setUp()
    const first = put('/a', 'x')
    let second: { now: string } | undefined
    void first.then(async () => {
      for (let i = 0; i < microtasks; i++) await Promise.resolve()
      second = fate(put('/b', 'x'))
    })
    await log.end()
    await log.end()
    expect(second?.now).toBe('revision 2')
  })

  it('is not made too large by a flood of writes', async () => {
    const { log, store, put } = setUp()
    const megabyte = 'x'.repeat(1 << 20)
    const fates = Array.from({ length: 20 }, (_, i) => fate(put(`/${i}`, megabyte)))
    const refused = fate(put('/10', 'refused'))
    await log.end()
    expect(fates.filter(({ now }) => now !== 'waiting')).toHaveLength(8)
    expect(refused.now).toBe('waiting')
    await log.end()
    expect(refused.now).toBe('refused for 11')
    await log.end(new Error('disk full'))
    expect(store.revision).toBe(16)
    expect(fates.map(({ now }) => now).slice(15)).toEqual(['revision 16', ...Array(4).fill('the write could not be made durable: disk full')])
  })

  it('is not made of more writes than can be answered in one turn', async () => {
    const { log, put } = setUp()
    const first = put('/first', '0')
    await tick()
    const many = Promise.all(Array.from({ length: 1000 }, (_, i) => put(`/k/${i}`, 'x')))
    for (let i = 0; i < 5; i++) await log.end()
    await first
    expect((await many).map((result) => result.ok && result.revision)).toEqual(Array.from({ length: 1000 }, (_, i) => i + 2))
    expect(log.commits.map(({ records }) => records.length)).toEqual([1, 256, 256, 256, 232])
  })

  it('tells who is refused when what won is durable, not later', async () => {
    const { log, put } = setUp()
    await tick()
    const won = fate(put('/a', 'x'))
    await tick()
    const refusedForRunning = fate(put('/a', 'y'))
    const next = fate(put('/b', 'x'))
    const refusedForGathered = fate(put('/b', 'y'))
    await log.end()
    expect([won.now, refusedForRunning.now]).toEqual(['revision 1', 'refused for 1'])
    expect([next.now, refusedForGathered.now]).toEqual(['waiting', 'waiting'])
    await log.end()
    expect([next.now, refusedForGathered.now]).toEqual(['revision 2', 'refused for 2'])
  })
})

describe('a commit that fails', () => {
  const failed = 'the write could not be made durable: disk full'

  it('rejects everything under way and leaves the state as it is on disk', async () => {
    const { log, store, put } = setUp()
    const seen: number[] = []
    await store.watch('/', 0, (events) => seen.push(...events.map(({ revision }) => revision)))
    const first = fate(put('/a', 'one'))
    await log.end()
    const fates = [fate(put('/a', 'two', 1)), fate(put('/b', 'x')), fate(put('/a', 'refused', 7))]
    await tick()
    fates.push(fate(put('/a', 'three', 2)), fate(store.write({ key: '/b', expected: 3, value: undefined })), fate(put('/c', 'x')))
    await log.end(new Error('disk full'))
    expect(first.now).toBe('revision 1')
    expect(fates.map(({ now }) => now)).toEqual(fates.map(() => failed))
    expect(store.revision).toBe(1)
    expect(await store.get('/a')).toMatchObject({ value: bytes('one') })
    expect((await store.range('/')).items).toHaveLength(1)
    expect(seen).toEqual([1])
    expect(log.commits).toHaveLength(2)

    // Numbering and conflicts go on from what is durable.
    const again = [fate(put('/a', 'two', 1)), fate(put('/b', 'x'))]
    await log.end()
    expect(again.map(({ now }) => now)).toEqual(['revision 2', 'revision 3'])
    expect(seen).toEqual([1, 2, 3])
    await store.close()
  })

  it('ends the watches if the log cannot take another', async () => {
    const { log, store, put } = setUp()
    const ended: string[] = []
    await store.watch('/', 0, () => undefined, (why) => ended.push(why.message))
    const writing = fate(put('/a', 'x'))
    await log.end(new LogBroken(new Error('disk full')))
    expect([writing.now, ...ended]).toEqual([failed, failed])
    expect(await store.get('/a')).toBeUndefined()
    await store.close()
  })

  it('rejects a compaction, which can be tried again', async () => {
    const { log, store, put } = setUp()
    for (let expected = 0; expected < 3; expected++) {
      const writing = put('/a', 'x', expected)
      await log.end()
      await writing
    }
    const atMark = store.compact(3).catch((error: Error) => error)
    await log.end(new Error('disk full'))
    expect(await atMark).toBeInstanceOf(CommitFailedError)
    expect(store.compactedRevision).toBe(0)
    expect((await store.range('/', { revision: 1 })).items).toHaveLength(1)

    const atRemoval = store.compact(3).catch((error: Error) => error)
    await log.end()
    await log.end(new Error('disk full'))
    expect(await atRemoval).toBeInstanceOf(CommitFailedError)
    expect(store.compactedRevision).toBe(3)
    expect([...log.records.keys()]).toEqual([1, 2, 3])

    const again = store.compact(3)
    await log.end()
    await again
    expect([...log.records.keys()]).toEqual([3])
    await store.close()
  })
})
