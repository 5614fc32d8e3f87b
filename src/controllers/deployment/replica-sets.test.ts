import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../api/generated/types.ts'
import {
  byRevision, desiredReplicasAnnotation, draftOf, isSameTemplate, numberIn, revisionAnnotation, revisionAnnotations,
  revisionHistoryAnnotation, sortOut, surplusSets, templateHashLabel,
} from './replica-sets.ts'
import { deployment, replicaSet } from './sample.ts'

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

const template = (image: string, labels: Record<string, string> = { app: 'web' }): PodTemplateSpec =>
  ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } }) as unknown as PodTemplateSpec

describe('isSameTemplate()', () => {
  it.each<[string, PodTemplateSpec, PodTemplateSpec, boolean]>([
    ['the same', template('a'), template('a'), true],
    ['with our label', template('a'), template('a', { app: 'web', [templateHashLabel]: 'x' }), true],
    ['with our label on both', template('a', { [templateHashLabel]: 'y' }), template('a', { [templateHashLabel]: 'x' }), true],
    ['with another label', template('a'), template('a', { app: 'web', tier: 'x' }), false],
    ['another image', template('a'), template('b'), false],
    ['what is empty and what is not there', template('a', {}), { metadata: {}, spec: template('a').spec! }, true],
  ])('%s', (_, a, b, expected) => {
    expect(isSameTemplate(a, b)).toBe(expected)
  })
})

describe('sortOut()', () => {
  it('finds the new one by its template, and of two the older', () => {
    const young = replicaSet(9, { metadata: { name: 'young', creationTimestamp: '2026-01-01T00:00:09Z' } })
    const old = replicaSet(9, { metadata: { name: 'old', creationTimestamp: '2026-01-01T00:00:01Z' } })
    const { newSet, oldSets } = sortOut(deployment(), [young, replicaSet(2), old])
    expect(newSet).toBe(old)
    expect(oldSets.map((set) => set.metadata.name)).toEqual(['web-2', 'young'])
  })

  it('has no new one where the template is another', () => {
    expect(sortOut(deployment(), [replicaSet(2), replicaSet(1)]).newSet).toBeUndefined()
  })
})

it('byRevision() tells numbers apart by their last digit', () => {
  const texts = ['3546343826724305833', '3546343826724305834', '3546343826724305832']
  const sets = texts.map((text, i) => replicaSet(i, { annotations: { [revisionAnnotation]: text } }))
  expect(sets.toSorted(byRevision).map((set) => set.metadata.name)).toEqual(['web-2', 'web-0', 'web-1'])
})

describe('draftOf()', () => {
  const hashOfDraft = (d: ReturnType<typeof deployment>) => draftOf(d, 1, {}).metadata.labels![templateHashLabel]!

  it('tells its pods by a hash, in labels, selector and template', () => {
    const draft = draftOf(deployment({ minReadySeconds: 7 }), 3, { a: 'b' })
    const hash = draft.metadata.labels![templateHashLabel]!
    const labels = { app: 'web', [templateHashLabel]: hash }
    expect(draft).toMatchObject({
      metadata: { name: `web-${hash}`, labels, annotations: { a: 'b' } },
      spec: { replicas: 3, minReadySeconds: 7, selector: { matchLabels: labels }, template: { metadata: { labels } } },
    })
  })

  it('has another hash for another template, and after a collision', () => {
    const hashes = [deployment(), deployment({ template: template('b') }), deployment({}, { status: { collisionCount: 1 } })].map(hashOfDraft)
    expect(new Set(hashes).size).toBe(3)
    expect(hashOfDraft(deployment({ replicas: 1, paused: true }))).toBe(hashes[0])
  })

  it('has a name that fits, whatever the name of the Deployment', () => {
    expect(draftOf(deployment({}, { metadata: { name: 'x'.repeat(253) } }), 1, {}).metadata.name!.length).toBeLessThanOrEqual(253)
  })
})

const idle = [1, 2, 3].map((n) => replicaSet(n))

it.each<[string, number | undefined, ReturnType<typeof replicaSet>[], string]>([
  ['within the limit', 3, idle, ''],
  ['the oldest revision goes', 2, idle, 'web-1'],
  ['all go', 0, idle, 'web-1 web-2 web-3'],
  ['no limit', undefined, idle, ''],
  ['the limit that means none', 2147483647, idle, ''],
  ['not the oldest object, the lowest number', 2, [replicaSet(1, { annotations: { 'deployment.kubernetes.io/revision': '7' } }), ...idle.slice(1)], 'web-2'],
  ['one that is to have pods stays, and counts', 1, [replicaSet(1, { replicas: 2 }), ...idle.slice(1)], 'web-2'],
  ['one that still has pods stays', 2, [replicaSet(1, { status: { replicas: 1 } }), ...idle.slice(1)], ''],
  ['one that has not heard of its size stays', 2, [replicaSet(1, { metadata: { generation: 5 } }), ...idle.slice(1)], ''],
  ['one that is going does not count', 2, [replicaSet(1, { metadata: { deletionTimestamp: 'now' } }), ...idle.slice(1)], ''],
])('surplusSets(): %s', (_, revisionHistoryLimit, sets, expected) => {
  expect(surplusSets(deployment({ revisionHistoryLimit }), sets).map((set) => set.metadata.name).join(' ')).toBe(expected)
})
