import { expect, it } from 'vitest'
import { assert } from './assert.ts'

it('assert() throws in tests if the invariant does not hold', () => {
  expect(() => assert(() => true, 'one is one')).not.toThrow()
  expect(() => assert(() => false, 'one is two')).toThrow('invariant violated: one is two')
})
