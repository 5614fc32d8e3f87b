import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { DelayHeap } from './delay-heap.ts'

function takeAll(heap: DelayHeap<string>): string[] {
  const keys: string[] = []
  for (let due = heap.takeDue(Infinity); due; due = heap.takeDue(Infinity)) keys.push(due.key)
  return keys
}

it('DelayHeap gives back keys by their times, those of one time as they came', () => {
  const heap = new DelayHeap<string>()
  for (const [key, atMs] of [['c', 30], ['a', 10], ['b1', 20], ['b2', 20], ['b3', 20]] as const) heap.add(key, atMs, 0)
  expect(heap.nextAtMs).toBe(10)
  expect(takeAll(heap)).toEqual(['a', 'b1', 'b2', 'b3', 'c'])
  expect(heap.nextAtMs).toBeUndefined()
})

it('DelayHeap gives nothing before its time', () => {
  const heap = new DelayHeap<string>()
  heap.add('a', 10, 0)
  expect(heap.takeDue(9)).toBeUndefined()
  expect(heap.takeDue(10)?.key).toBe('a')
})

it('DelayHeap keeps the earlier time and the higher priority of a key that is added twice', () => {
  const heap = new DelayHeap<string>()
  heap.add('a', 10, 1)
  heap.add('b', 20, 0)
  heap.add('a', 30, 5)
  heap.add('b', 5, -1)
  expect(heap.size).toBe(2)
  expect(heap.takeDue(Infinity)).toMatchObject({ key: 'b', priority: 0 })
  expect(heap.takeDue(Infinity)).toMatchObject({ key: 'a', priority: 5, atMs: 10 })
})

it('DelayHeap agrees with a sorted list, whatever is added and taken', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: fc.integer({ min: 0, max: 20 }), at: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ kind: fc.constant('take' as const), key: fc.constant(0), at: fc.integer({ min: 0, max: 50 }) }),
  )
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const heap = new DelayHeap<number>()
    let model: { key: number; at: number; order: number }[] = []
    for (const [order, { kind, key, at }] of steps.entries()) {
      if (kind === 'add') {
        heap.add(key, at, 0)
        const there = model.find((m) => m.key === key)
        if (!there) model.push({ key, at, order })
        else if (at < there.at) Object.assign(there, { at, order })
      } else {
        model.sort((a, b) => a.at - b.at || a.order - b.order)
        const wanted = model[0] && model[0].at <= at ? model[0].key : undefined
        expect(heap.takeDue(at)?.key).toBe(wanted)
        if (wanted !== undefined) model = model.slice(1)
      }
      expect([heap.size, heap.nextAtMs]).toEqual([model.length, model.length ? Math.min(...model.map((m) => m.at)) : undefined])
    }
  }))
})
