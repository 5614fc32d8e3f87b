import { describe, expect, it } from 'vitest'
import { conflictModified, forbiddenError } from '../../../src/api/errors.ts'
import type { ConfigMap, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import { compileLabelSelector } from '../../../src/api/selectors/label-selector.ts'
import { claim, configmaps, controllerOf, events, ownerReference, pods, replicasets } from '../../../src/client/index.ts'
import { VirtualClock } from '../../../src/cluster/testing.ts'
import { type AnyController, type ObserveContext, type Step, TerminalError, defineController, watching } from '../../../src/controllers/index.ts'
import { crew, replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

const scale = (s: Scene, name: string, replicas: number) => s.client.patch(replicasets, 'default', name, { spec: { replicas } }, { type: 'merge' })
const setOf = (s: Scene, name = 'web') => s.client.get(replicasets, 'default', name)

describe('status', () => {
  it('says which generation it is of', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 2))
    await s.pass(1000)
    expect((await setOf(s)).status).toMatchObject({ replicas: 2, observedGeneration: 1 })
    await scale(s, 'web', 3)
    await s.pass(1000)
    expect((await setOf(s)).status).toMatchObject({ replicas: 3, observedGeneration: 2 })
  })

  it('is not written when nothing changed: an idle cluster writes nothing', async () => {
    const s = await Scene.start({ manager: { informers: { resyncMs: 60_000 } } })
    await s.client.create(replicasets, replicaSet('web', 2))
    // All its counts are zero, some of which the server does not store.
    await s.client.create(replicasets, replicaSet('none', 0))
    await s.pass(10_000)
    const before = s.wire.writes.length
    const reconciles = s.metric('controller_runtime_reconcile_total')
    await s.pass(600_000)
    expect(s.wire.writes).toHaveLength(before)
    expect(s.metric('controller_runtime_reconcile_total')).toBeGreaterThan(reconciles)
  })

  it('is tried again, quietly, after a conflict', async () => {
    const s = await Scene.start()
    let left = 2
    s.wire.intercept = (request, send) =>
      request.path.endsWith('/status') && left-- > 0 ? Promise.reject(conflictModified({ group: 'apps', resource: 'replicasets' }, 'web')) : send()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    expect((await setOf(s)).status).toMatchObject({ replicas: 1 })
    expect(s.warnings).toEqual([])
    expect(s.metric('controller_runtime_reconcile_errors_total')).toBe(0)
    expect(await s.events('web')).toEqual([])
  })

  it('is kept up for an owner that is being deleted, for which nothing is planned', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, { ...replicaSet('web', 1), metadata: { name: 'web', namespace: 'default', finalizers: ['test/held'] } })
    await s.pass(1000)
    await s.client.delete(replicasets, 'default', 'web', { propagationPolicy: 'Background' })
    const [pod] = await s.podsOf('web')
    await s.client.delete(pods, 'default', pod!.metadata.name!)
    await s.pass(1000)
    expect((await setOf(s)).status).toMatchObject({ replicas: 0 })
    expect(await s.podsOf('web')).toEqual([])
  })
})

describe('actions', () => {
  const refusePods = (s: Scene) => {
    s.wire.intercept = (request, send) =>
      request.method === 'POST' && request.path.endsWith('/pods')
        ? Promise.reject(forbiddenError({ group: '', resource: 'pods' }, (request.body as Pod).metadata.name!, 'exceeded quota: small'))
        : send()
  }

  it('start slowly: what is refused is asked for once per attempt', async () => {
    const s = await Scene.start()
    refusePods(s)
    await s.client.create(replicasets, replicaSet('web', 100))
    await s.settle()
    // Once for the owner, once for the first status of it.
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 2 })
    await s.pass(1000)
    // After 5, 15, 35, … 635 ms.
    expect(s.wire.counts()['POST pods']).toBeLessThanOrEqual(2 + 8)
    expect(s.metric('controller_runtime_reconcile_errors_total')).toBeGreaterThan(5)
    expect(await s.events('web')).toEqual([expect.stringMatching(/^Warning FailedCreate ×1: Error creating: pods "web-\w{5}" is forbidden: exceeded quota: small$/)])
    s.wire.intercept = undefined
    await s.pass(5000)
    expect(await s.podsOf('web')).toHaveLength(100)
  })

  it('of other owners go on while one backs off', async () => {
    const s = await Scene.start()
    refusePods(s)
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(10_000)
    s.wire.intercept = undefined
    await s.client.create(replicasets, replicaSet('db', 1))
    await s.settle()
    expect(await s.podsOf('db')).toHaveLength(1)
  })
})

