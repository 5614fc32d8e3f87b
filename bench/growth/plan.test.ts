import { describe, expect, it } from 'vitest'
import { type Wishes, planLoads, readKinds, readNumbers, readPhases } from './plan.ts'

const plan = (wishes: Partial<Wishes>) => {
  const { loads, notes } = planLoads({ kinds: [], sizes: [], clusters: [], ownersOf: [], nodes: 2000, ...wishes })
  return { loads: loads.map(({ title, owners, nodes }) => `${title}: ${owners} on ${nodes}`), notes }
}

describe('planLoads()', () => {
  it.each<[string, Partial<Wishes>, string[], string[]]>([
    [
      'small ones of all kinds come first',
      { kinds: ['deployment', 'job'], sizes: [100, 1000] },
      ['Deployment of 100: 1 on 100', 'Job of 100: 1 on 100', 'Deployment of 1000: 1 on 100', 'Job of 1000: 1 on 100'],
      [],
    ],
    [
      'a large owner has room for a surge of a quarter',
      { kinds: ['deployment'], sizes: [10_000] },
      ['Deployment of 10000: 1 on 125'],
      [],
    ],
    ['a DaemonSet has a node for each pod', { kinds: ['daemonset'], sizes: [300] }, ['DaemonSet of 300: 1 on 300'], []],
    [
      'a DaemonSet is no larger than there may be nodes, and not measured twice',
      { kinds: ['daemonset'], sizes: [100, 3000, 10_000] },
      ['DaemonSet of 100: 1 on 100', 'DaemonSet of 2000: 1 on 2000'],
      [],
    ],
    [
      'clusters grow with their pods',
      { clusters: [1000, 100_000], ownersOf: [100, 1000] },
      [
        '1000 pods in Deployments of 100: 10 on 20',
        '1000 pods in Deployments of 1000: 1 on 20',
        '100000 pods in Deployments of 100: 1000 on 2000',
        '100000 pods in Deployments of 1000: 100 on 2000',
      ],
      [],
    ],
    [
      'no owner is larger than its cluster',
      { clusters: [500], ownersOf: [100, 1000] },
      ['500 pods in Deployments of 100: 5 on 20'],
      [],
    ],
    ['few nodes may be enough', { kinds: ['job'], sizes: [8], nodes: 5 }, ['Job of 8: 1 on 5'], []],
    [
      'what does not fit on the nodes is told',
      { kinds: ['job'], sizes: [1000], nodes: 5 },
      [],
      ['Job of 1000: not measured, it needs 13 nodes and --nodes allows 5'],
    ],
  ])('%s', (_, wishes, loads, notes) => {
    expect(plan(wishes)).toEqual({ loads, notes })
  })
})

describe('flags', () => {
  it.each<[string, () => unknown, unknown]>([
    ['numbers are sorted', () => readNumbers('sizes', '1000, 100,10_000'), [100, 1000, 10_000]],
    ['an empty list is a list', () => readNumbers('clusters', ''), []],
    ['kinds keep their order', () => readKinds('job,deployment'), ['job', 'deployment']],
    ['phases', () => readPhases('create,scale'), ['create', 'scale']],
  ])('%s', (_, read, expected) => {
    expect(read()).toEqual(expected)
  })

  it.each<[string, () => unknown, string]>([
    ['no number', () => readNumbers('sizes', '100,many'), '--sizes: many is no whole number greater than 0'],
    ['nothing of nothing', () => readNumbers('sizes', '0'), '--sizes: 0 is no whole number greater than 0'],
    ['no such kind', () => readKinds('pod'), '--kinds: pod is none of deployment, replicaset'],
    ['no such phase', () => readPhases('explode'), '--phases: explode is none of create, roll, lose, scale'],
  ])('%s is refused', (_, read, message) => {
    expect(read).toThrow(message)
  })
})
