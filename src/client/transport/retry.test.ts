import { describe, expect, it } from 'vitest'
import { ApiError, conflict, serviceUnavailable, tooManyRequests } from '../../api/errors.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Retrier, type RetryOptions, waitFor } from './retry.ts'
import { type ApiRequest, TransportError } from './transport.ts'

const refused = new TransportError('connection refused', true)
const cut = new TransportError('connection reset', false)
const busy = tooManyRequests('slow down', 3)
const starting = new ApiError(503, 'ServiceUnavailable', 'starting', { retryAfterSeconds: 2 })
const half = { next: () => 0.5, uuid: () => '' }

const times = (count: number, error: Error) => Array.from({ length: count }, () => error)

/** Lets everything run that waits for nothing but its turn. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Sends a request that fails in these ways before it succeeds. Tells what came of it and how long it waited before each attempt. */
async function trial(method: ApiRequest['method'], failures: Error[], options?: RetryOptions) {
  const clock = new VirtualClock(0)
  const left = [...failures]
  const waits: number[] = []
  let lastMs = 0
  const answer = new Retrier(clock, half, options).send({ method, path: '/' }, async () => {
    waits.push(clock.now() - lastMs)
    lastMs = clock.now()
    const error = left.shift()
    if (error) throw error
    return 'done'
  })
  const outcomes: unknown[] = []
  const end = (outcome: unknown) => void outcomes.push(outcome)
  answer.then(end, end)
  for (let passedMs = 0; outcomes.length === 0; passedMs += 25) {
    if (passedMs > 600_000) throw new Error(`there is no outcome after ten minutes and ${waits.length} attempts`)
    await turn()
    if (outcomes.length === 0) clock.advance(25)
  }
  return { outcome: outcomes[0], waits: waits.slice(1) }
}

describe('Retrier', () => {
  it.each([
    { name: 'a read that was not sent', method: 'GET' as const, failures: [refused], waits: [75] },
    { name: 'a write that was not sent', method: 'POST' as const, failures: [refused], waits: [75] },
    { name: 'a read without an answer', method: 'GET' as const, failures: [cut], waits: [75] },
    { name: 'a write that was throttled, after the time it was told', method: 'POST' as const, failures: [busy, busy], waits: [3000, 3000] },
    { name: 'a read of a server that is starting', method: 'GET' as const, failures: [starting], waits: [2000] },
    { name: 'with waits that double, up to a limit', method: 'GET' as const, failures: times(8, refused), options: { unanswered: 8 }, waits: [75, 150, 300, 600, 1200, 2400, 3750, 3750] },
  ])('sends again $name', async ({ method, failures, waits, options }) => {
    expect(await trial(method, failures, options)).toEqual({ outcome: 'done', waits })
  })

  it.each([
    { name: 'a create without an answer, which may have taken effect', method: 'POST' as const, failures: [cut] },
    { name: 'an update without an answer', method: 'PUT' as const, failures: [cut] },
    { name: 'a patch without an answer', method: 'PATCH' as const, failures: [cut] },
    { name: 'a deletion without an answer', method: 'DELETE' as const, failures: [cut] },
    { name: 'what was refused for good', method: 'PUT' as const, failures: [conflict({ group: '', resource: 'pods' }, 'a', 'old')] },
    { name: 'a 503 without a time', method: 'GET' as const, failures: [serviceUnavailable('down')] },
    { name: 'an error of our own', method: 'GET' as const, failures: [new Error('bug')] },
  ])('does not send again $name', async ({ method, failures }) => {
    expect(await trial(method, failures)).toEqual({ outcome: failures[0], waits: [] })
  })

  it('gives up in the end, with the last error', async () => {
    expect(await trial('GET', times(20, refused))).toMatchObject({ outcome: refused, waits: { length: 5 } })
    expect(await trial('GET', times(20, busy))).toMatchObject({ outcome: busy, waits: { length: 10 } })
    expect(await trial('GET', [refused], { unanswered: 0 })).toMatchObject({ outcome: refused, waits: [] })
  })

  it('stops waiting when it is aborted', async () => {
    const clock = new VirtualClock(0)
    const abort = new AbortController()
    let attempts = 0
    const answer = new Retrier(clock, half).send({ method: 'GET', path: '/', signal: abort.signal }, async () => {
      attempts++
      throw busy
    })
    const outcome = expect(answer).rejects.toThrow('enough')
    await turn()
    expect(clock.pending).toBe(1)
    abort.abort(new Error('enough'))
    await outcome
    expect([attempts, clock.pending]).toEqual([1, 0])
  })
})

it('waitFor() waits for its time, and leaves nothing behind on the signal', async () => {
  const clock = new VirtualClock(0)
  const { signal } = new AbortController()
  let isOver = false
  const waited = waitFor(clock, 100, signal).then(() => (isOver = true))
  await clock.advance(99)
  await turn()
  expect(isOver).toBe(false)
  await clock.advance(1)
  await waited
  expect(isOver).toBe(true)
  await expect(waitFor(clock, 1, AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
})
