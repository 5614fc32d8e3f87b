import { describe, expect, it, test } from 'vitest'
import type { KubeObject, OwnerReference } from '../../../api/object.ts'
import { configmaps, pods, replicasets, resyncPriority } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type AnyController, defineController } from '../definition.ts'
import { watching } from '../sources.ts'
import { handlersOf } from './triggers.ts'

const set = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({ metadata: { namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '1', generation: 1, ...metadata } })
const reference: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1', controller: true }
const pod = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { namespace: 'default', name: 'web-1', uid: 'p1', resourceVersion: '5', ownerReferences: [reference], ...metadata },
})

const definition: AnyController = defineController({
  name: 'test',
  owner: replicasets,
  sources: {
    owns: [pods],
    watches: [watching(configmaps, (object) => [`default/${object.data?.for}`], (before, after) => before.data?.for !== after.data?.for)],
  },
  observe: () => ({}),
  plan: () => ({ actions: [] }),
  apply: {},
})

function listen(of: AnyController = definition) {
  const log: string[] = []
  const caches = { of: () => ({ get: (key: string) => (key === 'default/web' ? set() : undefined) }) } as unknown as Caches
  const handlers = handlersOf(of, caches, {
    enqueue: (key, priority) => log.push(`${key} ${priority === resyncPriority ? 'later' : priority > 0 ? 'first' : 'in turn'}`),
    ownerGone: (key, uid) => log.push(`${key} of ${uid} is gone`),
    seen: (resource, version) => log.push(`${resource} seen up to ${version}`),
  })
  return { log, owner: handlers.get('replicasets.apps')!, pod: handlers.get('pods')!, config: handlers.get('configmaps')! }
}

describe('an owner', () => {
  test.each<[string, (l: ReturnType<typeof listen>) => void, string[]]>([
    ['that was there at the start comes later', ({ owner }) => owner.add!(set(), true), ['default/web later']],
    ['that is made comes first', ({ owner }) => owner.add!(set(), false), ['default/web first']],
    ['whose spec changed comes first', ({ owner }) => owner.update!(set(), set({ resourceVersion: '2', generation: 2 })), ['default/web first']],
    [
      'that is to be deleted comes first',
      ({ owner }) => owner.update!(set(), set({ resourceVersion: '2', deletionTimestamp: '2026-01-01T00:00:00Z' })),
      ['default/web first'],
    ],
    ['whose status changed comes in turn', ({ owner }) => owner.update!(set(), set({ resourceVersion: '2' })), ['default/web in turn']],
    ['of which nothing changed comes later', ({ owner }) => owner.update!(set(), set()), ['default/web later']],
    ['that is gone is forgotten', ({ owner }) => owner.delete!(set(), true), ['default/web of u1 is gone', 'default/web first']],
    [
      'that was made anew is another',
      ({ owner }) => owner.update!(set(), set({ uid: 'u2', resourceVersion: '2' })),
      ['default/web of u1 is gone', 'default/web first'],
    ],
  ])('%s', (_, happen, log) => {
    const scene = listen()
    happen(scene)
    expect(scene.log).toEqual(log)
  })
})

it('a change of what an owner has that makes no difference concerns nobody', () => {
  const { log, pod: pods } = listen({
    ...definition,
    sources: { ...definition.sources, ownedConcern: (before, after) => before.metadata.labels !== after.metadata.labels },
  })
  pods.update!(pod(), pod({ resourceVersion: '6' }))
  expect(log).toEqual([])
  pods.update!(pod(), pod({ resourceVersion: '6', labels: {} }))
  expect(new Set(log)).toEqual(new Set(['default/web in turn']))
})

it('an owner that is not looked at leaves only what is known of it', () => {
  const { log, owner } = listen({
    ...definition,
    sources: { ...definition.sources, looksAt: (object: KubeObject) => object.metadata.labels !== undefined },
  })
  owner.add!(set(), false)
  owner.update!(set(), set({ resourceVersion: '2' }))
  owner.delete!(set(), true)
  expect(log).toEqual(['default/web of u1 is gone'])
  owner.update!(set(), set({ resourceVersion: '2', labels: { a: 'b' } }))
  expect(log.at(-1)).toBe('default/web in turn')
})

describe('an object that an owner manages', () => {
  const stranger = { ...reference, uid: 'u0' }
  test.each<[string, (l: ReturnType<typeof listen>) => void, string[]]>([
    ['has its owner looked at', (l) => l.pod.add!(pod(), false), ['default/web in turn']],
    ['has it looked at later at the start', (l) => l.pod.add!(pod(), true), ['default/web later']],
    ['has it looked at when it goes', (l) => l.pod.delete!(pod(), true), ['default/web in turn']],
    ['that changes nothing but was told again comes later', (l) => l.pod.update!(pod(), pod()), ['default/web later']],
    [
      'that is let go concerns the owner it had',
      (l) => l.pod.update!(pod(), pod({ resourceVersion: '6', ownerReferences: [] })),
      ['default/web in turn'],
    ],
    ['of an owner of the same name that is gone concerns nobody', (l) => l.pod.add!(pod({ ownerReferences: [stranger] }), false), []],
    ['of another kind of owner concerns nobody', (l) => l.pod.add!(pod({ ownerReferences: [{ ...reference, kind: 'Job', apiVersion: 'batch/v1' }] }), false), []],
    ['that nobody manages concerns nobody', (l) => l.pod.add!(pod({ ownerReferences: [{ ...reference, controller: false }] }), false), []],
  ])('%s', (_, happen, log) => {
    const scene = listen()
    happen(scene)
    expect(scene.log).toEqual(log)
  })
})

it('a watch names its owners itself, for both states of what changed', () => {
  const { log, config } = listen()
  const object = (whom: string, resourceVersion: string) => ({ metadata: { resourceVersion }, data: { for: whom } }) as KubeObject
  config.update!(object('a', '1'), object('b', '2'))
  expect(log).toEqual(['default/a in turn', 'default/b in turn'])
})

it('a watch may say which changes make no difference', () => {
  const { log, config } = listen()
  const object = (resourceVersion: string) => ({ metadata: { resourceVersion }, data: { for: 'a' } }) as KubeObject
  config.update!(object('1'), object('2'))
  expect(log).toEqual([])
  config.update!(object('2'), object('2'))
  expect(log).toEqual(['default/a later'])
})

it('every cache says how far it has seen', () => {
  const { log, owner, pod: pods_, config } = listen()
  owner.bookmark!('7', '')
  pods_.bookmark!('8', 'default')
  config.bookmark!('9', '')
  expect(log).toEqual(['replicasets.apps seen up to 7', 'pods in default seen up to 8', 'configmaps seen up to 9'])
})

it('defineController() refuses a name that is no name for metrics', () => {
  expect(() => defineController({ ...definition, name: 'My Controller' })).toThrow('is not a valid controller name')
})
