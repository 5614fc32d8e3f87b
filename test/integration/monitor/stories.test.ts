import { afterEach, describe, expect, it } from 'vitest'
import { configmaps, persistentvolumeclaims, persistentvolumes, pods, runtimeclasses } from '../../../src/client/index.ts'
import type { Fault, Faults, Stage } from '../../../src/node/index.ts'
import { NodeScene } from '../node/scene.ts'
import { MonitorScene } from './scene.ts'

// The stories of KEP-3085 as its monitoring service has to tell them, with a node that lives through them.

let scene: NodeScene
let monitor: MonitorScene
afterEach(async () => {
  await monitor?.stop()
  await scene?.stop()
})

class Plan implements Faults {
  readonly faults = new Map<Stage, Fault>()

  set(stage: Stage, fault: Fault): this {
    this.faults.set(stage, fault)
    return this
  }

  at(stage: Stage): Fault | undefined {
    return this.faults.get(stage)
  }
}

const scheduledAt = '2022-12-06T15:33:46Z'

const begin = async (faults: Faults, spec = {}, annotations = {}, prepare = async () => {}) => {
  scene = await NodeScene.start({ startMs: Date.parse(scheduledAt) - 60_000, faults, latencyMs: 1000 })
  monitor = await MonitorScene.start(scene.cluster.transport, scene.clock)
  await scene.client.create(runtimeclasses, { metadata: { name: 'microvm' }, handler: 'microvm' })
  await prepare()
  await scene.createPod('pod', spec, annotations)
  await scene.passTo(scheduledAt)
  await scene.bind('pod')
}

const creations = 'coxswain_pod_sandbox_creation_duration_seconds'

