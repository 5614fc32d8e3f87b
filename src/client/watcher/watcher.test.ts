import { describe, expect, test } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { type ResourceType, resourceType } from '../resource-type.ts'
import type { ApiRequest, Transport, WatchListener } from '../transport/transport.ts'
import { Watcher, failureOf } from './watcher.ts'

const things: ResourceType = resourceType({ group: 'example.org', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true })
const thing = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, namespace: 'n', resourceVersion } })

interface Asked {
  request: ApiRequest
  answer(value: unknown): void
  fail(error: Error): void
  listener: WatchListener | undefined
  isStopped: boolean
}

/** A transport that answers when and as the test wants. */
function scene(stream: boolean) {
  const clock = new VirtualClock()
  const asked: Asked[] = []
  const told: string[] = []
  const transport: Transport = {
    send: (request) =>
      new Promise((resolve, reject) => {
        const one: Asked = { request, answer: (value) => resolve(value as never), fail: reject, listener: undefined, isStopped: false }
        request.signal?.addEventListener('abort', () => (one.isStopped = true))
        asked.push(one)
      }),
    watch(request, listener) {
      const one: Asked = { request, answer: () => {}, fail: () => {}, listener: listener as unknown as WatchListener, isStopped: false }
      asked.push(one)
      return () => (one.isStopped = true)
    },
    close: async () => {},
  }
  const watcher = new Watcher({
    transport,
    type: things,
    namespace: 'n',
    labelSelector: 'a=b',
    fieldSelector: 'metadata.name!=x',
    clock,
    random: { next: () => 0, uuid: () => '' },
    stream,
    listener: {
      replace: (objects, version) => told.push(`replace ${[...objects.keys()].join()} at ${version}`),
      change: (type, object, seen) => told.push(`${type} ${object.metadata.name}, seen ${seen}`),
      bookmark: (version) => told.push(`bookmark ${version}`),
    },
  })
  return { clock, asked, told, watcher }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))
const selectors = { labelSelector: 'a=b', fieldSelector: 'metadata.name!=x' }

describe('Watcher', () => {
  test('asks for pages and then for a watch from where they ended', async () => {
    const { asked, told, watcher } = scene(false)
    watcher.start()
    expect(asked[0]!.request).toMatchObject({ method: 'GET', path: '/apis/example.org/v1/namespaces/n/things', query: { ...selectors, limit: '500' } })
    asked[0]!.answer({ items: [thing('a', '3')], metadata: { resourceVersion: '5', continue: 'more' } })
    await settle()
    expect(asked[1]!.request.query).toEqual({ ...selectors, limit: '500', continue: 'more' })
    asked[1]!.answer({ items: [thing('b', '4')], metadata: { resourceVersion: '5' } })
    await settle()
    expect(told).toEqual(['replace n/a,n/b at 5'])
    expect(asked[2]!.request.query).toEqual({ ...selectors, allowWatchBookmarks: 'true', timeoutSeconds: '300', resourceVersion: '5' })
  })

  test('asks for a watch that begins with what is there, and gathers it', () => {
    const { asked, told, watcher } = scene(true)
    watcher.start()
    expect(asked[0]!.request.query).toEqual({ ...selectors, allowWatchBookmarks: 'true', timeoutSeconds: '300', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' })
    const { listener } = asked[0]!
    listener!.opened()
    listener!.event({ type: 'ADDED', object: thing('a', '3') })
    listener!.event({ type: 'ADDED', object: thing('b', '4') })
    listener!.event({ type: 'DELETED', object: thing('a', '6') })
    expect([told, watcher.gathered]).toEqual([[], 1])
    listener!.event({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '6', annotations: { 'k8s.io/initial-events-end': 'true' } } } })
    listener!.event({ type: 'MODIFIED', object: thing('b', '7') })
    listener!.event({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } })
    expect(told).toEqual(['replace n/b at 6', 'MODIFIED b, seen 7', 'bookmark 9'])
    expect(asked).toHaveLength(1)
  })

  test('hears nothing of what it has given up', async () => {
    const { clock, asked, told, watcher } = scene(false)
    watcher.start()
    await clock.pass(60_000)
    expect([asked[0]!.isStopped, watcher.state.kind]).toEqual([true, 'BackingOff'])
    asked[0]!.answer({ items: [thing('a', '3')], metadata: { resourceVersion: '5' } })
    await settle()
    expect(told).toEqual([])
    await clock.pass(800)
    asked[1]!.answer({ items: [], metadata: { resourceVersion: '6' } })
    await settle()
    asked[2]!.listener!.opened()
    await clock.pass(120_000)
    expect([asked[2]!.isStopped, asked.length]).toEqual([true, 4])
    asked[2]!.listener!.event({ type: 'ADDED', object: thing('late', '9') })
    asked[2]!.listener!.closed(undefined)
    expect(told).toEqual(['replace  at 6'])
    expect(watcher.state.kind).toBe('Opening')
  })

  test('leaves nothing behind when it is stopped', async () => {
    for (const stream of [true, false]) {
      const { clock, asked, watcher } = scene(stream)
      watcher.start()
      watcher.stop()
      await settle()
      expect([asked[0]!.isStopped, clock.pending, watcher.state.kind]).toEqual([true, 0, 'Stopped'])
      watcher.start()
      expect(asked).toHaveLength(1)
    }
  })

  test('takes a list that has no items for an empty one', async () => {
    const { asked, told, watcher } = scene(false)
    watcher.start()
    asked[0]!.answer({ items: null, metadata: { resourceVersion: '5' } })
    await settle()
    expect(told).toEqual(['replace  at 5'])
  })
})

describe('failureOf()', () => {
  const rows: [what: string, error: unknown, failure: object][] = [
    ['410', new ApiError(410, 'Expired', 'too old'), { kind: 'expired', message: 'too old' }],
    ['422', new ApiError(422, 'Invalid', 'no'), { kind: 'refused', message: 'no' }],
    ['400', new ApiError(400, 'BadRequest', 'no'), { kind: 'refused', message: 'no' }],
    ['403', new ApiError(403, 'Forbidden', 'no'), { kind: 'forbidden', message: 'no' }],
    ['404', new ApiError(404, 'NotFound', 'no'), { kind: 'missing', message: 'no' }],
    ['429', new ApiError(429, 'TooManyRequests', 'wait', { retryAfterSeconds: 3 }), { kind: 'other', message: 'wait', retryAfterMs: 3000 }],
    ['a connection', new Error('reset'), { kind: 'other', message: 'reset' }],
    ['no error at all', 'odd', { kind: 'other', message: 'odd' }],
  ]
  test.each(rows)('%s', (_, error, failure) => expect(failureOf(error)).toEqual(failure))
})
