import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { ProcessClock } from '../testing/process-clock.ts'
import { type ApiRequest, TransportError } from '../transport/transport.ts'
import { LeaderTransport } from './leader-transport.ts'
import { Leadership } from './leadership.ts'
import { NotLeaderError } from './not-leader-error.ts'

function setUp() {
  const world = new VirtualClock()
  const clock = new ProcessClock(world)
  const written: string[] = []
  const lost: string[] = []
  const begin = () =>
    new Leadership({
      clock,
      renewDeadlineMs: 10_000,
      sentAtMs: clock.now(),
      onWritten: (version) => written.push(version),
      onLost: (reason) => lost.push(reason.message),
    })
  return { world, clock, written, lost, begin, leadership: begin() }
}

/** Lets promises go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A write under way: `answer` ends it. */
function pendingWrite(leadership: Leadership) {
  let answer!: (value: unknown) => void
  let signal!: AbortSignal
  const done = leadership.write((s) => {
    signal = s
    return new Promise((resolve, reject) => {
      answer = resolve
      s.addEventListener('abort', () => reject(s.reason as Error))
    })
  }, undefined, 'PUT /x')
  return { done, answer, signal }
}

describe('Leadership', () => {
  it('lasts until its deadline, counted from when the last renewal was sent', async () => {
    const { world, leadership } = setUp()
    await world.advance(9999)
    expect(leadership.isLeader()).toBe(true)
    leadership.renewed(world.now() - 3000)
    await world.advance(6999)
    expect(leadership.isLeader()).toBe(true)
    await world.advance(1)
    expect(leadership.isLeader()).toBe(false)
  })

  it('is in doubt for a while about writes that were given up when it was lost', async () => {
    const { world, leadership } = setUp()
    const write = pendingWrite(leadership)
    leadership.lose(new NotLeaderError('lost'))
    await expect(write.done).rejects.toThrow('lost')
    let isCertain = false
    void leadership.certain().then(() => (isCertain = true))
    await world.advance(4999)
    await turn()
    expect([leadership.isInDoubt, isCertain]).toEqual([true, false])
    await world.advance(1)
    await turn()
    expect([leadership.isInDoubt, isCertain]).toEqual([false, true])
  })

  it.each([
    ['the server refused', new ApiError(500, 'InternalError', 'out of order'), false],
    ['never left', new TransportError('connection refused', true), false],
    ['was not answered', new TransportError('timed out', false), true],
  ])('knows whether a write that %s may still arrive', async (_name, error, isInDoubt) => {
    const { leadership } = setUp()
    await expect(leadership.write(() => Promise.reject(error), undefined, 'PUT /x')).rejects.toBe(error)
    expect(leadership.isInDoubt).toBe(isInDoubt)
  })

  it('aborts its signal at the deadline without being asked', async () => {
    const { world, leadership, lost } = setUp()
    const heard: number[] = []
    leadership.signal.addEventListener('abort', () => heard.push(world.now()))
    const startMs = world.now()
    await world.advance(20_000)
    expect([heard, lost]).toEqual([[startMs + 10_000], ['the lease was not renewed in time']])
  })

  it.each([
    ['isLeader()', (l: Leadership) => l.isLeader()],
    ['signal.aborted', (l: Leadership) => !l.signal.aborted],
    ['signal.throwIfAborted()', (l: Leadership) => {
      try {
        l.signal.throwIfAborted()
        return true
      } catch {
        return false
      }
    }],
  ])('is over before any timer runs, for whoever asks %s first after a pause', async (_, ask) => {
    const { world, clock, leadership } = setUp()
    const asked: boolean[] = []
    clock.after(1000, () => asked.push(ask(leadership))) // due before the deadline, and run after it
    clock.pause()
    await world.advance(60_000)
    clock.resume()
    expect(asked).toEqual([false])
  })

  it('stays over, whatever comes late', async () => {
    const { world, leadership } = setUp()
    await world.advance(10_000)
    leadership.renewed(world.now())
    leadership.stop()
    expect([leadership.isLeader(), await leadership.finished(Promise.resolve())]).toEqual([false, false])
  })

  it('does not last longer when the clock is set back, and ends when it cannot be measured', async () => {
    const late = setUp()
    late.leadership.renewed(late.world.now())
    late.clock.skewMs = -1
    expect(late.leadership.isLeader()).toBe(false)

    const timed = setUp()
    await timed.world.advance(8000)
    timed.clock.skewMs = -6000
    expect(timed.leadership.isLeader()).toBe(true)
    await timed.world.advance(2000)
    expect(timed.leadership.isLeader()).toBe(false)
  })

  it('sends nothing once it is over, and gives up what is under way', async () => {
    const { world, leadership } = setUp()
    const { done, signal } = pendingWrite(leadership)
    const failed = expect(done).rejects.toThrow('not renewed in time')
    await world.advance(10_000)
    await failed
    expect(signal.aborted).toBe(true)
    let isSent = false
    await expect(leadership.write(async () => (isSent = true), undefined, 'PUT /x')).rejects.toThrow('PUT /x is not sent: this process is not the leader')
    expect(isSent).toBe(false)
  })

  it('when stopped, starts no writes but lets those under way finish, and waits for them and for the work', async () => {
    const { leadership, lost } = setUp()
    const write = pendingWrite(leadership)
    leadership.stop()
    expect([leadership.isLeader(), leadership.signal.aborted, write.signal.aborted]).toEqual([false, true, false])
    await expect(leadership.write(async () => 1, undefined, 'PUT /x')).rejects.toThrow(NotLeaderError)
    const order: string[] = []
    let endWork!: () => void
    const finished = leadership.finished(new Promise<void>((resolve) => (endWork = resolve))).then((is) => order.push(`finished ${is}`))
    write.answer({})
    await write.done
    await turn()
    order.push('written')
    endWork()
    await finished
    expect([order, lost]).toEqual([['written', 'finished true'], []])
  })

  it('when stopped, waits no longer than its deadline', async () => {
    const { world, leadership } = setUp()
    const write = pendingWrite(leadership)
    const failed = expect(write.done).rejects.toThrow('not renewed in time')
    leadership.stop()
    const finished = leadership.finished(new Promise(() => {}))
    await world.advance(10_000)
    expect(await finished).toBe(false)
    await failed
  })

  it('follows the signal of a write, and tells what was written', async () => {
    const { leadership, written } = setUp()
    await leadership.write(async () => ({ metadata: { resourceVersion: '12' } }), undefined, 'PUT /x')
    await leadership.write(async () => ({ kind: 'Status' }), undefined, 'DELETE /x')
    const abort = new AbortController()
    const write = leadership.write((s) => new Promise((_, reject) => s.addEventListener('abort', () => reject(s.reason as Error))), abort.signal, 'PUT /x')
    abort.abort(new Error('enough'))
    await expect(write).rejects.toThrow('enough')
    await expect(leadership.write(async () => 1, abort.signal, 'PUT /x')).rejects.toThrow('enough')
    expect(written).toEqual(['12'])
  })
})

