import { describe, expect, it } from 'vitest'
import {
  desiredReplicasAnnotation, numberIn, revisionAnnotation, revisionAnnotations, revisionHistoryAnnotation,
} from './annotations.ts'
import { deployment, replicaSet } from './sample-deployments.ts'

const numbered = (text: string | undefined, history?: string) =>
  replicaSet(9, { metadata: { annotations: { ...(text === undefined ? {} : { [revisionAnnotation]: text }), ...(history === undefined ? {} : { [revisionHistoryAnnotation]: history }) } } })

describe('revisionAnnotations()', () => {
  it.each<[string, string | undefined, string | undefined, (number | bigint)[], object]>([
    ['the first', undefined, undefined, [], { [revisionAnnotation]: '1' }],
    ['one more than the highest', undefined, undefined, [3, 12], { [revisionAnnotation]: '13' }],
    ['the highest stays', '13', undefined, [3, 12], {}],
    ['a higher one than needed stays', '20', undefined, [3], {}],
    ['numbers, not texts, are compared', '9', undefined, [10], { [revisionAnnotation]: '11', [revisionHistoryAnnotation]: '9' }],
    ['one that is gone back to remembers its number', '1', undefined, [2], { [revisionAnnotation]: '3', [revisionHistoryAnnotation]: '1' }],
    ['and those before', '3', '1', [4], { [revisionAnnotation]: '5', [revisionHistoryAnnotation]: '1,3' }],
    ['one more than a number that a double would round', undefined, undefined, [3546343826724305832n], {
      [revisionAnnotation]: '3546343826724305833',
    }],
    ['and the one before is remembered as it was', '3546343826724305832', undefined, [3546343826724305832n], {
      [revisionAnnotation]: '3546343826724305833',
      [revisionHistoryAnnotation]: '3546343826724305832',
    }],
    ['one that is higher in the last digit stays', '3546343826724305833', undefined, [3546343826724305832n], {}],
    ['past the highest there is none, as in Kubernetes', undefined, undefined, [2n ** 63n - 1n], {}],
    ['what is no int64 is left alone', '9223372036854775808', undefined, [2], {}],
    ['what is no int64 does not count', undefined, undefined, [2, 2n ** 63n], { [revisionAnnotation]: '3' }],
    ['what is no number is left alone', 'x', undefined, [2], {}],
    ['what is no number does not count', undefined, undefined, [0], { [revisionAnnotation]: '1' }],
  ])('%s', (_, current, history, old, expected) => {
    const oldSets = old.map((n) => replicaSet(1, { annotations: { [revisionAnnotation]: n === 0 ? 'zero' : String(n) } }))
    const set = current === undefined && history === undefined ? undefined : numbered(current, history)
    expect(revisionAnnotations(deployment(), set, oldSets)).toEqual(expected)
  })

  it('drops the oldest numbers of a long history', () => {
    const long = Array.from({ length: 500 }, (_, i) => String(1000 + i)).join()
    const { [revisionHistoryAnnotation]: history } = revisionAnnotations(deployment(), numbered('2000', long), [replicaSet(1, { annotations: { [revisionAnnotation]: '2001' } })])
    expect(history!.length).toBeLessThanOrEqual(2000)
    expect(history!.endsWith(',1499,2000')).toBe(true)
    expect(history!.startsWith('1101,')).toBe(true)
  })

  it('copies what the Deployment says, but for what is its own', () => {
    const annotations = {
      'kubernetes.io/change-cause': 'a new image',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'deprecated.deployment.rollback.rollbackTo': '1',
      [revisionAnnotation]: '7',
      [revisionHistoryAnnotation]: '5',
      'deployment.kubernetes.io/desired-replicas': '1',
      'deployment.kubernetes.io/max-replicas': '1',
    }
    expect(revisionAnnotations(deployment({}, { metadata: { annotations } }), undefined, [])).toEqual({ 'kubernetes.io/change-cause': 'a new image', [revisionAnnotation]: '1' })
  })
})

describe('numberIn()', () => {
  it.each<[text: string, expected: number | undefined]>([
    ['7', 7],
    ['-7', -7],
    ['+7', 7],
    ['2147483647', 2147483647],
    ['2147483648', undefined],
    ['9007199254740993', undefined],
    ['7.0', undefined],
    ['', undefined],
  ])('%j', (text, expected) => {
    const set = replicaSet(1, { annotations: { [desiredReplicasAnnotation]: text } })
    expect(numberIn(set, desiredReplicasAnnotation)).toBe(expected)
  })
})
