import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import { pods } from '../../../src/client/index.ts'
import { type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { type Store, openMemoryStore } from '../../../src/store/index.ts'
import { CutTransport } from './cut-transport.ts'
import { MemoryStorage, MonitorScene } from './scene.ts'

let clock: VirtualClock
let store: Store
let cluster: TestCluster
let link: CutTransport
let storage: MemoryStorage
let monitor: MonitorScene

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2022-12-06T15:33:46Z'))
  store = openMemoryStore({ clock })
  cluster = await startCluster({ clock, random: new SeededRandom(1), store })
  link = new CutTransport(cluster.transport)
  storage = new MemoryStorage()
  await startMonitor()
})

afterEach(async () => {
  await monitor.stop()
  await cluster.stop()
  await store.close()
})

const startMonitor = async () => {
  monitor = await MonitorScene.start(link, clock, { storage })
}

/** A monitor that is gone without a word, as if its process had been killed. */
const crash = async () => {
  const kept = storage.text
  await monitor.stop()
  storage.text = kept
}

const pass = (seconds: number) => passTime(clock, seconds * 1000)

const create = async (name: string): Promise<Pod> => {
  await cluster.client.create(pods, { metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'app:1' }] } })
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: 'default' }, target: { kind: 'Node', name: 'n1' } }
  await cluster.client.subresource(pods, 'default', name, 'binding', { method: 'POST', body })
  return say(name, 'False')
}

const sandbox = 'PodReadyToStartContainers'

/** What a node says of a pod's sandbox, which it has turned to just now. */
const say = (name: string, status: 'True' | 'False'): Promise<Pod> => {
  const now = new Date(clock.now()).toISOString().replace('.000', '')
  const conditions = [{ type: sandbox, status, lastTransitionTime: now, reason: null, message: null }]
  return cluster.client.patch(pods, 'default', name, { status: { startTime: now, conditions } }, { type: 'strategic', subresource: 'status' })
}

/** The node says why the pod has no sandbox, or that it does not know any more. */
const explain = (name: string, reason: string | null): Promise<Pod> =>
  cluster.client.patch(
    pods, 'default', name, { status: { conditions: [{ type: sandbox, reason, message: reason }] } },
    { type: 'strategic', subresource: 'status' },
  )

const readyAfter = async (name: string, seconds: number) => {
  await create(name)
  await pass(seconds)
  await say(name, 'True')
}

describe('a restart of the monitor', () => {
  it('changes no answer', async () => {
    await readyAfter('a', 3)
    await readyAfter('b', 10)
    await pass(10)
    const before = monitor.lines('coxswain_pod_sandbox_')
    expect(before).toContain('coxswain_pod_sandbox_creation_duration_seconds_sum{namespace="default",runtime_class="",storage_classes=""} 13')
    await monitor.stop()
    await startMonitor()
    await pass(10)
    expect(monitor.told()).toEqual([])
    expect(monitor.lines('coxswain_pod_sandbox_')).toEqual(before)
  })

  it('does not mix the first sandbox with the one that was made meanwhile', async () => {
    await readyAfter('a', 3)
    await pass(10)
    await monitor.stop()
    await pass(60)
    await say('a', 'False')
    await pass(9)
    await say('a', 'True')
    await startMonitor()
    await pass(5)
    expect(monitor.told()).toEqual(['recreated a'])
    expect(monitor.lines('kube_pod_sandbox_creation_duration_seconds')).toEqual([expect.stringMatching(/ 3$/)])
  })

  it('tells what happened meanwhile as if it had been seen', async () => {
    await create('slow')
    await create('late')
    await create('dead')
    await create('gone')
    await pass(10)
    await monitor.stop()
    await pass(20)
    await say('slow', 'True')
    await cluster.client.delete(pods, 'default', 'gone', { gracePeriodSeconds: 0 })
    await pass(370)
    await say('late', 'True')
    await startMonitor()
    await pass(5)
    expect(monitor.told().sort()).toEqual(['created late 400s late', 'created slow 30s', 'failed dead 300s', 'failed late 300s'])
    expect(JSON.parse(storage.text!).sections.sandboxes.pods).toHaveLength(3)
  })

  it('loses nothing that a crash has kept from being written, and tells nothing twice', async () => {
    await readyAfter('a', 3)
    await pass(8)
    expect(storage.writes).toBeGreaterThan(0)
    await readyAfter('b', 4)
    await pass(3)
    expect(monitor.told()).toEqual(['created a 3s', 'created b 4s'])
    await crash()
    await startMonitor()
    await pass(5)
    expect(monitor.lines('coxswain_pod_sandbox_creation_duration_seconds_sum')).toEqual([expect.stringMatching(/ 7$/)])
    expect(monitor.lines('coxswain_pod_sandbox_creation_duration_seconds_count')).toEqual([expect.stringMatching(/ 2$/)])
  })

  it('remembers who was to blame', async () => {
    await create('a')
    await pass(2)
    await explain('a', 'SecretNotFound')
    await pass(10)
    await monitor.stop()
    await explain('a', null)
    await startMonitor()
    await pass(20)
    await say('a', 'True')
    await pass(5)
    expect(monitor.told()).toEqual(['created a 32s by its user'])
  })

  it('sees who is to blame now', async () => {
    await create('a')
    await monitor.stop()
    await explain('a', 'ConfigMapNotFound')
    await startMonitor()
    await pass(302)
    expect(monitor.told()).toEqual(['failed a 300s by its user'])
  })

  it('begins anew with a snapshot that cannot be read, which is kept', async () => {
    await readyAfter('a', 3)
    await monitor.stop()
    storage.text = '{"version":1,"sec'
    await startMonitor()
    await pass(5)
    expect(monitor.told()).toEqual(['created a 3s'])
    expect(storage.aside).toBe('{"version":1,"sec')
  })
})