describe('LeaderTransport', () => {
  const post: ApiRequest = { method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: 'a' } } }
  const get: ApiRequest = { method: 'GET', path: '/api/v1/namespaces/default/configmaps/a' }

  it('sends writes while this process leads, records their versions, and always lets reads through', async () => {
    const { world, leadership, written } = setUp()
    const api = new MemoryApi()
    let refused = 0
    const transport = new LeaderTransport(api, leadership, { inc: () => refused++ })
    await transport.send(post)
    expect(written).toEqual(['101'])
    await world.advance(10_000)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) await expect(transport.send({ ...get, method })).rejects.toThrow(NotLeaderError)
    expect(await transport.send(get)).toMatchObject({ metadata: { name: 'a' } })
    expect([refused, api.requests.map((r) => r.method)]).toEqual([4, ['POST', 'GET']])
  })

  it('refuses an old term’s writes in a new one', async () => {
    const { world, begin, leadership } = setUp()
    const old = new LeaderTransport(new MemoryApi(), leadership)
    await world.advance(10_000)
    const next = begin()
    const current = new LeaderTransport(new MemoryApi(), () => next)
    await expect(old.send(post)).rejects.toThrow('POST /api/v1/namespaces/default/configmaps is not sent: this process is not the leader')
    await current.send(post)
    await expect(new LeaderTransport(new MemoryApi(), () => undefined).send(post)).rejects.toThrow(NotLeaderError)
  })

  it('aborts the signal before it passes on an answer or an event that comes after a pause', async () => {
    const { world, clock, leadership } = setUp()
    const api = new MemoryApi()
    await api.send(post)
    let isAborted = false
    leadership.signal.addEventListener('abort', () => (isAborted = true))
    const heard: string[] = []
    new LeaderTransport(api, leadership).watch({ ...get, path: '/api/v1/namespaces/default/configmaps' }, {
      opened: () => heard.push(`opened ${isAborted}`),
      event: ({ type }) => heard.push(`${type} ${isAborted}`),
      closed: () => heard.push(`closed ${isAborted}`),
    })
    clock.pause()
    await world.advance(60_000)
    await api.send({ method: 'PUT', path: get.path, body: { metadata: { name: 'a' } } })
    expect(heard).toEqual(['opened false', 'MODIFIED true'])

    const other = setUp()
    other.clock.pause()
    const answer = new LeaderTransport(api, other.leadership).send(get)
    await other.world.advance(60_000)
    await answer
    other.clock.resume()
    expect(other.lost).toEqual(['the lease was not renewed in time'])
  })
})
