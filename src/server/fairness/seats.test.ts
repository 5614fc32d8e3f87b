import { describe, expect, it } from 'vitest'
import type { PriorityLevelConfiguration } from '../../api/generated/types.ts'
import { flowControlObjects } from '../resources/flowcontrol/bootstrap-objects.ts'
import { dealHand } from './hand.ts'
import { boundsOf, lendSeats, listSeats } from './seats.ts'

const levels = flowControlObjects.filter((o) => o.kind === 'PriorityLevelConfiguration') as PriorityLevelConfiguration[]

describe('boundsOf', () => {
  it('divides 600 seats as Kubernetes does', () => {
    const bounds = Object.fromEntries(Array.from(boundsOf(levels, 600), ([name, { nominal, least }]) => [name, [nominal, least]]))
    expect(bounds).toEqual({
      exempt: [0, 0],
      'catch-all': [13, 13],
      system: [74, 50],
      'node-high': [98, 73],
      'leader-election': [25, 25],
      'workload-high': [98, 49],
      'workload-low': [245, 24],
      'global-default': [49, 24],
    })
  })
})

describe('lendSeats', () => {
  const wish = (nominal: number, least: number, demand: number, most = 1000) => ({ nominal, least, demand, most })
  it.each<[string, ReturnType<typeof wish>[], number, number[]]>([
    ['nothing where nobody asks', [wish(60, 30, 0), wish(40, 20, 0)], 100, [60, 40]],
    ['what one does not need to the other', [wish(60, 30, 0), wish(40, 20, 90)], 100, [30, 70]],
    ['no more than another may have', [wish(60, 30, 0), wish(40, 20, 90, 50)], 100, [50, 50]],
    ['nothing of a level that keeps all', [wish(60, 60, 0), wish(40, 20, 90)], 100, [60, 40]],
    ['by nominal seats where both want all', [wish(60, 0, 500), wish(30, 0, 500)], 90, [60, 30]],
    ['at least one seat to everybody', [wish(0, 0, 0), wish(40, 40, 90)], 40, [1, 40]],
  ])('lends %s', (_, wishes, total, limits) => {
    expect(lendSeats(wishes, total)).toEqual(limits)
  })
})

describe('listSeats', () => {
  it.each([
    [0, 100, 1], [1, 100, 1], [100, 100, 1], [101, 100, 2], [950, 100, 10], [1_000_000, 100, 10], [1_000_000, 49, 8], [1_000_000, 5, 1],
  ])('of %i objects at a level of %i seats is %i', (objects, nominal, seats) => {
    expect(listSeats(objects, nominal)).toBe(seats)
  })
})

describe('dealHand', () => {
  it.each([[128, 6], [64, 8], [4, 4], [1, 1], [10_000_000, 2]])('of %i queues deals %i, all of them others', (queues, size) => {
    const hand = dealHand('jane', queues, size)
    expect(hand).toEqual(dealHand('jane', queues, size))
    expect(new Set(hand).size).toBe(size)
    expect(hand.every((card) => card >= 0 && card < queues)).toBe(true)
  })

  it('leaves nearly every flow a queue that another does not flood', () => {
    const flood = new Set(dealHand('flood', 128, 6))
    const drowned = Array.from({ length: 1000 }, (_, i) => dealHand(`user-${i}`, 128, 6)).filter((hand) => hand.every((card) => flood.has(card)))
    expect(drowned).toEqual([])
  })

  it('uses all queues alike', () => {
    const used = new Map<number, number>()
    for (let i = 0; i < 6400; i++) for (const card of dealHand(`user-${i}`, 64, 6)) used.set(card, (used.get(card) ?? 0) + 1)
    const counts = [...used.values()]
    expect([counts.length, Math.min(...counts) > 450, Math.max(...counts) < 760]).toEqual([64, true, true])
  })
})
