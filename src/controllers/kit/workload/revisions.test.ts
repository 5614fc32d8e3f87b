import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import type { Int64 } from '../../../api/numbers/int64.ts'
import { templatePatch } from '../../../api/kinds/workloads/controller-revision.ts'
import { isDns1123Label } from '../../../api/validation/names.ts'
import { hashOf, inHistory, reviseTo, revisionName, surplusRevisions } from './revisions.ts'

it.each<[string, unknown, unknown, boolean]>([
  ['another order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, true],
  ['a field that is undefined', { a: 1, b: undefined }, { a: 1 }, true],
  ['another value', { a: 1 }, { a: 2 }, false],
  ['another last digit', { a: 2n ** 60n }, { a: 2n ** 60n + 1n }, false],
  ['another type', { a: 1 }, { a: '1' }, false],
  ['another order of items', { a: [1, 2] }, { a: [2, 1] }, false],
  ['a value elsewhere', { a: { b: 1 } }, { a: {}, b: 1 }, false],
])('hashOf(): %s', (_, a, b, same) => {
  expect(hashOf(a) === hashOf(b)).toBe(same)
})

it('hashOf() has another word for another count of collisions', () => {
  expect(new Set([0, 1, 2, 3].map((count) => hashOf({ a: 1 }, count))).size).toBe(4)
})

it('hashOf() is the word that Kubernetes has for a revision', () => {
  // A StatefulSet nginx-sts of one container, on a cluster older than 1.34: its revision was nginx-sts-6798d68dcd.
  const container = {
    name: 'nginx',
    image: 'nginx',
    imagePullPolicy: 'Always',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  }
  const spec = {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  }
  const template = { metadata: { labels: { app: 'nginx-sts' }, creationTimestamp: null }, spec, $patch: 'replace' }
  expect(hashOf({ spec: { template } })).toBe('6798d68dcd')
})

it('hashOf() always makes a piece of a name', () => {
  fc.assert(fc.property(fc.jsonValue(), fc.nat(), (value, count) => isDns1123Label(hashOf(value, count)).length === 0))
})

const templateWith = (image: string): PodTemplateSpec => ({
  metadata: {},
  spec: { containers: [{ name: 'c', image, resources: {} }] },
})
const revision = (name: string, number: Int64, image = name, creationTimestamp = '2026-01-01T00:00:00Z'): ControllerRevision => ({
  metadata: { name, creationTimestamp },
  data: templatePatch(templateWith(image)),
  revision: number,
})
const [a, b, c] = [revision('a', 1), revision('b', 2), revision('c', 3)]

it('inHistory() goes by number, then age, then name', () => {
  const older = revision('z', 2, 'z', '2025-01-01T00:00:00Z')
  expect(inHistory([c!, revision('bb', 2), b!, older, a!]).map((r) => r.metadata.name)).toEqual(['a', 'z', 'b', 'bb', 'c'])
})

it('inHistory() tells numbers apart by their last digit', () => {
  const history = [3n, 1n, 2n].map((n) => revision(`r${n}`, 2n ** 60n + n))
  expect(inHistory([a!, ...history]).map((r) => r.metadata.name)).toEqual(['a', 'r1', 'r2', 'r3'])
})

describe('reviseTo()', () => {
  it('keeps the newest if it is the same', () => {
    expect(reviseTo('web', [a!, b!], templateWith('b'), 0)).toEqual({ kind: 'Keep', revision: b })
  })
  it('makes an earlier one the newest', () => {
    expect(reviseTo('web', [a!, b!], templateWith('a'), 0)).toEqual({ kind: 'Renumber', revision: a, to: 3 })
  })
  it('makes one for what was never there', () => {
    const data = templatePatch(templateWith('d'))
    const hash = hashOf(data, 2)
    const made = { kind: 'Create', name: `web-${hash}`, data, hash, number: 3 }
    expect(reviseTo('web', [a!, b!], templateWith('d'), 2)).toEqual(made)
    expect(reviseTo('web', [], templateWith('d'), 2)).toMatchObject({ kind: 'Create', number: 1 })
  })
  it('keeps the newest that an older Kubernetes wrote, though an earlier one has the same words', () => {
    const held = { ...templateWith('a'), metadata: { creationTimestamp: null }, $patch: 'replace' }
    const older = { ...revision('b', 2), data: { spec: { template: held } } }
    expect(reviseTo('web', [a!, older], templateWith('a'), 0)).toEqual({ kind: 'Keep', revision: older })
  })
  it.each<[last: Int64, next: Int64]>([
    [Number.MAX_SAFE_INTEGER, 2n ** 53n],
    [2n ** 53n, 2n ** 53n + 1n],
    [3546343826724305832n, 3546343826724305833n],
  ])('counts on from %s', (last, next) => {
    const history = [a!, revision('z', last)]
    expect(reviseTo('web', history, templateWith('d'), 0)).toMatchObject({ kind: 'Create', number: next })
    expect(reviseTo('web', history, templateWith('a'), 0)).toMatchObject({ kind: 'Renumber', to: next })
  })
})

it('revisionName() fits into a name', () => {
  expect(revisionName('x'.repeat(253), '5d8f7c9b4d').length).toBeLessThanOrEqual(253)
})

describe('surplusRevisions()', () => {
  it.each<[string, string[], number, string[]]>([
    ['within the limit', [], 3, []],
    ['the oldest goes', [], 2, ['a']],
    ['what is in use stays and is not counted', ['a'], 1, ['b']],
    ['all that are not in use', ['b'], 0, ['a', 'c']],
    ['a negative limit keeps all', [], -1, []],
  ])('%s', (_, inUse, limit, expected) => {
    expect(surplusRevisions([a!, b!, c!], new Set(inUse), limit).map((r) => r.metadata.name)).toEqual(expected)
  })
})
