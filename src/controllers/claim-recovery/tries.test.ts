import { describe, expect, it } from 'vitest'
import { ago, nowMs, sampleSet } from './sample.ts'
import { countOf, triesAnnotation, triesOf, waitMs } from './tries.ts'

const minute = 60_000

describe('waitMs() doubles', () => {
  it.each([[0, 5], [1, 10], [2, 20], [3, 40], [4, 60], [9, 60], [1000, 60]])('after %i times it is %i minutes', (count, minutes) => {
    expect(waitMs(5 * minute, count)).toBe(minutes * minute)
  })

  it('and is never shorter than what is asked for', () => {
    expect(waitMs(120 * minute, 3)).toBe(120 * minute)
  })
})

describe('countOf()', () => {
  const tries = { 'web-0': { count: 2, at: ago(0) } }
  it.each<[string, string, number, number]>([
    ['counts at once', 'web-0', 0, 2],
    ['counts while the pod was not well for long', 'web-0', 199, 2],
    ['begins anew when it was', 'web-0', 200, 0],
    ['counts nothing for another pod', 'web-1', 0, 0],
  ])('%s', (_, pod, minutes, wanted) => {
    expect(countOf(tries, pod, nowMs + minutes * minute, 5 * minute)).toBe(wanted)
  })
})

it.each([
  ['no JSON', '{'], ['a number', '{"web-0":3}'], ['half of it', '{"web-0":{"count":1}}'], ['no time', '{"web-0":{"count":1,"at":"soon"}}'], ['null', '{"web-0":null}'],
  ['a list', '[]'], ['none at all', 'null'], ['less than once', '{"web-0":{"count":-5,"at":"2026-01-01T00:00:00Z"}}'],
])('triesOf() does not take %s for nothing', (_, text) => {
  expect(triesOf(sampleSet({ annotations: { [triesAnnotation]: text } }))).toBeUndefined()
})

it.each([['no annotation', undefined], ['an empty one', '']])('triesOf() reads nothing from %s', (_, text) => {
  expect(triesOf(sampleSet({ annotations: { [triesAnnotation]: text } }))).toEqual({})
})
