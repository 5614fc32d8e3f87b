import { describe, expect, it } from 'vitest'
import { addTo, amountsText, increaseOf, raiseTo, takeFrom, withoutZeroes } from './amounts.ts'

describe('amounts by name', () => {
  it('addTo() adds in place and takes over what was missing', () => {
    const sum = { cpu: '500m' }
    addTo(sum, { cpu: '1500m', memory: '64Mi' })
    expect(sum).toEqual({ cpu: '2', memory: '64Mi' })
  })

  it('takeFrom() may go below zero', () => {
    const sum = { pods: '1' }
    takeFrom(sum, { pods: '2', cpu: '1' })
    expect(sum).toEqual({ pods: '-1', cpu: '-1' })
  })

  it('raiseTo() keeps the greater, whatever its notation', () => {
    const max = { memory: '1Gi', cpu: '1' }
    raiseTo(max, { memory: '1000M', cpu: '1100m' })
    expect(max).toEqual({ memory: '1Gi', cpu: '1100m' })
  })

  it('increaseOf() says only what became more', () => {
    expect(increaseOf({ cpu: '2', memory: '1Gi', pods: '1' }, { cpu: '500m', memory: '2Gi', pods: '1', other: '1' })).toEqual({ cpu: '1500m' })
  })

  it('withoutZeroes() knows zero in every notation', () => {
    expect(withoutZeroes({ cpu: '0m', memory: '0', pods: '1' })).toEqual({ pods: '1' })
  })

  it('amountsText() is sorted by name', () => {
    expect(amountsText({ memory: '2Gi', cpu: '500m' })).toBe('cpu=500m,memory=2Gi')
  })
})
