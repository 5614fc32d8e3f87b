import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { SeededRandom } from '../../src/base/seeded-random.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import {
  type Client, type ResourceType, clonesets, deployments, isConflict, isNotFound, jobs, pods, statefulsets,
} from '../../src/client/index.ts'
import { passTime, startCluster } from '../../src/cluster/testing.ts'
import { cloneSetController } from '../../src/controllers/cloneset/controller.ts'
import { deploymentController } from '../../src/controllers/deployment/controller.ts'
import { garbageCollector } from '../../src/controllers/garbage-collector/controller.ts'
import { jobController } from '../../src/controllers/job/controller.ts'
import { replicaSetController } from '../../src/controllers/replicaset/controller.ts'
import { statefulSetController } from '../../src/controllers/statefulset/controller.ts'
import { openLmdbStore, startCompactor } from '../../src/store/index.ts'
import { Kubelet } from './controllers/kubelet.ts'

const hour = { rounds: 180, roundMs: 20_000 }
const owners = 6
const replicas = 5

/** The kinds that come and go. */
const kinds: readonly [ResourceType<KubeObject>, string, object][] = [
  [deployments as unknown as ResourceType<KubeObject>, 'Deployment', {}],
  [statefulsets as unknown as ResourceType<KubeObject>, 'StatefulSet', { serviceName: 'x', podManagementPolicy: 'Parallel' }],
  [clonesets as unknown as ResourceType<KubeObject>, 'CloneSet', {}],
  [jobs as unknown as ResourceType<KubeObject>, 'Job', {}],
]

const templateOf = (name: string, image: string, isJob: boolean) => ({
  metadata: { labels: { app: name } },
  spec: { ...(isJob ? { restartPolicy: 'Never' } : {}), containers: [{ name: 'c', image }] },
})

/** An owner is made, rolled out, scaled or deleted, whichever fits. */
async function change(client: Client, random: SeededRandom, round: number): Promise<void> {
  const [type, kind, more] = random.pick(kinds)
  const name = `${kind.toLowerCase()}-${random.below(owners / 2)}`
  const isJob = kind === 'Job'
  const image = `app:${round}`
  const there = await client.get(type, 'default', name).catch(() => undefined)
  if (!there) {
    const shape = isJob ? { completions: replicas, parallelism: replicas } : { replicas, selector: { matchLabels: { app: name } } }
    const spec = { ...shape, ...more, template: templateOf(name, image, isJob) }
    await client.create(type, { apiVersion: type.group ? `${type.group}/${type.version}` : type.version, kind, metadata: { name, namespace: 'default' }, spec } as KubeObject)
  } else if (isJob || random.below(4) === 0) await client.delete(type, 'default', name, { propagationPolicy: 'Background' })
  else if (random.below(2) === 0) await client.patch(type, 'default', name, { spec: { replicas: 1 + random.below(replicas) } }, { type: 'merge' })
  else await client.patch(type, 'default', name, { spec: { template: templateOf(name, image, false) } }, { type: 'merge' })
}

/** Pods become ready, those of Jobs succeed, and those that are deleted end. */
async function serve(client: Client, kubelet: Kubelet): Promise<void> {
  const { items } = await client.list(pods, 'default')
  // A controller may be faster.
  const unlessGone = (e: unknown) => { if (!isNotFound(e) && !isConflict(e)) throw e }
  await Promise.all(items.map((pod) => kubelet.reap([pod]).catch(unlessGone)))
  const left = items.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Pending')
  const isOfJob = ({ metadata }: KubeObject) => metadata.ownerReferences?.some((ref) => ref.kind === 'Job')
  await Promise.all(left.map((pod) => kubelet.report(isOfJob(pod) ? 'succeeded' : 'ready', [pod]).catch(unlessGone)))
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapMb(): number {
  for (let i = 0; i < 3; i++) collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const fileMb = (dir: string): number =>
  readdirSync(dir).reduce((sum, file) => sum + statSync(path.join(dir, file)).blocks * 512, 0) / 2 ** 20

it('memory and file are as large after an hour of changes as after a third of it', { timeout: 240_000 }, async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-soak-'))
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const store = await openLmdbStore({ dir, clock })
  const random = new SeededRandom(1)
  const stopCompactor = startCompactor(store, { clock, maxAgeMs: 5 * 60_000, maxRevisions: 100_000, intervalMs: 60_000, onError: (e) => { throw e } })
  const controllers = [deploymentController, replicaSetController, statefulSetController, cloneSetController, jobController, garbageCollector]
  const cluster = await startCluster({ clock, random: new SeededRandom(2), store, controllers })
  const { client } = cluster
  const kubelet = new Kubelet(client, clock)
  const samples: { heap: number; file: number }[] = []
  try {
    for (let round = 0; round < hour.rounds; round++) {
      await change(client, random, round)
      for (let step = 0; step < 4; step++) {
        await passTime(clock, hour.roundMs / 4)
        await serve(client, kubelet)
      }
      // They are kept for longer than an hour.
      if (round % 10 === 0) await client.transport.send({ method: 'DELETE', path: '/api/v1/namespaces/default/events' })
      if (round % 10 === 9) samples.push({ heap: heapMb(), file: fileMb(dir) })
    }
  } finally {
    await cluster.stop()
    stopCompactor()
    await store.close()
    rmSync(dir, { recursive: true })
  }
  const most = (some: typeof samples, what: 'heap' | 'file') => Math.max(...some.map((sample) => sample[what]))
  const [early, late] = [samples.slice(3, 6), samples.slice(-3)]
  expect(samples.length).toBe(18)
  expect(most(late, 'heap')).toBeLessThan(most(early, 'heap') * 1.1)
  // The file grows by half a megabyte at a time.
  expect(most(late, 'file')).toBeLessThan(most(early, 'file') + 1)
})
