import { describe, expect, it } from 'vitest'
import type { PodTemplateSpec } from '../../api/generated/types.ts'
import { revisionAnnotation } from './annotations.ts'
import { byRevision, draftOf, isSameTemplate, sortOut, templateHashLabel } from './replica-sets.ts'
import { deployment, replicaSet } from './sample-deployments.ts'

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
