import { describe, expect, it } from 'vitest'
import { IndexSet } from './indexes.ts'

it.each<[indexes: number[], text: string, size: number]>([
  [[], '', 0],
  [[3], '3', 1],
  [[0, 1], '0,1', 2],
  [[0, 1, 2], '0-2', 3],
  [[5, 0, 2, 1, 5], '0-2,5', 4],
  [[1, 3, 4, 6, 7, 8], '1,3,4,6-8', 6],
])('IndexSet.of(%j) is written %j', (indexes, text, size) => {
  const set = IndexSet.of(indexes)
  expect([`${set}`, set.size]).toEqual([text, size])
  expect(`${IndexSet.parse(text, 100)}`).toBe(text)
  for (let i = 0; i < 10; i++) expect(set.has(i)).toBe(indexes.includes(i))
})

describe('IndexSet.parse()', () => {
  it.each<[text: string | undefined, completions: number, read: string]>([
    [undefined, 5, ''],
    ['', 5, ''],
    ['0-2,3', 5, '0-3'],
    ['0-9', 5, '0-4'],
    ['1,7', 5, '1'],
    ['1,x,3', 5, '1,3'],
    ['3-1', 5, ''],
  ])('of %j below %i is %j', (text, completions, read) => {
    expect(`${IndexSet.parse(text, completions)}`).toBe(read)
  })
})

it.each<[a: number[], b: number[], union: string, shared: number]>([
  [[], [], '', 0],
  [[1, 2], [], '1,2', 0],
  [[], [1], '1', 0],
  [[0, 1], [2], '0-2', 0],
  [[0, 1, 2, 7], [1, 2, 3], '0-3,7', 2],
])('the union of %j and %j is %j, and they share %i', (a, b, union, shared) => {
  expect(`${IndexSet.of(a).union(IndexSet.of(b))}`).toBe(union)
  expect(IndexSet.of(a).sharedWith(IndexSet.of(b))).toBe(shared)
})
