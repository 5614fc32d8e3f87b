import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../../src/api/generated/types.ts'
import { mountFailure } from '../../../src/api/kinds/pods/sandbox-condition.ts'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import { configmaps, pods, secrets } from '../../../src/client/index.ts'
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

const startMonitor = async (userObjects = true) => {
  monitor = await MonitorScene.start(link, clock, { storage, userObjects })
}

/** A monitor that may not look config maps and secrets up, and goes by the reasons of nodes. */
const goByReasons = async () => {
  await monitor.stop()
  await startMonitor(false)
}

/** A monitor that is gone without a word, as if its process had been killed. */
const crash = async () => {
  const kept = storage.text
  await monitor.stop()
  storage.text = kept
}

const pass = (seconds: number) => passTime(clock, seconds * 1000)

/** A volume that names a config map and a secret. */
const settings = [{ name: 'settings', projected: { sources: [{ configMap: { name: 'c' } }, { secret: { name: 's' } }] } }]

const create = async (name: string, volumes: object[] = []): Promise<Pod> => {
  await cluster.client.create(pods, { metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'app:1' }], volumes } } as never)
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: 'default' }, target: { kind: 'Node', name: 'n1' } }
  await cluster.client.subresource(pods, 'default', name, 'binding', { method: 'POST', body })
  return say(name, 'False')
}

const sandbox = 'PodReadyToStartContainers'

/** Reports a pod's sandbox condition with a transition at present. */
const say = (name: string, status: 'True' | 'False'): Promise<Pod> => {
  const now = new Date(clock.now()).toISOString().replace('.000', '')
  const conditions = [{ type: sandbox, status, lastTransitionTime: now, reason: null, message: null }]
  return cluster.client.patch(pods, 'default', name, { status: { startTime: now, conditions } }, { type: 'strategic', subresource: 'status' })
}

/** The node says why the pod has no sandbox, or that it does not know any more. */
const explain = (name: string, reason: string | null, volume = 'settings', why = 'whatever'): Promise<Pod> => {
  const message = reason && mountFailure(volume, why)
  const condition = { type: sandbox, reason, message }
  return cluster.client.patch(pods, 'default', name, { status: { conditions: [condition] } }, { type: 'strategic', subresource: 'status' })
}

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
    // It waited for ten seconds at least; more is not known.
    expect(monitor.told().sort()).toEqual(['abandoned gone 10s', 'created late 400s late', 'created slow 30s', 'failed dead 300s', 'failed late 300s'])
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
    await goByReasons()
    await create('a', settings)
    await pass(2)
    await explain('a', 'SecretNotFound')
    await pass(10)
    await monitor.stop()
    await explain('a', null)
    await startMonitor(false)
    await pass(5)
    await say('a', 'True')
    await pass(5)
    expect(monitor.told()).toEqual(['created a 17s by its user'])
  })

  it('sees who is to blame now', async () => {
    await create('a', settings)
    await monitor.stop()
    await explain('a', 'ConfigMapNotFound')
    await startMonitor(false)
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
    await goByReasons()
    await create('a', settings)
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
    await goByReasons()
    await create('a', settings)
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
    expect(monitor.told()).toEqual(['created a 3s', 'abandoned c 2s', 'recreated a', 'created b 22s'])
    expect(monitor.lines('kube_pod_status_scheduled_time')).toHaveLength(2)
  })
})

describe('a monitor that hears nothing', () => {
  const blind = () => monitor.lines('coxswain_monitor_blind')
  const all = ['pods', 'persistentvolumeclaims', 'configmaps', 'secrets']

  it('says so, and says so no more when it hears again', async () => {
    await pass(600)
    expect(blind()).toEqual([])
    link.cut()
    await pass(30)
    expect(blind()).toEqual([])
    await pass(170)
    expect(blind()).toEqual(all.map((resource) => `coxswain_monitor_blind{resource="${resource}"} 1`))
    link.mend()
    await pass(120)
    expect(blind()).toEqual([])
    expect(monitor.metrics.text()).toContain('coxswain_monitor_blind{resource="pods"} 0\n')
  })
})

it('counts a failure without a reason, as on nodes of kubelets, and one that is no fault of the user', async () => {
  await goByReasons()
  for (const name of ['silent', 'broken', 'lacking']) await create(name, settings)
  await explain('broken', 'VolumeMountFailed')
  await explain('lacking', 'ConfigMapKeyNotFound')
  await pass(302)
  expect(monitor.told().sort()).toEqual(['failed broken 300s', 'failed lacking 300s by its user', 'failed silent 300s'])
})

