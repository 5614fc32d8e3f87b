import { describe, expect, it } from 'vitest'
import type { Affinity, Pod, PodAffinityTerm } from '../../../api/generated/types.ts'
import { PodInfo } from '../../cluster/pod-info.ts'
import type { NodeFilter } from '../plugin.ts'
import { type WorldSketch, rejections, sampleNode, samplePod, sampleWorld, scores } from '../sample-world.ts'
import { preferredPods } from './affinity-score.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'

const zoneKey = 'topology.kubernetes.io/zone'
const hostKey = 'kubernetes.io/hostname'
const inZone = (name: string, zone: string) => sampleNode(name, { labels: { [zoneKey]: zone } })
const nodes = [inZone('a1', 'a'), inZone('a2', 'a'), inZone('b1', 'b')]
const term = (app: string, topologyKey = zoneKey, more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({ topologyKey, labelSelector: { matchLabels: { app } }, ...more })
const required = 'requiredDuringSchedulingIgnoredDuringExecution' as const
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution' as const
const near = (...terms: PodAffinityTerm[]): Affinity => ({ podAffinity: { [required]: terms } })
const far = (...terms: PodAffinityTerm[]): Affinity => ({ podAntiAffinity: { [required]: terms } })
const pod = (app: string, affinity?: Affinity, node?: string, namespace?: string): Pod =>
  samplePod(`${app}-${node ?? 'new'}`, { labels: { app }, ...(node ? { node } : {}), ...(namespace ? { namespace } : {}), ...(affinity ? { spec: { affinity } } : {}) })

const notNear = "node(s) didn't match pod affinity rules (final)"
const tooNear = "node(s) didn't match pod anti-affinity rules"
const unwanted = "node(s) didn't satisfy existing pods anti-affinity rules"

describe('InterPodAffinity', () => {
  it.each<[string, Pod, Pod[], object, Partial<WorldSketch>?]>([
    ['lets pods without wishes go anywhere', pod('web'), [pod('db', undefined, 'a1')], {}],
    ['keeps pods near to others', pod('web', near(term('db'))), [pod('db', undefined, 'a1')], { b1: notNear }],
    ['keeps pods on the same host', pod('web', near(term('db', hostKey))), [pod('db', undefined, 'a1')], { a2: notNear, b1: notNear }],
    ['finds nowhere for who wants to be near to nobody', pod('web', near(term('db'))), [], { a1: notNear, a2: notNear, b1: notNear }],
    ['lets the first of those begin who want to be together', pod('web', near(term('web'))), [], {}],
    ['keeps the second near to the first', pod('web', near(term('web'))), [pod('web', undefined, 'b1')], { a1: notNear, a2: notNear }],
    ['wants one pod that all terms are about', pod('web', near(term('db'), term('cache'))), [pod('db', undefined, 'a1'), pod('cache', undefined, 'a1')], { a1: notNear, a2: notNear, b1: notNear }],
    ['keeps pods away from others', pod('web', far(term('db'))), [pod('db', undefined, 'a1')], { a1: tooNear, a2: tooNear }],
    ['keeps pods away from each other', pod('web', far(term('web', hostKey))), [pod('web', far(term('web', hostKey)), 'a1')], { a1: tooNear }],
    ['keeps pods away from those who do not want them', pod('web'), [pod('db', far(term('web')), 'b1')], { b1: unwanted }],
    ['means pods of the same namespace only', pod('web', far(term('db'))), [pod('db', undefined, 'a1', 'elsewhere')], {}],
    ['means pods of the namespaces that it names', pod('web', far(term('db', zoneKey, { namespaces: ['elsewhere'] }))), [pod('db', undefined, 'a1', 'elsewhere')], { a1: tooNear, a2: tooNear }],
    [
      'means pods of namespaces by their labels',
      pod('web', far(term('db', zoneKey, { namespaceSelector: { matchLabels: { team: 'x' } } }))),
      [pod('db', undefined, 'a1', 'elsewhere')],
      { a1: tooNear, a2: tooNear },
      { namespaces: { elsewhere: { team: 'x' }, default: { team: 'y' } } },
    ],
    ['means pods of all namespaces', pod('web', far(term('db', zoneKey, { namespaceSelector: {} }))), [pod('db', undefined, 'b1', 'elsewhere')], { b1: tooNear }],
    ['means no pod without a selector', pod('web', far({ topologyKey: zoneKey })), [pod('db', undefined, 'a1')], {}],
  ])('%s', (_, incoming, pods, expected, more = {}) => {
    expect(rejections(interPodAffinity, incoming, sampleWorld({ nodes, pods, ...more }))).toEqual(expected)
  })

  it('supposes that pods are gone, and that they are back', () => {
    const world = sampleWorld({ nodes, pods: [pod('db', far(term('web')), 'a1')] })
    const filter = interPodAffinity.filter(new PodInfo(pod('web')), world) as NodeFilter
    const node = world.cluster.node('a1')!
    const [victim] = node.pods.values()
    filter.podRemoved!(victim!, node)
    expect(filter.check(node)).toBeUndefined()
    filter.podAdded!(victim!, node)
    expect(filter.check(node)?.reasons).toEqual([unwanted])
  })

  it.each([
    ['a pod comes that it wants to be near to', near(term('db')), { kind: 'AssignedPodAdd', pod: new PodInfo(pod('db', undefined, 'a1')) }, true],
    ['a pod comes that it does not care about', near(term('db')), { kind: 'AssignedPodAdd', pod: new PodInfo(pod('x', undefined, 'a1')) }, false],
    ['a pod goes that it must be away from', far(term('db')), { kind: 'AssignedPodDelete', pod: new PodInfo(pod('db', undefined, 'a1')) }, true],
    ['a pod goes that did not want it', undefined, { kind: 'AssignedPodDelete', pod: new PodInfo(pod('db', far(term('web')), 'a1')) }, true],
    ['a pod goes that it does not care about', far(term('db')), { kind: 'AssignedPodDelete', pod: new PodInfo(pod('x', undefined, 'a1')) }, false],
  ] as const)('knows whether it helps when %s', (_, affinity, event, expected) => {
    expect(interPodAffinity.helps(event, new PodInfo(pod('web', affinity)), sampleWorld())).toBe(expected)
  })
})

describe('the score of InterPodAffinity', () => {
  const likes = (weight: number, podAffinityTerm: PodAffinityTerm): Affinity => ({ podAffinity: { [preferred]: [{ weight, podAffinityTerm }] } })
  const dislikes = (weight: number, podAffinityTerm: PodAffinityTerm): Affinity => ({ podAntiAffinity: { [preferred]: [{ weight, podAffinityTerm }] } })

  it.each<[string, Pod, Pod[], object | undefined]>([
    ['likes to be near to others', pod('web', likes(10, term('db'))), [pod('db', undefined, 'a1')], { a1: 100, a2: 100, b1: 0 }],
    ['would rather be away from others', pod('web', dislikes(10, term('db'))), [pod('db', undefined, 'a1')], { a1: 0, a2: 0, b1: 100 }],
    ['goes where it is liked', pod('web'), [pod('db', likes(5, term('web', hostKey)), 'a2')], { a1: 0, a2: 100, b1: 0 }],
    ['goes where it is required', pod('web'), [pod('db', near(term('web')), 'b1')], { a1: 0, a2: 0, b1: 100 }],
    ['weighs one against the other', pod('web', likes(10, term('db'))), [pod('db', undefined, 'a1'), pod('x', dislikes(4, term('web', hostKey)), 'a1')], { a1: 60, a2: 100, b1: 0 }],
    ['has no opinion where nobody has wishes', pod('web'), [pod('db', undefined, 'a1')], undefined],
  ])('%s', (_, incoming, pods, expected) => {
    expect(scores(preferredPods, incoming, sampleWorld({ nodes, pods }))).toEqual(expected)
  })
})