/** A controller of ConfigMaps that carry a certain key, of which tests say what it does. */
const scripted = (parts: Partial<AnyController>): AnyController =>
  defineController<ConfigMap, ConfigMap, { kind: 'Do' }>({
    name: 'scripted',
    owner: configmaps,
    observe: (_ctx: ObserveContext, owner: ConfigMap) => owner,
    plan: (seen: ConfigMap) => ({ actions: seen.data?.script === undefined ? [] : [{ kind: 'Do' }] }),
    apply: { Do: async () => {} },
    ...parts,
  } as never)

const script = (text: string): ConfigMap => ({ metadata: { name: 'one', namespace: 'default' }, data: { script: text } })

it('what the plan wants to be looked at in time is, though something fails meanwhile', async () => {
  const looks: number[] = []
  const dueMs = new VirtualClock().now() + 400_000
  const s = await Scene.start({
    controllers: [
      scripted({
        plan: () => ({ actions: [{ kind: 'Do' }], ...(s.clock.now() < dueMs ? { requeueAfterMs: dueMs - s.clock.now() } : {}) }),
        apply: {
          Do: async () => {
            looks.push(s.clock.now())
            throw new Error('it is stuck')
          },
        },
      }),
    ],
  })
  await s.client.create(configmaps, script('a'))
  await s.pass(399_999)
  expect(looks.at(-1)).toBeLessThan(dueMs)
  await s.pass(1)
  expect(looks.at(-1)).toBe(dueMs)
})

describe('a TerminalError', () => {
  it('is not retried until the object changes', async () => {
    let attempts = 0
    const s = await Scene.start({
      controllers: [
        scripted({
          apply: {
            Do: async () => {
              attempts++
              throw new TerminalError('no such boat')
            },
          },
        }),
      ],
    })
    await s.client.create(configmaps, script('a'))
    await s.pass(3_600_000)
    expect(attempts).toBe(1)
    await s.client.patch(configmaps, 'default', 'one', { data: { script: 'b' } }, { type: 'merge' })
    await s.pass(3_600_000)
    expect(attempts).toBe(2)
    expect(await s.events('one')).toEqual(['Warning FailedSync ×1: no such boat'])
    expect(s.metric('controller_runtime_terminal_reconcile_errors_total')).toBe(2)
  })
})

describe('events', () => {
  it('are told of the owner, or of another object, in the name of the controller', async () => {
    const s = await Scene.start({
      controllers: [
        scripted({
          apply: {
            Do: async ({ event, owner }) => {
              event('Normal', 'Rowing', 'all together')
              event('Normal', 'Steered', 'by the owner', { ...owner, metadata: { ...owner.metadata, name: 'two' } })
            },
          },
        }),
      ],
    })
    await s.client.create(configmaps, script('a'))
    await s.settle()
    expect([await s.events('one'), await s.events('two')]).toEqual([['Normal Rowing ×1: all together'], ['Normal Steered ×1: by the owner']])
    expect((await s.client.list(events, 'default')).items[0]!.source).toEqual({ component: 'scripted-controller' })
    expect(s.wire.writes).toEqual([])
  })
})

describe('requeueAfterMs', () => {
  it('has the owner looked at again by the clock', async () => {
    const atMs: number[] = []
    const s = await Scene.start({
      controllers: [
        scripted({
          observe: ({ nowMs }, owner) => {
            if (owner.data?.script) atMs.push(nowMs)
            return owner
          },
          plan: (): Step<{ kind: 'Do' }> => ({ actions: [], requeueAfterMs: 30_000 }),
        }),
      ],
    })
    const startMs = s.clock.now()
    await s.client.create(configmaps, script('a'))
    await s.pass(100_000)
    expect(atMs.map((ms) => ms - startMs)).toEqual([0, 30_000, 60_000, 90_000])
  })
})

describe('an error in a pure function', () => {
  it('backs off like any other and harms nobody else', async () => {
    let plans = 0
    const s = await Scene.start({
      controllers: [
        crew,
        scripted({
          plan: (seen) => {
            if (seen.data?.script === undefined) return { actions: [] }
            plans++
            throw new Error('bug')
          },
        }),
      ],
    })
    await s.client.create(configmaps, script('a'))
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    expect(plans).toBeGreaterThan(3)
    expect(plans).toBeLessThan(12)
    expect(await s.podsOf('web')).toHaveLength(1)
  })
})

