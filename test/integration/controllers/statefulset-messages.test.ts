import { describe, expect, it } from 'vitest'
import { pods, persistentvolumeclaims, resourcequotas } from '../../../src/client/index.ts'
import { resourceQuotaController } from '../../../src/controllers/resource-quota/controller.ts'
import { StatefulSetScene } from './statefulset-scene.ts'

const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }]
const sharedVolume = { volumes: [{ name: 'shared', persistentVolumeClaim: { claimName: 'shared' } }] }
const setQuota = (s: StatefulSetScene, count: string) =>
  s.scene.client.patch(resourcequotas, 'default', 'q', { spec: { hard: { pods: count } } }, { type: 'merge' })

interface Trouble {
  spec?: object
  podSpec?: object
  before?(s: StatefulSetScene): Promise<unknown>
  begin(s: StatefulSetScene): Promise<unknown>
  end(s: StatefulSetScene): Promise<unknown>
  says: RegExp
}

const report = (name: string, status: object) => (s: StatefulSetScene) => s.scene.client.patch(pods, 'default', name, { status }, { type: 'strategic', subresource: 'status' })
const since = String.raw`since 2026-01-01T00:0\d:\d\dZ\.$`

const troubles: Record<string, Trouble> = {
  'a bad image': {
    begin: (s) => s.report({ waiting: 'ErrImagePull', message: 'manifest for app:1 not found' }, 1),
    end: (s) => s.report('ready', 1),
    says: new RegExp(String.raw` Pod web-1 cannot pull image "app:1" for container "main": manifest for app:1 not found, ${since}`),
  },
  'a failing readiness probe': {
    begin: (s) => s.report('unready', 1),
    end: (s) => s.report('ready', 1),
    says: new RegExp(` Pod web-1 waits for container "main" to become ready, ${since}`),
  },
  'no quota': {
    async before(s) {
      await s.scene.client.create(resourcequotas, { metadata: { name: 'q', namespace: 'default' }, spec: { hard: { pods: '1' } } })
      await s.pass(1000)
    },
    begin: (s) => s.pass(1000),
    async end(s) {
      await setQuota(s, '2')
      await s.pass(1000)
      await s.report('ready', 1)
    },
    says: new RegExp(` StatefulSet web cannot create a pod: pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1, ${since}`),
  },
  'an unschedulable pod': {
    begin: report('web-1', {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available: 3 Insufficient memory.', lastTransitionTime: '2026-01-01T00:00:03Z' }],
    }),
    end: (s) => s.report('ready', 1),
    says: / Pod web-1 cannot be scheduled: 0\/3 nodes are available: 3 Insufficient memory, since 2026-01-01T00:00:03Z\.$/,
  },
  'a missing claim': {
    podSpec: sharedVolume,
    begin: (s) => s.pass(100),
    end: (s) => s.report('ready', 1),
    says: new RegExp(` Pod web-1 waits for claim shared, which does not exist, ${since}`),
  },
  'a claim that is not bound': {
    spec: { volumeClaimTemplates },
    begin: (s) => s.pass(100),
    async end(s) {
      await s.scene.client.patch(persistentvolumeclaims, 'default', 'data-web-1', { status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
      await s.pass(100)
      expect((await s.condition('Available'))!.message).toBe('1 of 2 replicas is available.')
      await s.report('ready', 1)
    },
    says: new RegExp(` Pod web-1 waits for claim data-web-1, which is not bound, ${since}`),
  },
}

describe.each(['OrderedReady', 'Parallel'] as const)('%s: conditions name the pod and the cause', (podManagementPolicy) => {
  it.each(Object.entries(troubles))('of %s', async (_, { spec, podSpec, before, begin, end, says }) => {
    const s = await StatefulSetScene.of({}, [resourceQuotaController])
    await before?.(s)
    await s.create(2, { podManagementPolicy, progressDeadlineSeconds: 60, ...spec }, {}, podSpec)
    await s.report('ready', 0)
    await s.pass(1000)
    await begin(s)
    await s.pass(100)
    expect([await s.says(), await s.says('Available')]).toEqual(['True ReplicasUpdated', 'False MinimumReplicasUnavailable'])
    const { message, lastUpdateTime } = (await s.condition('Progressing'))!
    expect(message).toMatch(says)
    expect(message).toMatch(/^\d of 2 replicas (?:is|are) at revision web-\w+, 1 of 2 is available\. /)
    expect((await s.condition('Available'))!.message).toMatch(says)
    await s.pass(Date.parse(lastUpdateTime!) + 61_000 - s.scene.clock.now())
    expect(await s.says()).toBe('False ProgressDeadlineExceeded')
    expect((await s.condition('Progressing'))!.message).toMatch(says)
    expect((await s.condition('Progressing'))!.message).toMatch(/^No progress with revision web-\w+ for 60 seconds\. /)
    await end(s)
    await s.settle()
    expect([await s.says(), await s.says('Available'), await s.says('ReplicaFailure')]).toEqual(['True NewRevisionAvailable', 'True MinimumReplicasAvailable', 'nothing'])
  })
})

it('a quota that is too small is a ReplicaFailure in the words of the quota, for as long as it is, and costs no write but the attempts', async () => {
  const s = await StatefulSetScene.of({}, [resourceQuotaController])
  await troubles['no quota']!.before!(s)
  await s.create(3, { podManagementPolicy: 'Parallel' })
  await s.pass(10_000)
  expect(await s.says('ReplicaFailure')).toBe('True FailedCreate')
  expect((await s.condition('ReplicaFailure'))!.message).toBe('pods "web-1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')
  expect(await s.scene.events('web')).toContainEqual(expect.stringMatching(/^Warning FailedCreate ×\d+: create Pod web-1 in StatefulSet web failed error: pods "web-1" is forbidden: exceeded quota: q/))
  const statusWrites = () => s.scene.wire.counts()['PUT statefulsets status']
  const before = statusWrites()
  await s.pass(600_000)
  expect(statusWrites()).toBe(before)
  await setQuota(s, '3')
  await s.pass(1000)
  expect([await s.places(), await s.says('ReplicaFailure')]).toEqual(['0! 1! 2!', 'nothing'])
})
