import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApiRequest, Transport } from '../../../src/client/index.ts'
import { ApiError, deployments, jobs, pods } from '../../../src/client/index.ts'
import { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { MonitorScene } from './scene.ts'

let clock: VirtualClock
let cluster: TestCluster
let monitor: MonitorScene

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  cluster = await startCluster({ clock, random: new SeededRandom(1), controllers: [deploymentController] })
})
afterEach(async () => {
  await monitor?.stop()
  await cluster.stop()
})

const watchFrom = async (transport: Transport, options = {}) => {
  monitor = await MonitorScene.start(transport, clock, options)
  await passTime(clock, 10)
}

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
const createDeployment = (name: string) =>
  cluster.client.create(deployments, { metadata: { name, namespace: 'default' }, spec: { replicas: 2, progressDeadlineSeconds: 100, selector: { matchLabels: { app: 'web' } }, template } } as never)
const createPod = (name: string) => cluster.client.create(pods, { metadata: { name, namespace: 'default' }, spec: template.spec } as never)

it('the state of a workload is told while it is there, its deadline to the second', async () => {
  await watchFrom(cluster.transport)
  await passTime(clock, 990)
  await createDeployment('web')
  await passTime(clock, 30_000)
  expect(monitor.lines('kube_deployment_spec_replicas')).toEqual(['kube_deployment_spec_replicas{namespace="default",deployment="web"} 2'])
  expect(monitor.lines('kube_deployment_status_progress_deadline_seconds_left')).toEqual(['kube_deployment_status_progress_deadline_seconds_left{namespace="default",deployment="web"} 70'])
  await passTime(clock, 80_000)
  expect(monitor.metrics.text()).toContain('kube_deployment_status_progress_deadline_seconds_left{namespace="default",deployment="web"} 0\n')
  expect(monitor.lines('kube_deployment_status_condition')).toContain('kube_deployment_status_condition{namespace="default",deployment="web",reason="ProgressDeadlineExceeded",condition="Progressing",status="false"} 1')
  await cluster.client.delete(deployments, 'default', 'web')
  await passTime(clock, 10)
  expect(monitor.lines('kube_deployment_')).toEqual([])
})

/** A server without some kinds, as an older or plainer one would be. */
class Without implements Transport {
  readonly #inner: Transport
  readonly #prefix: string
  isMissing = true
  readonly asked: string[] = []

  constructor(inner: Transport, prefix: string) {
    this.#inner = inner
    this.#prefix = prefix
  }

  async send<T>(request: ApiRequest): Promise<T> {
    this.asked.push(request.path)
    if (this.isMissing && request.path.startsWith(this.#prefix)) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
    return this.#inner.send<T>(request)
  }

  watch: Transport['watch'] = (request, listener) => {
    this.asked.push(request.path)
    return this.#inner.watch(request, listener)
  }

  close = () => this.#inner.close()
}

describe('a kind that the server has not', () => {
  it('is left alone until it has', async () => {
    const server = new Without(cluster.transport, '/apis/batch/v1')
    await cluster.client.create(jobs, { metadata: { name: 'j', namespace: 'default' }, spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } } as never)
    await watchFrom(server)
    await createDeployment('web')
    await passTime(clock, 60_000)
    expect(monitor.monitor.problems()).toEqual([])
    expect(monitor.lines('kube_deployment_created')).toHaveLength(1)
    expect(monitor.lines('kube_job_')).toEqual([])
    expect(server.asked.filter((path) => path.startsWith('/apis/batch/v1'))).toEqual(['/apis/batch/v1'])
    server.isMissing = false
    await passTime(clock, 5 * 60_000)
    expect(monitor.lines('kube_job_info')).toEqual(['kube_job_info{namespace="default",job_name="j"} 1'])
  })
})

describe('what a monitor tells', () => {
  it('is of pods only where that was chosen', async () => {
    await createPod('a')
    await watchFrom(cluster.transport, { modes: ['histograms'] })
    expect(monitor.metrics.text()).not.toContain('kube_pod_')
    expect(monitor.metrics.text()).toContain('# TYPE coxswain_pod_sandbox_creation_duration_seconds histogram')
  })

  it('is of groups only where that was chosen', async () => {
    await createPod('a')
    await watchFrom(cluster.transport, { modes: ['pods'] })
    expect(monitor.lines('kube_pod_sandbox_info')).toHaveLength(1)
    expect(monitor.metrics.text()).not.toContain('coxswain_pod_sandbox_')
  })

  it('is of so many pods and no more, and it says how many are left out', async () => {
    for (const name of ['a', 'b', 'c']) await createPod(name)
    await watchFrom(cluster.transport, { maxObjects: 2 })
    expect(monitor.lines('kube_pod_sandbox_info')).toHaveLength(2)
    expect(monitor.lines('coxswain_monitor_objects_without_series')).toEqual(['coxswain_monitor_objects_without_series{resource="pods"} 1'])
    await cluster.client.delete(pods, 'default', 'a', { gracePeriodSeconds: 0 })
    await passTime(clock, 10)
    expect(monitor.lines('kube_pod_sandbox_info')).toHaveLength(2)
    expect(monitor.lines('coxswain_monitor_objects_without_series')).toEqual([])
  })
})

it('a pod that is not available is told with its cause, for as long as that lasts', async () => {
  await watchFrom(cluster.transport)
  await createPod('one')
  const causes = async () => {
    await passTime(clock, 1000)
    return monitor.lines('coxswain_pod_unavailable').map((line) => /cause="(\w+)"/.exec(line)![1])
  }
  const report = (status: object) => cluster.client.patch(pods, 'default', 'one', { status }, { type: 'strategic', subresource: 'status' })
  expect(await causes()).toEqual(['NotScheduledYet'])
  await report({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' }] })
  expect(await causes()).toEqual(['Unschedulable'])
  await report({ phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }, { type: 'Ready', status: 'True' }] })
  expect(await causes()).toEqual([])
})