describe('an API that is away for a minute', () => {
  it('is caught up with', async () => {
    await create('a')
    await create('b')
    await pass(1)
    link.cut()
    await pass(9)
    await say('a', 'True')
    await pass(50)
    link.mend()
    await pass(40)
    expect(monitor.told()).toEqual(['created a 10s'])
    await say('b', 'True')
    await pass(3)
    expect(monitor.told()).toEqual(['created a 10s', 'created b 100s'])
  })

  it('makes nobody fail who was ready in time', async () => {
    await create('a')
    await pass(280)
    link.cut()
    await pass(10)
    await say('a', 'True')
    await pass(50)
    expect(monitor.told()).toEqual([])
    link.mend()
    await pass(40)
    expect(monitor.told()).toEqual(['created a 290s'])
  })

  it('does not hide who was to blame', async () => {
    await create('a')
    link.cut()
    await pass(5)
    await explain('a', 'SecretNotFound')
    await pass(25)
    await say('a', 'True')
    link.mend()
    await pass(60)
    expect(monitor.told()).toEqual(['created a 30s by its user'])
  })

  it('hides who was to blame if its history is gone', async () => {
    await create('a')
    link.cut()
    await pass(5)
    await explain('a', 'SecretNotFound')
    await pass(25)
    await say('a', 'True')
    await store.compact(store.revision)
    link.mend()
    await pass(60)
    expect(monitor.told()).toEqual(['created a 30s'])
  })

  it('is caught up with after its history is gone', async () => {
    await readyAfter('a', 3)
    await create('b')
    await create('c')
    await pass(5)
    link.cut()
    await pass(10)
    await say('a', 'False')
    await pass(7)
    await say('a', 'True')
    await say('b', 'True')
    await cluster.client.delete(pods, 'default', 'c', { gracePeriodSeconds: 0 })
    await store.compact(store.revision)
    link.mend()
    await pass(90)
    expect(monitor.metrics.text()).toMatch(/informer_watch_restarts_total\{name="monitor\/pods",reason="expired"\} 1/)
    expect(monitor.told()).toEqual(['created a 3s', 'recreated a', 'created b 22s'])
    expect(monitor.lines('kube_pod_status_scheduled_time')).toHaveLength(2)
  })
})

it('counts a failure without a reason, as on nodes of kubelets, and one that is no fault of the user', async () => {
  for (const name of ['silent', 'broken', 'lacking']) await create(name)
  await explain('broken', 'VolumeMountFailed')
  await explain('lacking', 'ConfigMapKeyNotFound')
  await pass(302)
  expect(monitor.told().sort()).toEqual(['failed broken 300s', 'failed lacking 300s by its user', 'failed silent 300s'])
})

it('reads no events', () => {
  expect(link.asked).toContain('WATCH /api/v1/pods')
  expect(link.asked.filter((request) => request.includes('/events'))).toEqual([])
})

it('writes nothing while nothing happens', async () => {
  await readyAfter('a', 3)
  await pass(20)
  const { writes } = storage
  await pass(600)
  expect(storage.writes).toBe(writes)
})

it('says when it cannot keep what it knows, and goes on', async () => {
  storage.problem = new Error('no space left on device')
  await readyAfter('a', 3)
  await pass(10)
  expect(monitor.monitor.problems()).toEqual(['the snapshot cannot be written: no space left on device'])
  expect(monitor.told()).toEqual(['created a 3s'])
  storage.problem = undefined
  await pass(10)
  expect(monitor.monitor.problems()).toEqual([])
})