it('story 1: a healthy pod took three seconds', async () => {
  await begin(new Plan().set('sandbox', { delayMs: 2000 }))
  await scene.passTo('2022-12-06T15:33:52Z')
  expect(monitor.told()).toEqual(['created pod 3s'])
  expect(monitor.lines('kube_pod_sandbox_creation_duration_seconds')).toEqual([expect.stringMatching(/\{namespace="default",pod="pod",uid="[^"]+"\} 3$/)])
  expect(monitor.lines('kube_pod_status_ready_to_start_containers_time')).toEqual([expect.stringMatching(/ 1670340829$/)])
  expect(monitor.lines(`${creations}_sum`)).toEqual([`${creations}_sum{namespace="default",runtime_class="",storage_classes=""} 3`])
})

/** A claim of a class, with a volume of a driver. */
const makeClaim = async (storageClassName: string) => {
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName }
  const csi = { driver: 'csi.example.com', volumeHandle: 'v' }
  await scene.client.create(persistentvolumes, { metadata: { name: 'volume' }, spec: { ...shared, capacity: { storage: '1Gi' }, csi } })
  await scene.client.create(persistentvolumeclaims, { metadata: { name: 'data', namespace: 'default' }, spec: { ...shared, volumeName: 'volume', resources: { requests: { storage: '1Gi' } } } })
  await scene.client.patch(persistentvolumeclaims, 'default', 'data', { status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
}

const claiming = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }

it('story 2: a volume of a driver took ten seconds, and its class is told', async () => {
  await begin(new Plan().set('volumes', { delayMs: 9000 }), claiming, {}, () => makeClaim('encrypted'))
  await scene.passTo('2022-12-06T15:34:00Z')
  expect(monitor.told()).toEqual(['created pod 10s'])
  expect(monitor.lines(`${creations}_sum`)).toEqual([`${creations}_sum{namespace="default",runtime_class="",storage_classes="encrypted"} 10`])
  expect(monitor.lines('kube_pod_sandbox_info')).toEqual([expect.stringContaining('runtime_class="",storage_classes="encrypted",volumes="1"')])
})

describe('story 2: ten seconds, and the labels tell whose fault it is', () => {
  it.each<[string, Stage, string]>([['getting an address', 'network', ''], ['starting a microVM', 'sandbox', 'microvm']])('when %s', async (_, stage, runtimeClassName) => {
    await begin(new Plan().set(stage, { delayMs: 9000 }), runtimeClassName ? { runtimeClassName } : {})
    await scene.passTo('2022-12-06T15:34:00Z')
    expect(monitor.told()).toEqual(['created pod 10s'])
    const group = `{namespace="default",runtime_class="${runtimeClassName}",storage_classes=""`
    expect(monitor.lines(`${creations}_sum`)).toEqual([`${creations}_sum${group}} 10`])
    expect(monitor.lines(`${creations}_bucket`).slice(0, 1)).toEqual([`${creations}_bucket${group},le="10"} 1`])
  })
})

it('story 3: what is not ready within the configured time has failed', async () => {
  await begin(new Plan().set('network', { fail: 'out of order' }))
  await scene.passTo('2022-12-06T15:38:45Z')
  expect(monitor.told()).toEqual([])
  await scene.passTo('2022-12-06T15:38:48Z')
  expect(monitor.facts).toMatchObject([{ kind: 'failed', atMs: Date.parse('2022-12-06T15:38:46Z'), latencyMs: 300_000, isUserError: false }])
  await scene.passTo('2022-12-06T15:53:46Z')
  expect(monitor.told()).toEqual(['failed pod 300s'])
  expect(monitor.lines('kube_pod_sandbox_creation_failed')).toHaveLength(1)
  expect(monitor.lines('coxswain_pod_sandbox_creation_failures_total')).toEqual(['coxswain_pod_sandbox_creation_failures_total{namespace="default",runtime_class="",storage_classes=""} 1'])
})

it('story 4: one restart is told, and not mixed with the first readiness', async () => {
  const faults = new Plan().set('sandbox', { delayMs: 5000 })
  await begin(faults)
  await scene.passTo('2022-12-06T15:34:00Z')
  faults.set('sandbox', { delayMs: 6000 })
  await scene.passTo('2022-12-06T15:43:46Z')
  const [lost] = await scene.runtime.listPodSandboxes()
  scene.runtime.crashSandbox(lost!.id)
  await scene.passTo('2022-12-06T15:44:00Z')
  expect(monitor.told()).toEqual(['created pod 6s', 'recreated pod 6s'])
  expect(monitor.lines(`${creations}_count`)).toEqual([expect.stringMatching(/ 1$/)])
  expect(monitor.lines(`${creations}_sum`)).toEqual([expect.stringMatching(/ 6$/)])
  expect(monitor.lines('coxswain_pod_sandbox_recreations_total')).toEqual([expect.stringMatching(/ 1$/)])
  expect(monitor.lines('kube_pod_sandbox_recreations_total')).toEqual([expect.stringMatching(/ 1$/)])
  expect(monitor.lines('kube_pod_sandbox_creation_duration_seconds')).toEqual([expect.stringMatching(/ 6$/)])
  expect(monitor.lines('kube_pod_status_ready_to_start_containers_time')).toEqual([expect.stringMatching(new RegExp(` ${Date.parse('2022-12-06T15:43:52Z') / 1000}$`))])
})

it('story 5: a termination took two seconds, and the pod takes its series with it', async () => {
  await begin(new Plan().set('sandbox', { delayMs: 1000 }), {}, { 'coxswain.dev/simulate-stop-after': '1s' })
  await scene.passTo('2022-12-06T15:43:47Z')
  expect(monitor.lines('kube_pod_')).not.toEqual([])
  await scene.client.delete(pods, 'default', 'pod')
  await scene.passTo('2022-12-06T15:43:53Z')
  expect(monitor.told()).toEqual(['created pod 2s', 'terminated pod 2s'])
  expect(monitor.lines('coxswain_pod_sandbox_termination_duration_seconds_sum')).toEqual([expect.stringMatching(/ 2$/)])
  expect(monitor.lines('kube_pod_')).toEqual([])
})

it('a driver that fails is held against the cluster, under the class of its claims', async () => {
  await begin(new Plan().set('volumes', { fail: 'rpc error: code = DeadlineExceeded' }), claiming, {}, () => makeClaim('encrypted'))
  await scene.pass(6 * 60_000)
  expect(await scene.events('FailedMount')).toHaveLength(1)
  expect(monitor.told()).toEqual(['failed pod 300s'])
  expect(monitor.lines('coxswain_pod_sandbox_creation_failures_total')).toEqual(['coxswain_pod_sandbox_creation_failures_total{namespace="default",runtime_class="",storage_classes="encrypted"} 1'])
})

describe('a config map that is missing', () => {
  const spec = { volumes: [{ name: 'config', configMap: { name: 'settings' } }] }

  it('is not held against the cluster when it never comes', async () => {
    await begin(new Plan(), spec)
    await scene.pass(10 * 60_000)
    expect(monitor.told()).toEqual(['failed pod 300s by its user'])
    expect(monitor.lines('coxswain_pod_sandbox_creation_failures_total')).toEqual([])
    expect(monitor.lines('coxswain_pod_sandbox_user_errors_total')).toEqual([expect.stringMatching(/ 1$/)])
  })

  it('nor when it comes late', async () => {
    await begin(new Plan(), spec)
    await scene.pass(100_000)
    await scene.client.create(configmaps, { metadata: { name: 'settings', namespace: 'default' }, data: {} })
    await scene.pass(10_000)
    expect(monitor.told()).toEqual([expect.stringMatching(/^created pod 10\ds by its user$/)])
    expect(monitor.lines(`${creations}_count`)).toEqual([])
  })
})