describe('a finalizer', () => {
  const cleaning = scripted({
    deletion: { finalizer: 'test/cleaning' },
    sources: { owns: [pods] },
    plan: (seen: ConfigMap) => ({ actions: seen.metadata.deletionTimestamp && seen.data?.clean !== 'yes' ? [{ kind: 'Do' }] : [] }),
    apply: { Do: ({ writer, owner }) => writer.patch(configmaps, owner, { data: { clean: 'yes' } }, { type: 'merge' }) },
  })

  it('is put on every owner and taken off when a deleted one has nothing left to do', async () => {
    const s = await Scene.start({ controllers: [cleaning] })
    await s.client.create(configmaps, script('a'))
    await s.settle()
    expect((await s.client.get(configmaps, 'default', 'one')).metadata.finalizers).toEqual(['test/cleaning'])
    await s.client.delete(configmaps, 'default', 'one')
    await s.pass(1000)
    await expect(s.client.get(configmaps, 'default', 'one')).rejects.toThrow('not found')
    expect(s.wire.summary().filter((l) => l.startsWith('PATCH'))).toHaveLength(
      // One for each ConfigMap there is, one to clean, one to let go.
      (await s.client.list(configmaps, '')).items.length + 3,
    )
  })

  it('is put on before the first thing is done, for which the owner is there as a whole', async () => {
    const owners: ConfigMap[] = []
    const s = await Scene.start({
      controllers: [
        scripted({
          deletion: { finalizer: 'test/cleaning' },
          plan: (seen: ConfigMap) => ({ actions: seen.metadata.name === 'one' && owners.length === 0 ? [{ kind: 'Do' }] : [] }),
          apply: { Do: ({ owner }) => Promise.resolve(owners.push(owner)) },
        }),
      ],
    })
    await s.client.create(configmaps, script('a'))
    await s.settle()
    const { data } = await s.client.get(configmaps, 'default', 'one')
    expect(data).toBeDefined()
    expect(owners).toMatchObject([{ metadata: { finalizers: ['test/cleaning'] }, data }])
  })

  it('is taken off once, though the cache is slow to lose the owner', async () => {
    const s = await Scene.start({ controllers: [cleaning] })
    await s.client.create(configmaps, script('a'))
    await s.settle()
    await s.client.patch(configmaps, 'default', 'one', { data: { clean: 'yes' } }, { type: 'merge' })
    s.wire.delaysMs.set('configmaps', 5000)
    const owner = await s.client.delete(configmaps, 'default', 'one')
    await s.pass(6000)
    // Something has it looked at again before the cache knows.
    const reference = ownerReference({ apiVersion: 'v1', kind: 'ConfigMap', metadata: (owner as ConfigMap).metadata }, { controller: true })
    await s.client.create(pods, { metadata: { name: 'late', namespace: 'default', ownerReferences: [reference] }, spec: { containers: [{ name: 'main', image: 'app', resources: {} }] } })
    await s.pass(60_000)
    await expect(s.client.get(configmaps, 'default', 'one')).rejects.toThrow('not found')
    const patches = s.wire.writes.filter((w) => w.request.path.endsWith('/configmaps/one'))
    expect(patches.map((w) => w.error)).toEqual([undefined, undefined])
  })

  it("leaves others' finalizers alone", async () => {
    const s = await Scene.start({ controllers: [cleaning] })
    await s.client.create(configmaps, { ...script('a'), metadata: { name: 'one', namespace: 'default', finalizers: ['other/one'] } })
    await s.settle()
    await s.client.delete(configmaps, 'default', 'one')
    await s.pass(1000)
    expect((await s.client.get(configmaps, 'default', 'one')).metadata.finalizers).toEqual(['other/one'])
  })
})

