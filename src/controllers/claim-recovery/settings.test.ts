import { describe, expect, it } from 'vitest'
import {
  claimRecovery, claimRecoveryAfter, claimRecoveryLimit, claimRecoveryRetained,
} from '../../api/kinds/workloads/claim-recovery.ts'
import { ago, nowMs, sampleSet } from './sample.ts'
import { countOf, settingsOf, triesAnnotation, triesOf, waitMs } from './settings.ts'

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

it.each<[string, Record<string, string>, string | number]>([
  ['a set that asks for nothing', {}, 'off'],
  ['one that only says after how long', { [claimRecoveryAfter]: '5m' }, 'off'],
  ['five minutes if nothing is said', { [claimRecovery]: 'recreate' }, 300_000],
  ['as long as is said', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '1m30s' }, 90_000],
  ['something else than recreate', { [claimRecovery]: 'true' }, 'invalid'],
  ['a dry run', { [claimRecovery]: 'observe' }, 'observe'],
  ['no limit', { [claimRecovery]: 'recreate', [claimRecoveryLimit]: '0' }, 'invalid'],
  ['a limit that is no number', { [claimRecovery]: 'observe', [claimRecoveryLimit]: 'many' }, 'invalid'],
  ['half a consent', { [claimRecovery]: 'recreate', [claimRecoveryRetained]: 'yes' }, 'invalid'],
  ['no duration', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: 'soon' }, 'invalid'],
  ['a number without a unit', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '300' }, 'invalid'],
  ['less than conditions can tell', { [claimRecovery]: 'recreate', [claimRecoveryAfter]: '4s' }, 'invalid'],
])('settingsOf(): %s', (_, annotations, wanted) => {
  const settings = settingsOf({ metadata: { name: 'web', annotations } })
  expect(settings.kind === 'on' ? settings.afterMs : settings.kind).toBe(wanted)
})

it('settingsOf() reads limit and consent', () => {
  const annotations = { [claimRecovery]: 'recreate', [claimRecoveryLimit]: '3', [claimRecoveryRetained]: 'recreate' }
  expect(settingsOf({ metadata: { name: 'web', annotations } })).toEqual({ kind: 'on', afterMs: 300_000, limit: 3, allowsRetained: true })
  const few = { [claimRecovery]: 'recreate' }
  expect(settingsOf({ metadata: { name: 'web', annotations: few } })).toMatchObject({ limit: 10, allowsRetained: false })
})
