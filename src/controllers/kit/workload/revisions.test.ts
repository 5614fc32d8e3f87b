import { describe, expect, it } from 'vitest'
import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import type { Int64 } from '../../../api/int64.ts'
import { templatePatch } from '../../../api/kinds/controller-revision.ts'
import { hashOf } from './hash.ts'
import { inHistory, revisionName, reviseTo, surplusRevisions } from './revisions.ts'

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
