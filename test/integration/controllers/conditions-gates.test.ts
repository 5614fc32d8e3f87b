import { describe, expect, it, onTestFinished } from 'vitest'
import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import type { DaemonSet, StatefulSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { type Client, type ResourceType, daemonsets, nodes, pods, statefulsets } from '../../../src/client/index.ts'
import { SeededRandom, type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/controller.ts'
import type { AnyController } from '../../../src/controllers/kit/index.ts'
import { type Condition, findCondition } from '../../../src/controllers/kit/workload/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { openMemoryStore } from '../../../src/store/index.ts'
import { nodeOf } from './daemonset-scene.ts'
import { Kubelet } from './kubelet.ts'

interface Workload extends KubeObject {
  spec: { progressDeadlineSeconds?: number }
  status: { conditions?: readonly Condition[] }
}

interface Kind {
  name: string
  gate: GateName
  type: ResourceType<Workload>
  controller: AnyController
}

const kinds: readonly Kind[] = [
  { name: 'DaemonSet', gate: 'DaemonSetConditions', type: daemonsets as unknown as ResourceType<Workload>, controller: daemonSetController },
  { name: 'StatefulSet', gate: 'StatefulSetConditions', type: statefulsets as unknown as ResourceType<Workload>, controller: statefulSetController },
]

const noDeadline = 2_147_483_647

/** An API server and controllers whose gates are switched apart, and which are replaced by others over the same store. */
class Upgrades {
  readonly kind: Kind
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  readonly #store = openMemoryStore({ clock: this.clock })
  #cluster: TestCluster | undefined

  private constructor(kind: Kind) {
    this.kind = kind
  }

  static async of(kind: Kind, server: boolean, controllers: boolean): Promise<Upgrades> {
    const made = new Upgrades(kind)
    onTestFinished(() => made.stop())
    await made.start(server, controllers)
    for (const name of ['n1', 'n2']) {
      await made.client.create(nodes, { metadata: { name } } as never)
      await made.client.patch(nodes, '', name, { spec: { taints: null } }, { type: 'merge' })
    }
    return made
  }

  get client(): Client {
    return this.#cluster!.client
  }

  async start(server: boolean, controllers: boolean): Promise<void> {
    await this.stop()
    const { gate, controller } = this.kind
    this.#cluster = await startCluster({
      clock: this.clock,
      random: new SeededRandom(1),
      store: this.#store,
      gates: { [gate]: server },
      manager: { gates: FeatureGates.of({ [gate]: controllers }) },
      controllers: [controller],
    })
    await this.pass(1000)
  }

  async stop(): Promise<void> {
    const stopped = this.#cluster?.stop()
    await this.pass(5000)
    await stopped
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  async create(spec: object): Promise<void> {
    const labels = { app: 'w' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1', resources: {} }] } }
    const replicas = this.kind.name === 'StatefulSet' ? { replicas: 2, podManagementPolicy: 'Parallel', serviceName: 'w' } : {}
    const set = { metadata: { name: 'w', namespace: 'default' }, spec: { selector: { matchLabels: labels }, template, ...replicas, ...spec } }
    await this.client.create(this.kind.type, set as unknown as (DaemonSet | StatefulSet) & Workload)
    await this.pass(1000)
  }

  async change(spec: object): Promise<void> {
    await this.client.patch(this.kind.type, 'default', 'w', { spec }, { type: 'merge' })
    await this.pass(1000)
  }

  async ready(count: number): Promise<void> {
    const some = (await this.client.list(pods, 'default')).items.slice(0, count)
    const kubelet = new Kubelet(this.client, this.clock)
    for (const pod of some) await kubelet.report('ready', [pod], this.kind.name === 'DaemonSet' ? nodeOf(pod) : 'n1')
    await this.pass(1000)
  }

  get(): Promise<Workload> {
    return this.client.get(this.kind.type, 'default', 'w')
  }

  async deadline(): Promise<number | undefined> {
    return (await this.get()).spec.progressDeadlineSeconds
  }

  /** The conditions Progressing and Available. */
  async says(): Promise<string> {
    const { conditions } = (await this.get()).status
    const told = ['Progressing', 'Available'].map((type) => findCondition(conditions, type)).map((c) => (c ? `${c.status} ${c.reason}` : 'nothing'))
    return told.join(', ')
  }
}

const begun = 'True NewRevisionCreated, False MinimumReplicasUnavailable'
const waiting = 'True ReplicasUpdated, False MinimumReplicasUnavailable'
const late = 'False ProgressDeadlineExceeded, False MinimumReplicasUnavailable'
const done = 'True NewRevisionAvailable, True MinimumReplicasAvailable'
const silence = 'nothing, nothing'

describe.each(kinds)('$name', (kind) => {
  it.each<[server: boolean, controllers: boolean, deadline: number | undefined, first: string, then: string]>([
    [true, true, 60, waiting, late],
    [true, false, 60, silence, silence],
    [false, true, undefined, waiting, waiting],
    [false, false, undefined, silence, silence],
  ])('gate of the server %s, of the controllers %s', async (server, controllers, deadline, first, then) => {
    const u = await Upgrades.of(kind, server, controllers)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.ready(1)
    expect([await u.deadline(), await u.says()]).toEqual([deadline, first])
    await u.pass(120_000)
    expect(await u.says()).toBe(then)
    await u.ready(2)
    expect(await u.says()).toBe(controllers ? done : silence)
  })

  it('controllers on, off, on: what was said goes, and the deadline is honoured again from then on', async () => {
    const u = await Upgrades.of(kind, true, true)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.ready(1)
    expect(await u.says()).toBe(waiting)
    await u.start(true, false)
    await u.pass(120_000)
    expect(await u.says()).toBe(silence)
    await u.start(true, true)
    expect(await u.says()).toBe(begun)
    await u.pass(62_000)
    expect(await u.says()).toBe(late)
    await u.ready(2)
    expect(await u.says()).toBe(done)
  })

  it('controllers on, off, on: what has happened meanwhile is told', async () => {
    const u = await Upgrades.of(kind, true, true)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.ready(1)
    await u.start(true, false)
    await u.ready(2)
    expect(await u.says()).toBe(silence)
    await u.start(true, true)
    expect(await u.says()).toBe(done)
  })

  it('controllers off, on: a set that was there gets its conditions', async () => {
    const u = await Upgrades.of(kind, true, false)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.ready(2)
    expect(await u.says()).toBe(silence)
    await u.start(true, true)
    expect(await u.says()).toBe(done)
  })

  it('server on, off, on: the field stays where it was, and is not taken where it was not', async () => {
    const u = await Upgrades.of(kind, true, true)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.start(false, true)
    await u.change({ minReadySeconds: 1 })
    expect(await u.deadline()).toBe(60)
    await u.change({ progressDeadlineSeconds: 90 })
    expect(await u.deadline()).toBe(90)
    await u.start(true, true)
    expect(await u.deadline()).toBe(90)
    await u.pass(120_000)
    expect(await u.says()).toBe(late)
  })

  it('server off, on: a set of before has no deadline until one is set', async () => {
    const u = await Upgrades.of(kind, false, true)
    await u.create({ progressDeadlineSeconds: 60 })
    await u.change({ progressDeadlineSeconds: 90 })
    expect(await u.deadline()).toBeUndefined()
    await u.start(true, true)
    await u.pass(3600_000)
    expect(await u.says()).toBe(begun)
    await u.change({ minReadySeconds: 1 })
    expect(await u.deadline()).toBe(noDeadline)
    await u.change({ progressDeadlineSeconds: 60 })
    await u.pass(1000)
    expect([await u.deadline(), await u.says()]).toEqual([60, late])
  })
})
