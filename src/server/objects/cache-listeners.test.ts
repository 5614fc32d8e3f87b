import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { type CacheEvent, CacheListeners, type WantedField } from './cache-listeners.ts'

const read = (object: KubeObject): string => (object as { spec?: { nodeName?: string } }).spec?.nodeName ?? ''
const onNode = (value: string): WantedField => ({ name: 'spec.nodeName', value, read })

/** An event of a pod that was on one node and is on another; undefined where there is none. */
function event(name: string, before: string | undefined, now: string): CacheEvent {
  const stored = (nodeName: string) => ({ object: { metadata: { name }, spec: { nodeName } } })
  return { type: before === undefined ? 'ADDED' : 'MODIFIED', object: stored(now), previous: before === undefined ? undefined : stored(before) } as unknown as CacheEvent
}

const unreadable = { type: 'MODIFIED', previous: undefined, object: { get object(): never { throw new Error('damaged') } } } as unknown as CacheEvent

describe('CacheListeners', () => {
  function heard() {
    const listeners = new CacheListeners()
    const told: Record<string, unknown[]> = { all: [], a: [], b: [], '': [] }
    const hear = (who: string) => (events: readonly CacheEvent[], revision: number) => told[who]!.push([events, revision])
    const stops = [listeners.add(hear('all')), ...['a', 'b', ''].map((value) => listeners.add(hear(value), onNode(value)))]
    return { listeners, told, stops }
  }

  it('tells of events by the value before and after, in order, and of all where none is wanted', () => {
    const { listeners, told } = heard()
    const events = [event('1', undefined, 'a'), event('2', '', 'b'), event('3', 'a', 'a'), event('4', 'b', 'c'), event('5', undefined, 'd')]
    listeners.tell(events, 7)
    expect(told).toEqual({
      all: [[events, 7]],
      a: [[[events[0], events[2]], 7]],
      b: [[[events[1], events[3]], 7]],
      '': [[[events[1]], 7]],
    })
  })

  it('tells everybody of an object that cannot be read', () => {
    const { listeners, told } = heard()
    listeners.tell([unreadable], 8)
    for (const its of Object.values(told)) expect(its).toEqual([[[unreadable], 8]])
  })

  it('forgets who has stopped, also in the midst of an event', () => {
    const { listeners, told, stops } = heard()
    expect(listeners.size).toBe(4)
    const stop = listeners.add(() => stops[1]!(), onNode('a'))
    listeners.tell([event('1', undefined, 'a')], 9)
    stop()
    listeners.tell([event('2', undefined, 'a')], 10)
    expect(told.a).toEqual([[[expect.anything()], 9]])
    for (const one of stops) one()
    for (const one of stops) one()
    expect(listeners.size).toBe(0)
  })

  it('forgets everybody when it is cleared', () => {
    const { listeners, told, stops } = heard()
    listeners.clear()
    listeners.tell([event('1', undefined, 'a')], 11)
    expect([listeners.size, told]).toEqual([0, { all: [], a: [], b: [], '': [] }])
    for (const one of stops) one()
    expect(listeners.size).toBe(0)
  })
})