describe('an object that a pod names', () => {
  const make = (name: string) => cluster.client.create(configmaps, { metadata: { name, namespace: 'default' } })
  const config = [{ name: 'settings', configMap: { name: 'c' } }]

  it.each([
    ['is absent, and the node says nothing, as a kubelet does not', null],
    ['is absent, and the node blames its storage', 'VolumeMountFailed'],
  ])('%s: the user is to blame', async (_, reason) => {
    await create('a', config)
    await explain('a', reason)
    await pass(302)
    expect(monitor.told()).toEqual(['failed a 300s by its user'])
  })

  it('is there, and the node says that it is not: the cluster is to blame', async () => {
    await make('c')
    await create('a', config)
    await explain('a', 'ConfigMapNotFound')
    await pass(302)
    expect(monitor.told()).toEqual(['failed a 300s'])
  })

  it('is there, and an operator cannot find a secret of its own: the cluster is to blame, whatever the words are', async () => {
    const volumes = [...config, { name: 'data', csi: { driver: 'csi.example.com' } }]
    await make('c')
    await create('a', volumes)
    await explain('a', 'SecretNotFound', 'data', 'rpc error: code = Internal desc = secrets "csi-credentials" not found')
    await create('b', volumes)
    await explain('b', 'VolumeMountFailed', 'data', 'secret "c" not found; configmap "c" not found')
    await pass(302)
    expect(monitor.told().sort()).toEqual(['failed a 300s', 'failed b 300s'])
    await goByReasons()
    await create('c', volumes)
    await explain('c', 'SecretNotFound', 'data', 'secrets "csi-credentials" not found')
    await pass(302)
    expect(monitor.told()).toEqual(['failed c 300s'])
  })

  it('is made late: its user is to blame for as long, and the cluster for what comes after', async () => {
    await create('quick', config)
    await create('stuck', config)
    await pass(60)
    await make('c')
    await pass(5)
    await say('quick', 'True')
    await pass(294)
    expect(monitor.told()).toEqual(['created quick 65s by its user'])
    await pass(3)
    expect(monitor.told()).toEqual(['created quick 65s by its user', 'failed stuck 300s'])
    await say('stuck', 'True')
    await pass(3)
    expect(monitor.lines('coxswain_pod_sandbox_user_errors_total')).toEqual([expect.stringMatching(/ 1$/)])
    expect(monitor.lines('coxswain_pod_sandbox_creation_failures_total')).toEqual([expect.stringMatching(/ 1$/)])
  })

  it('was made while the monitor was away: its age tells how long it was absent', async () => {
    await create('a', config)
    await monitor.stop()
    await pass(60)
    await make('c')
    await pass(10)
    await startMonitor()
    await pass(1)
    await say('a', 'True')
    await pass(3)
    expect(monitor.told()).toEqual(['created a 71s by its user'])
  })

  it('is deleted after the cluster has let the pod wait for longer', async () => {
    await make('c')
    await create('a', config)
    await pass(200)
    await cluster.client.delete(configmaps, 'default', 'c')
    await pass(50)
    await cluster.client.delete(pods, 'default', 'a', { gracePeriodSeconds: 0 })
    await pass(3)
    expect(monitor.told()).toEqual(['abandoned a 200s'])
  })

  it('is optional, or the cluster provides it: the cluster is to blame', async () => {
    await create('a', [{ name: 'settings', secret: { secretName: 's', optional: true } }, { name: 'ca', configMap: { name: 'kube-root-ca.crt' } }])
    await pass(302)
    expect(monitor.told()).toEqual(['failed a 300s'])
  })

  it('is read by its metadata alone', async () => {
    await cluster.client.create(secrets, { metadata: { name: 's', namespace: 'default' }, stringData: { password: 'hunter2' } })
    await create('a', [{ name: 'settings', secret: { secretName: 's' } }])
    await pass(20)
    expect(storage.text).not.toContain('hunter2')
    await goByReasons()
    expect(link.asked.filter((request) => request.includes('/secrets'))).toHaveLength(1)
  })
})

describe('a pod that goes before it was ever ready', () => {
  it.each<[string, (name: string) => Promise<unknown>]>([
    ['deleted', (name) => cluster.client.delete(pods, 'default', name)],
    ['deleted by force', (name) => cluster.client.delete(pods, 'default', name, { gracePeriodSeconds: 0 })],
    ['evicted by its node', (name) => {
      const now = new Date(clock.now()).toISOString().replace('.000', '')
      const conditions = [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: now }]
      return cluster.client.patch(pods, 'default', name, { status: { phase: 'Failed', reason: 'Evicted', conditions } }, { type: 'strategic', subresource: 'status' })
    }],
    ['ended by its deadline', (name) => cluster.client.patch(pods, 'default', name, { status: { phase: 'Failed', reason: 'DeadlineExceeded' } }, { type: 'strategic', subresource: 'status' })],
  ])('is told of with how long it had waited: %s', async (_, end) => {
    await create('a')
    await pass(60)
    await end('a')
    await pass(10)
    expect(monitor.told()).toEqual(['abandoned a 60s'])
    await monitor.stop()
    await startMonitor()
    await pass(10)
    expect(monitor.told()).toEqual([])
    expect(monitor.lines('coxswain_pod_sandbox_creations_abandoned_total')).toEqual([expect.stringMatching(/ 1$/)])
  })

  it('is told of after the monitor was killed meanwhile, by what was last known of it', async () => {
    await create('a')
    await pass(60)
    await crash()
    await cluster.client.delete(pods, 'default', 'a', { gracePeriodSeconds: 0 })
    await startMonitor()
    await pass(3)
    expect(monitor.told()).toEqual([expect.stringMatching(/^abandoned a [45]\ds$/)])
  })
})

it('the time since which a pod is ready goes with the readiness, however that ended', async () => {
  const times = () => monitor.lines('kube_pod_status_ready_to_start_containers_time')
  await readyAfter('a', 3)
  await pass(1)
  expect(times()).toHaveLength(1)
  await cluster.client.patch(pods, 'default', 'a', { status: { phase: 'Succeeded' } }, { type: 'strategic', subresource: 'status' })
  await say('a', 'False')
  await pass(1)
  expect(times()).toEqual([])
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
  expect(monitor.monitor.problems()).toEqual(['failed to write the snapshot: no space left on device'])
  expect(monitor.told()).toEqual(['created a 3s'])
  storage.problem = undefined
  await pass(10)
  expect(monitor.monitor.problems()).toEqual([])
})
