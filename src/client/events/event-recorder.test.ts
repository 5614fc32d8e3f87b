import { describe, expect, it } from 'vitest'
import { ApiError, forbiddenError } from '../../api/errors.ts'
import type { CoreV1Event } from '../../api/generated/types.ts'
import { deepFreeze } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { MetricsRegistry } from '../../base/metrics.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Client } from '../client.ts'
import { EventRecorder, type EventRecorderOptions } from './event-recorder.ts'
import { pods } from '../resources.ts'
import { FaultyTransport } from '../testing/faulty-transport.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { ProcessClock } from '../testing/process-clock.ts'
import { type ApiRequest, TransportError } from '../transport/transport.ts'

const pod = (name = 'web'): KubeObject =>
  deepFreeze({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' } })

class FailingApi extends MemoryApi {
  /** The errors of the next requests. Undefined for a success. */
  failures: (Error | undefined)[] = []

  override async send<T>(request: ApiRequest): Promise<T> {
    const failure = this.failures.shift()
    if (failure) throw failure
    return super.send(request)
  }
}

function setUp(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock()
  const api = new FailingApi()
  const faulty = new FaultyTransport(api, new ProcessClock(clock))
  const metrics = new MetricsRegistry()
  const client = new Client(faulty, { clock, retries: { unanswered: 0, throttled: 0 } })
  const recorder = new EventRecorder(client, { component: 'test-controller', clock, random: new SeededRandom(1), metrics, ...options })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    clock,
    api,
    faulty,
    recorder,
    settle,
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 1000) {
        await clock.advance(Math.min(1000, left))
        await settle()
      }
    },
    events: () => [...api.objects.values()] as CoreV1Event[],
    verbs: () => api.requests.map((r) => r.method),
    metric: (line: string) => Number(metrics.text().split('\n').find((l) => l.startsWith(line))?.split(' ').at(-1)),
  }
}

