import { describe, expect, it } from 'vitest'
import { KeyedHeap } from './keyed-heap.ts'
import { SeededRandom } from './seeded-random.ts'

const smallest = () => new KeyedHeap<string, number>((a, b) => a < b)

function drain(heap: KeyedHeap<string, number>): number[] {
  const out: number[] = []
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) {
    out.push(next)
    if (out.length > 100_000) throw new Error('the heap is never empty')
  }
  return out
}

describe('KeyedHeap', () => {
  it('gives its values in order', () => {
    const heap = smallest()
    for (const n of [5, 1, 4, 2, 3]) heap.set(`key-${n}`, n)
    expect(heap.peek()).toBe(1)
    expect(drain(heap)).toEqual([1, 2, 3, 4, 5])
    expect(heap.pop()).toBeUndefined()
  })

  it('tells the first in order and keeps them', () => {
    const heap = smallest()
    const random = new SeededRandom(1)
    const all = Array.from({ length: 200 }, () => random.below(1000))
    all.forEach((n, i) => heap.set(`key-${i}`, n))
    const sorted = all.toSorted((a, b) => a - b)
    for (const count of [0, 1, 7, 200, 300]) expect(heap.first(count)).toEqual(sorted.slice(0, count))
    expect([...heap.inOrder()]).toEqual(sorted)
    expect(heap.values().sort((a, b) => a - b)).toEqual(sorted)
    expect(heap.size).toBe(200)
  })

  it('moves a key whose value is replaced', () => {
    const heap = smallest()
    for (const n of [1, 2, 3]) heap.set(`key-${n}`, n)
    heap.set('key-1', 9)
    heap.set('key-3', 0)
    expect([heap.size, heap.get('key-1')]).toEqual([3, 9])
    expect(drain(heap)).toEqual([0, 2, 9])
  })

  it('stays in order when any key is taken out', () => {
    const random = new SeededRandom(7)
    for (let round = 0; round < 50; round++) {
      const heap = smallest()
      const left = new Map<string, number>()
      for (let i = 0; i < 40; i++) {
        const value = Math.floor(random.next() * 20)
        heap.set(`key-${i}`, value)
        left.set(`key-${i}`, value)
      }
      for (let i = 0; i < 40; i += 3) {
        expect(heap.delete(`key-${i}`)).toBe(left.get(`key-${i}`))
        left.delete(`key-${i}`)
      }
      expect(drain(heap)).toEqual([...left.values()].sort((a, b) => a - b))
    }
  })

  it('knows nothing of a key that is not in it', () => {
    const heap = smallest()
    expect(heap.delete('none')).toBeUndefined()
    expect([heap.has('none'), heap.get('none')]).toEqual([false, undefined])
  })
})
