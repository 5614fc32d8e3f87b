import { describe, expect, it } from 'vitest'
import type { Taint, Toleration } from '../../generated/types.ts'
import { isSameTaint, tolerates, untoleratedTaint } from './tolerations.ts'

const taint: Taint = { key: 'dedicated', value: 'db', effect: 'NoExecute' }

describe('tolerates()', () => {
  it.each<[string, Toleration, boolean]>([
    ['the very taint', { key: 'dedicated', operator: 'Equal', value: 'db', effect: 'NoExecute' }, true],
    ['an operator that is not named is Equal', { key: 'dedicated', value: 'db' }, true],
    ['another value', { key: 'dedicated', value: 'web' }, false],
    ['no value, where the taint has one', { key: 'dedicated' }, false],
    ['any value', { key: 'dedicated', operator: 'Exists' }, true],
    ['everything', { operator: 'Exists' }, true],
    ['everything of another effect', { operator: 'Exists', effect: 'NoSchedule' }, false],
    ['another key', { key: 'other', operator: 'Exists' }, false],
    ['an operator that does not exist', { key: 'dedicated', operator: 'Near', value: 'db' }, false],
  ])('%s', (_, toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected)
  })

  it('takes an absent value for an empty one', () => {
    expect(tolerates({ key: 'k' }, { key: 'k', effect: 'NoExecute' })).toBe(true)
  })
})

it('isSameTaint() does not look at values', () => {
  expect(isSameTaint(taint, { ...taint, value: 'web' })).toBe(true)
  expect(isSameTaint(taint, { ...taint, effect: 'NoSchedule' })).toBe(false)
})

it('untoleratedTaint() finds the first taint of the effects in question that nothing tolerates', () => {
  const [warns, closed, evicts]: Taint[] = [{ key: 'a', effect: 'PreferNoSchedule' }, { key: 'b', effect: 'NoSchedule' }, { key: 'c', effect: 'NoExecute' }]
  const taints = [warns!, closed!, evicts!]
  expect(untoleratedTaint(taints, [], ['NoSchedule', 'NoExecute'])).toBe(closed)
  expect(untoleratedTaint(taints, [{ key: 'b', operator: 'Exists' }], ['NoSchedule', 'NoExecute'])).toBe(evicts)
  expect(untoleratedTaint(taints, [{ operator: 'Exists' }], ['NoSchedule', 'NoExecute'])).toBeUndefined()
  expect(untoleratedTaint(undefined, [], ['NoSchedule'])).toBeUndefined()
})
