import { describe, expect, it } from 'vitest'
import { countIndexes, sharedIndex } from './job-indexes.ts'

describe('countIndexes()', () => {
  it.each([
    ['', { total: 0 }],
    ['0', { total: 1 }],
    ['0,2-4,6', { total: 5 }],
    ['7', { problem: 'too large index: "7"' }],
    ['1-7', { problem: 'too large index: "7"' }],
    ['3,1', { problem: 'non-increasing order, previous: 3, current: 1' }],
    ['2-1', { problem: 'non-increasing order, previous: 2, current: 1' }],
    ['1-1', { problem: 'non-increasing order, previous: 1, current: 1' }],
    ['1-2,2', { problem: 'non-increasing order, previous: 2, current: 2' }],
    ['1,', { problem: 'cannot convert string to integer for index: ""' }],
    ['-1', { problem: 'cannot convert string to integer for index: ""' }],
    ['a', { problem: 'cannot convert string to integer for index: "a"' }],
    [
      '1-2-3',
      { problem: 'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'' },
    ],
  ])('of %j among 7: %j', (text, outcome) => {
    expect(countIndexes(text, 7)).toEqual(outcome)
  })
})

describe('sharedIndex()', () => {
  it.each([
    ['0-2', '2-3', 2],
    ['0,4-6', '1-3,5', 5],
    ['0,2', '1,3', undefined],
    ['', '1', undefined],
    ['oops,1', '1', 1],
  ])('of %j and %j: %j', (a, b, index) => {
    expect(sharedIndex(a, b, 10)).toBe(index)
  })
})
