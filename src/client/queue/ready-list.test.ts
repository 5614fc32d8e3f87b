import { expect, it } from 'vitest'
import { ReadyList, ReadyNode } from './ready-list.ts'

const never = Number.MAX_SAFE_INTEGER

function filled(oldestEvery: number, keys: readonly [string, number][]) {
  const list = new ReadyList<string>(oldestEvery)
  const nodes = new Map<string, ReadyNode<string>>()
  for (const [key, priority] of keys) {
    const node = new ReadyNode(key)
    nodes.set(key, node)
    list.push(node, priority)
  }
  return { list, nodes }
}

const takeAll = (list: ReadyList<string>) => Array.from({ length: list.size }, () => list.shift()!.key)

it('ReadyList hands out higher priorities first, and first come first served within one', () => {
  const { list } = filled(never, [['low-1', 0], ['high-1', 5], ['low-2', 0], ['mid', 3], ['high-2', 5]])
  expect(takeAll(list)).toEqual(['high-1', 'high-2', 'mid', 'low-1', 'low-2'])
  expect([list.size, list.shift()]).toEqual([0, undefined])
})

it('ReadyList gives every n-th turn to the key that has waited longest', () => {
  const { list } = filled(3, [['low', 0], ['lower', -1], ['a', 1], ['b', 1], ['c', 1], ['d', 1]])
  expect(takeAll(list)).toEqual(['a', 'b', 'low', 'c', 'd', 'lower'])
})

it('ReadyList moves a raised key to the end of the higher line, with its age', () => {
  const raised = filled(never, [['x', 0], ['y', 0], ['a', 1], ['b', 1]])
  raised.list.raise(raised.nodes.get('x')!, 1)
  expect(takeAll(raised.list)).toEqual(['a', 'b', 'x', 'y'])

  const aged = filled(2, [['x', 0], ['y', 0], ['a', 1], ['b', 1]])
  aged.list.raise(aged.nodes.get('x')!, 1)
  expect(takeAll(aged.list)).toEqual(['a', 'x', 'b', 'y'])
})

it('ReadyList does not lower a priority, nor raise a key that is not in it', () => {
  const { list, nodes } = filled(never, [['x', 1], ['y', 0]])
  list.raise(nodes.get('x')!, 0)
  expect(list.shift()!.key).toBe('x')
  list.raise(nodes.get('x')!, 9)
  expect(takeAll(list)).toEqual(['y'])
})

it('ReadyList is empty after clear, and works on', () => {
  const { list, nodes } = filled(never, [['x', 1], ['y', 0]])
  expect(list.clear().map((n) => n.key)).toEqual(['x', 'y'])
  list.push(nodes.get('y')!, 0)
  expect(takeAll(list)).toEqual(['y'])
})