describe('EventRecorder writes', () => {
  it('an event as kubectl shows it', async () => {
    const { recorder, events, settle } = setUp()
    recorder.event(pod(), 'Warning', 'Failed', 'no image', { action: 'Pulling', related: { kind: 'Node', name: 'node-1' } })
    await settle()
    const [event] = events()
    expect(event!.metadata.name).toMatch(/^web\.[0-9a-f]{16}$/)
    expect(event).toMatchObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'shop' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'uid-web', resourceVersion: '7' },
      type: 'Warning',
      reason: 'Failed',
      message: 'no image',
      action: 'Pulling',
      related: { kind: 'Node', name: 'node-1' },
      source: { component: 'test-controller' },
      reportingComponent: 'test-controller',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    })
  })

  it('events about what is in no namespace into default, and of objects that do not name their kind', async () => {
    const { recorder, events, settle } = setUp({ host: 'node-1' })
    recorder.event({ kind: 'Node', apiVersion: 'v1', metadata: { name: 'node-1' } }, 'Normal', 'Ready', 'is ready')
    recorder.event({ metadata: { name: 'web', namespace: 'shop' } }, 'Normal', 'Created', 'made', { resource: pods })
    await settle()
    expect(events().map((e) => [e.metadata.namespace, e.involvedObject.kind])).toEqual([['default', 'Node'], ['shop', 'Pod']])
    expect(events()[0]).toMatchObject({ source: { host: 'node-1' }, reportingInstance: 'node-1' })
  })

  it('the same event again as a count', async () => {
    const { recorder, events, verbs, pass, settle } = setUp()
    recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await settle()
    await pass(60_000)
    recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await settle()
    expect(verbs()).toEqual(['POST', 'PATCH'])
    expect(events()).toMatchObject([{ count: 2, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:01:00Z', message: 'no image' }])
  })

  it('once what happens many times at once', async () => {
    const { recorder, events, verbs, settle } = setUp()
    for (let i = 0; i < 5; i++) recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await settle()
    expect([verbs(), events()[0]!.count]).toEqual([['POST'], 5])
  })

  it('what happens while it is written afterwards', async () => {
    const { recorder, events, verbs, settle } = setUp()
    recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await Promise.resolve()
    await Promise.resolve()
    recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await settle()
    expect([verbs(), events()[0]!.count]).toEqual([['POST', 'PATCH'], 2])
  })

  it('many similar events as one', async () => {
    const { recorder, events, settle } = setUp()
    for (let i = 1; i <= 12; i++) recorder.event(pod(), 'Warning', 'Failed', `try ${i}`)
    await settle()
    expect(events().length).toBe(10)
    expect(events()[9]).toMatchObject({ message: '(combined from similar events): try 12', count: 3 })
  })

  it('an event that has expired at the API again', async () => {
    const { api, recorder, events, verbs, settle } = setUp()
    recorder.event(pod(), 'Normal', 'Pulled', 'got it')
    await settle()
    api.objects.clear()
    recorder.event(pod(), 'Normal', 'Pulled', 'got it')
    await settle()
    expect([verbs(), events()[0]!.count]).toEqual([['POST', 'PATCH', 'POST'], 2])
  })

  it('under another name if the name is taken', async () => {
    const first = setUp()
    first.recorder.event(pod(), 'Normal', 'Pulled', 'one')
    await first.settle()
    const second = setUp()
    for (const [path, object] of first.api.objects) second.api.objects.set(path, object)
    second.recorder.event(pod(), 'Normal', 'Pulled', 'two')
    await second.settle()
    expect(second.events().map((e) => e.message)).toEqual(['one', 'two'])
  })
})

describe('EventRecorder drops', () => {
  it('what is too much about one object', async () => {
    const { recorder, events, metric, settle, pass } = setUp()
    for (let i = 0; i < 30; i++) {
      recorder.event(pod(), 'Warning', 'Failed', 'no image')
      await settle()
    }
    expect([events()[0]!.count, metric('event_recorder_dropped_total{component="test-controller",reason="spam"}')]).toEqual([25, 5])
    await pass(300_000)
    recorder.event(pod(), 'Warning', 'Failed', 'no image')
    await settle()
    expect(events()[0]!.count).toBe(31)
  })

  it('what does not fit into its queue, and never makes the caller wait', async () => {
    const { faulty, recorder, metric, pass, events } = setUp({ maxQueued: 3 })
    faulty.fault = 'unreachable'
    for (let i = 0; i < 10; i++) recorder.event(pod(`pod-${i}`), 'Normal', 'Created', 'made')
    expect(metric('event_recorder_queue_length{component="test-controller"}')).toBe(3)
    expect(metric('event_recorder_dropped_total{component="test-controller",reason="queue_full"}')).toBe(7)
    faulty.fault = 'none'
    await pass(20_000)
    expect(events().length).toBe(3)
  })

  it('what was tried twelve times, ten seconds apart, and goes on', async () => {
    const { faulty, api, recorder, metric, pass, events, settle } = setUp()
    faulty.fault = 'unreachable'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await settle()
    await pass(99_000)
    expect(metric('event_recorder_dropped_total{component="test-controller",reason="retries"}')).toBeNaN()
    await pass(11_000)
    expect(metric('event_recorder_dropped_total{component="test-controller",reason="retries"}')).toBe(1)
    expect(metric('event_recorder_retries_total')).toBe(11)
    faulty.fault = 'none'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await settle()
    expect([api.requests.length, events()[0]!.count]).toEqual([1, 2])
  })

  it.each([
    ['forbidden', forbiddenError({ group: '', resource: 'events' }, 'x', 'the namespace is being terminated'), 'rejected'],
    ['too large', new ApiError(413, 'RequestEntityTooLarge', 'too large'), 'rejected'],
    ['strange', new Error('what?'), 'rejected'],
  ])('what is %s, without trying again', async (_, failure, reason) => {
    const { api, recorder, metric, settle } = setUp()
    api.failures = [failure]
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await settle()
    expect(metric(`event_recorder_dropped_total{component="test-controller",reason="${reason}"}`)).toBe(1)
  })

  it('what makes no sense, without throwing', async () => {
    const { recorder, metric, settle } = setUp()
    recorder.event({ metadata: { name: 'web' } }, 'Normal', 'Created', 'no kind')
    recorder.event(undefined as unknown as KubeObject, 'Normal', 'Created', 'nothing')
    recorder.event(pod(), 'Fatal' as 'Normal', 'Created', 'no such type')
    recorder.event(pod(), 'Normal', '', 'no reason')
    await settle()
    expect(metric('event_recorder_dropped_total{component="test-controller",reason="invalid"}')).toBe(4)
  })

  it('all that waits when it is closed', async () => {
    const { clock, faulty, recorder, metric, events, settle } = setUp()
    faulty.fault = 'unreachable'
    for (let i = 0; i < 3; i++) recorder.event(pod(`pod-${i}`), 'Normal', 'Created', 'made')
    await settle()
    recorder.close()
    recorder.close()
    faulty.fault = 'none'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await recorder.flush()
    expect([events().length, clock.pending]).toEqual([0, 0])
    expect(metric('event_recorder_dropped_total{component="test-controller",reason="closed"}')).toBe(4)
  })
})

describe('EventRecorder retries', () => {
  it.each([
    ['no connection', new TransportError('refused', true)],
    ['an overloaded server', new ApiError(429, 'TooManyRequests', 'slow down')],
    ['a server that is not ready', new ApiError(503, 'ServiceUnavailable', 'starting')],
  ])('after %s', async (_, failure) => {
    const { api, recorder, events, settle, pass, metric } = setUp()
    api.failures = [failure, failure]
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await settle()
    await pass(20_000)
    expect([events().length, metric('event_recorder_retries_total')]).toEqual([1, 2])
  })

  it('a write whose answer was lost without making it twice', async () => {
    const { faulty, recorder, events, verbs, settle, pass } = setUp()
    faulty.fault = 'answers lost'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await settle()
    faulty.fault = 'none'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    await pass(10_000)
    expect([verbs(), events().map((e) => e.count)]).toEqual([['POST', 'POST', 'PATCH'], [2]])
  })

  it('in order, and counts what happens meanwhile', async () => {
    const { faulty, recorder, events, settle, pass } = setUp()
    faulty.fault = 'unreachable'
    for (const name of ['a', 'b', 'a', 'c', 'b']) {
      recorder.event(pod(name), 'Normal', 'Created', 'made')
      await settle()
    }
    faulty.fault = 'none'
    await pass(10_000)
    expect(events().map((e) => [e.involvedObject.name, e.count])).toEqual([['a', 2], ['b', 2], ['c', 1]])
  })
})

describe('EventRecorder.flush()', () => {
  it('waits for what is to be written', async () => {
    const { recorder, events } = setUp()
    await recorder.flush()
    for (let i = 0; i < 3; i++) recorder.event(pod(`pod-${i}`), 'Normal', 'Created', 'made')
    await recorder.flush()
    expect(events().length).toBe(3)
  })

  it('gives up when its signal is aborted', async () => {
    const { faulty, recorder } = setUp()
    faulty.fault = 'silent'
    recorder.event(pod(), 'Normal', 'Created', 'made')
    const abort = new AbortController()
    const flushed = recorder.flush(abort.signal)
    abort.abort(new Error('no time'))
    await expect(flushed).rejects.toThrow('no time')
    await expect(recorder.flush(abort.signal)).rejects.toThrow('no time')
  })
})

it('EventRecorder does the same for the same seed', async () => {
  const run = async () => {
    const { recorder, api, settle, pass, faulty } = setUp()
    for (let i = 0; i < 40; i++) {
      faulty.fault = i % 7 === 3 ? 'unreachable' : 'none'
      recorder.event(pod(`pod-${i % 3}`), 'Normal', 'Created', `made ${i % 5}`)
      await settle()
      await pass(1000)
    }
    await pass(60_000)
    return JSON.stringify([...api.objects])
  }
  expect(await run()).toBe(await run())
})
