import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cell, Places, layoutFor } from './cells.ts'

const cell = (id: number): Cell => ({ id, name: `p-${id}`, state: 'available', isOld: false })
const ids = ({ cells }: Places) => cells.map((one) => one?.id)

describe('Places', () => {
  it('gives a pod that comes the place of one that has gone, and moves no other', () => {
    const places = new Places()
    for (const id of [1, 2, 3]) places.put(cell(id))
    places.remove(2)
    places.put(cell(4))
    expect(ids(places)).toEqual([1, 4, 3])
  })

  it('has every pod once, and no gaps after they were closed', () => {
    fc.assert(fc.property(fc.array(fc.tuple(fc.nat(20), fc.boolean())), (steps) => {
      const places = new Places()
      const there = new Set<number>()
      for (const [id, comes] of steps) {
        if (comes) places.put(cell(id))
        else places.remove(id)
        if (comes) there.add(id)
        else there.delete(id)
      }
      places.close()
      expect(ids(places).toSorted((a, b) => a! - b!)).toEqual([...there].toSorted((a, b) => a - b))
      for (const id of there) expect(places.cells[places.put(cell(id))]!.id).toBe(id)
      expect(places.cells.length).toBe(there.size)
    }))
  })
})

describe('layoutFor()', () => {
  it.each([
    [1, 1200, 22], [1000, 1200, 18], [30_000, 1200, 3], [30_000, 360, 3],
  ])('shows %i pods in %i pixels with cells of %i', (count, width, size) => {
    const layout = layoutFor(count, width)
    expect(layout.size).toBe(size)
    expect(layout.columns * size).toBeLessThanOrEqual(width)
    expect((layout.columns * layout.height) / size).toBeGreaterThanOrEqual(count)
  })
})
