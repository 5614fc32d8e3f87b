import { describe, expect, it } from 'vitest'
import type { ControllerRevision, PodTemplateSpec } from '../../../api/generated/types.ts'
import { templatePatch } from '../../../api/kinds/controller-revision.ts'
import { hashOf } from './hash.ts'
import { inHistory, revisionName, reviseTo, surplusRevisions } from './revisions.ts'

const templateWith = (image: string): PodTemplateSpec => ({
  metadata: {},
  spec: { containers: [{ name: 'c', image, resources: {} }] },
})
const revision = (name: string, number: number, image = name, creationTimestamp = '2026-01-01T00:00:00Z'): ControllerRevision => ({
  metadata: { name, creationTimestamp },
  data: templatePatch(templateWith(image)),
  revision: number,
})
const [a, b, c] = [revision('a', 1), revision('b', 2), revision('c', 3)]

it('inHistory() goes by number, then age, then name', () => {
  const older = revision('z', 2, 'z', '2025-01-01T00:00:00Z')
  expect(inHistory([c!, revision('bb', 2), b!, older, a!]).map((r) => r.metadata.name)).toEqual(['a', 'z', 'b', 'bb', 'c'])
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
