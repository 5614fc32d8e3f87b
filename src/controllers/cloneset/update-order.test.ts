import { describe, expect, it } from 'vitest'
import type { CloneSetUpdateStrategy, UpdateScatterTerm } from '../../api/generated/types.ts'
import type { ActiveMember } from './member.ts'
import { type PodOver, samplePods, sampleSeen, sampleSet } from './sample.ts'
import { inUpdateOrder, scatter } from './update-order.ts'

/** Pods of a set whose new revision is another one. */
const outdated = (names: string, over: Record<string, PodOver> = {}, update: CloneSetUpdateStrategy = {}) =>
  sampleSeen({ set: sampleSet({ image: 'b', update }), pods: samplePods(names, over) }).members
const members = (names: string, over: Record<string, PodOver> = {}) => [...outdated(names, over).all()]
const namesOf = (some: Iterable<ActiveMember>) => [...some].map(({ pod }) => pod.metadata.name).join(' ')

const labelled = (labels: Record<string, Record<string, string>>): Record<string, PodOver> =>
  Object.fromEntries(Object.entries(labels).map(([name, l]) => [name, { labels: l }]))

describe('inUpdateOrder()', () => {
  const long = labelled({ a1: { o: '9007199254740992' }, a2: { o: '9007199254740994' }, a3: { o: '9007199254740993' } })
  it.each<[string, string, Record<string, PodOver>, CloneSetUpdateStrategy, string]>([
    ['takes those first that would be missed least', 'a1 a2! a3? a4', {}, {}, 'a3 a2 a1 a4'],
    ['takes the heaviest first', 'a1 a2 a3', labelled({ a2: { x: '1' }, a3: { x: '1', y: '1' } }), {
      priorityStrategy: { weightPriority: [{ weight: 50, matchSelector: { matchLabels: { x: '1' } } }, { weight: 30, matchSelector: { matchLabels: { y: '1' } } }] },
    }, 'a3 a2 a1'],
    ['adds up weights that match', 'a1 a2 a3', labelled({ a1: { x: '1' }, a2: { y: '1' }, a3: { x: '1', y: '1' } }), {
      priorityStrategy: { weightPriority: [{ weight: 20, matchSelector: { matchLabels: { x: '1' } } }, { weight: 30, matchSelector: { matchLabels: { y: '1' } } }] },
    }, 'a3 a2 a1'],
    ['takes the highest number of a label first, and what has none before', 'a1 a2 a3 a4', labelled({ a1: { o: 'web-2' }, a2: { o: 'web-10' }, a4: { o: 'web' } }), {
      priorityStrategy: { orderPriority: [{ orderedKey: 'o' }] },
    }, 'a3 a2 a1 a4'],
    ['tells numbers apart by their last digit', 'a1 a2 a3', long, {
      priorityStrategy: { orderPriority: [{ orderedKey: 'o' }] },
    }, 'a2 a3 a1'],
    ['goes by the first label that a pod has', 'a1 a2 a3', labelled({ a1: { p: '9' }, a2: { o: '1', p: '99' }, a3: { o: '2' } }), {
      priorityStrategy: { orderPriority: [{ orderedKey: 'o' }, { orderedKey: 'p' }] },
    }, 'a3 a2 a1'],
    ['goes on with those whose hook was asked', 'a1 a2! a3', { a3: { lifecycle: 'PreparingUpdate' } }, {}, 'a3 a2 a1'],
  ])('%s', (_, names, over, strategy, expected) => {
    expect(namesOf(inUpdateOrder(outdated(names, over, strategy), strategy))).toBe(expected)
    const scattered = { ...strategy, scatterStrategy: [{ key: 'nobody', value: 'has this' }] }
    expect(namesOf(inUpdateOrder(outdated(names, over, scattered), scattered))).toBe(expected)
  })
})

describe('scatter()', () => {
  const foo: UpdateScatterTerm = { key: 'foo', value: 'bar' }
  const bearing = (...names: string[]) => labelled(Object.fromEntries(names.map((name) => [name, { foo: 'bar' }])))
  it.each<[string, string, string[], string]>([
    ['spreads bearers, and leaves one for the end', 'a1 a2 a3 a4 a5 a6', ['a1', 'a2', 'a3'], 'a1 a4 a5 a2 a6 a3'],
    ['alternates with groups where others are more', 'a1 a2 a3 a4 a5 a6 a7', ['a1', 'a2', 'a3'], 'a1 a4 a5 a2 a6 a7 a3'],
    ['alternates with groups where others are fewer', 'a1 a2 a3 a4 a5 a6 a7', ['a1', 'a2', 'a3', 'a4', 'a5'], 'a1 a2 a6 a3 a4 a7 a5'],
    ['leaves alone what has one bearer', 'a1 a2 a3', ['a1'], 'a1 a2 a3'],
    ['leaves alone what has none', 'a1 a2 a3', [], 'a1 a2 a3'],
  ])('%s', (_, names, bearers, expected) => {
    const some = members(names, bearing(...bearers))
    expect(namesOf(scatter(some, some, [foo]))).toBe(expected)
  })

  it('is as dense as the whole set is: others that are behind come first', () => {
    const all = members('a1 a2 a3 a4 a5 a6 a7 a8', bearing('a1', 'a2', 'a3', 'a4', 'a5'))
    const left = all.filter(({ pod }) => !['a4', 'a5'].includes(pod.metadata.name!))
    expect(namesOf(scatter(left, all, [foo]))).toBe('a6 a1 a7 a2 a8 a3')
  })

  it('begins with the commonest label', () => {
    const some = members('a1 a2 a3 a4 a5 a6', labelled({ a1: { x: '1' }, a2: { x: '1' }, a3: { y: '1' }, a4: { y: '1' }, a5: { y: '1' } }))
    const both = scatter(some, some, [{ key: 'x', value: '1' }, { key: 'y', value: '1' }])
    expect(namesOf(both)).toBe(namesOf(scatter(scatter(some, some, [{ key: 'y', value: '1' }]), some, [{ key: 'x', value: '1' }])))
  })
})