describe('adoption and release', () => {
  type Action = { kind: 'Adopt' | 'Release'; pod: Pod }
  const shepherd = defineController<ReplicaSet, { set: ReplicaSet; all: Pod[] }, Action>({
    name: 'shepherd',
    owner: replicasets,
    sources: {
      owns: [pods],
      watches: [watching(pods, (pod, caches) => (controllerOf(pod) ? [] : caches.list(replicasets).map((set) => `${set.metadata.namespace}/${set.metadata.name}`)))],
    },
    observe: ({ caches }, set) => ({ set, all: [...caches.owned(pods, set), ...caches.orphans(pods, set.metadata.namespace!)] }),
    plan({ set, all }) {
      const { adopt, release } = claim(set, compileLabelSelector(set.spec?.selector), all)
      return { actions: [...adopt.map((pod): Action => ({ kind: 'Adopt', pod })), ...release.map((pod): Action => ({ kind: 'Release', pod }))] }
    },
    apply: { Adopt: ({ writer }, { pod }) => writer.adopt(pods, pod), Release: ({ writer }, { pod }) => writer.release(pods, pod) },
  })
  const pod: Pod = {
    metadata: { name: 'lone', namespace: 'default', labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] },
    status: {},
  }
  const ownersOf = async (s: Scene) => (await s.client.get(pods, 'default', 'lone')).metadata.ownerReferences

  it('follow the labels', async () => {
    const s = await Scene.start({ controllers: [shepherd] })
    const set = await s.client.create(replicasets, replicaSet('web', 0))
    await s.client.create(pods, pod)
    await s.pass(100)
    expect(await ownersOf(s)).toEqual([
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: set.metadata.uid, controller: true, blockOwnerDeletion: true },
    ])
    await s.client.patch(pods, 'default', 'lone', { metadata: { labels: { app: 'db' } } }, { type: 'merge' })
    await s.pass(100)
    expect(await ownersOf(s)).toBeUndefined()
    expect(s.wire.counts()).toEqual({ 'PATCH pods': 2 })
  })

  it.each<[string, (s: Scene) => Promise<unknown>]>([
    ['gone', (s) => s.client.delete(pods, 'default', 'lone', { gracePeriodSeconds: 0 })],
    ['going', (s) => s.client.patch(pods, 'default', 'lone', { metadata: { finalizers: ['other/one'] } }, { type: 'merge' }).then(() => s.client.delete(pods, 'default', 'lone'))],
    ["another's choice", (s) => s.client.patch(pods, 'default', 'lone', { metadata: { labels: { app: 'db' } } }, { type: 'merge' })],
  ])('nothing follows from an adoption whose object is %s by then', async (_, change) => {
    const followed: string[] = []
    const counting = defineController<ReplicaSet, Pod[], { kind: 'Adopt'; pod: Pod } | { kind: 'Count' }>({
      name: 'counting',
      owner: replicasets,
      sources: { owns: [pods] },
      observe: ({ caches }, set) => claim(set, compileLabelSelector(set.spec?.selector), caches.orphans<Pod>(pods, 'default')).adopt,
      plan: (all) => ({ actions: all.flatMap((p) => [{ kind: 'Adopt' as const, pod: p }, { kind: 'Count' as const }]) }),
      apply: { Adopt: ({ writer }, { pod: p }) => writer.adopt(pods, p), Count: async () => followed.push('counted') },
    })
    const s = await Scene.start({ controllers: [counting] })
    await s.client.create(pods, pod)
    await s.pass(100)
    s.wire.delaysMs.set('pods', 5000)
    await change(s)
    await s.client.create(replicasets, replicaSet('web', 0))
    await s.pass(20_000)
    expect(s.wire.counts()['PATCH pods']).toBeGreaterThan(0)
    expect([followed, s.warnings]).toEqual([[], []])
  })

  it('an owner that only the cache still has adopts nobody', async () => {
    const s = await Scene.start({ controllers: [shepherd] })
    await s.client.create(replicasets, replicaSet('web', 0))
    await s.settle()
    s.wire.delaysMs.set('replicasets', 5000)
    await s.client.delete(replicasets, 'default', 'web', { propagationPolicy: 'Background' })
    await s.client.create(replicasets, { ...replicaSet('web', 0), spec: { ...replicaSet('web', 0).spec!, selector: { matchLabels: { app: 'web' } } } })
    await s.client.create(pods, pod)
    await s.pass(1000)
    expect(await ownersOf(s)).toBeUndefined()
    await s.pass(10_000)
    expect((await ownersOf(s))![0]!.uid).toBe((await setOf(s)).metadata.uid)
  })
})

describe('stopping', () => {
  it('finishes what is under way and begins nothing more', async () => {
    const s = await Scene.start()
    let finish!: () => void
    s.wire.intercept = async (request, send) => {
      if (request.method === 'POST' && request.path.endsWith('/pods')) await new Promise<void>((resolve) => (finish = resolve))
      return send()
    }
    await s.client.create(replicasets, replicaSet('web', 3))
    await s.settle()
    let isStopped = false
    const stopped = s.cluster.manager!.stop().then(() => (isStopped = true))
    await s.settle()
    expect(isStopped).toBe(false)
    finish()
    await stopped
    expect(await s.podsOf('web')).toHaveLength(1)
    await s.pass(60_000)
    expect(s.wire.counts()).toEqual({ 'POST pods': 1 })
  })

  it('gives up on requests that nobody answers', async () => {
    const s = await Scene.start()
    s.wire.intercept = (request) => new Promise((_resolve, reject) => request.signal?.addEventListener('abort', () => reject(request.signal!.reason as Error)))
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.settle()
    let isStopped = false
    void s.cluster.manager!.stop().then(() => (isStopped = true))
    await s.pass(2000)
    expect(isStopped).toBe(false)
    await s.pass(2000)
    expect(isStopped).toBe(true)
  })
})
