import type { Pod } from '../../../src/api/generated/types.ts'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { configmaps, isNotFound, namespaces, pods } from '../../../src/client/index.ts'
import { SeededRandom, type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { Monitor, SloConsumer, type SloReport, parseSlos } from '../../../src/monitor/index.ts'
import { MemoryStorage } from './scene.ts'
import type { Away, Version } from './trail-oracle.ts'

// A random history of pods with deletions, evictions, reboots and users who forget a config map, watched by a monitor
// that is stopped and killed now and then. Every version of every pod is recorded.

export const objectives = `
slos:
- { name: ready, indicator: creation-latency, objective: 99%, threshold: 10s, window: 30d, groupBy: [namespace] }
- { name: succeeds, indicator: creation-success, objective: 99.9%, window: 30d }`

const sandbox = 'PodReadyToStartContainers'
const tenants = ['red', 'green', 'blue', 'amber']

type Step = readonly [afterSeconds: number, act: () => Promise<unknown>]

/** When a write was made that a killed monitor goes back to. */
class TimedStorage extends MemoryStorage {
  writtenAtMs = 0
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    super()
    this.#clock = clock
  }

  override async write(text: string): Promise<void> {
    await super.write(text)
    this.writtenAtMs = this.#clock.now()
  }
}

export class History {
  readonly clock: VirtualClock
  /** By uid, in the order in which they were written. */
  readonly trails = new Map<string, Version[]>()
  readonly absences: Away[] = []
  /** The present metrics of the monitor. A restart creates new ones. */
  metrics = new MetricsRegistry()
  restarts = 0
  readonly #random: SeededRandom
  readonly #cluster: TestCluster
  readonly #storage: TimedStorage
  readonly #steps = new Map<number, (() => Promise<unknown>)[]>()
  #monitor: Monitor | undefined
  #slos: SloConsumer | undefined
  #endRecording = () => {}
  #isRecording = true

  private constructor(seed: number, cluster: TestCluster, clock: VirtualClock) {
    this.clock = clock
    this.#random = new SeededRandom(seed)
    this.#cluster = cluster
    this.#storage = new TimedStorage(clock)
  }

  static async start(seed: number): Promise<History> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const cluster = await startCluster({ clock, random: new SeededRandom(seed) })
    const history = new History(seed, cluster, clock)
    for (const name of tenants) await cluster.client.create(namespaces, { metadata: { name } })
    history.#record()
    await history.#startMonitor()
    return history
  }

  /** Lives through it: `pods` of them begin within so many seconds, and all waits are over at the end. `between` is called now and then. */
  async run(count: number, seconds: number, between: () => Promise<void> = async () => {}): Promise<void> {
    for (let i = 0; i < count; i++) this.#plan(`p${i}`, 1 + this.#random.below(seconds))
    for (let at = 60; at < seconds; at += 60 + this.#random.below(180)) this.#planRestart(at)
    const moments = [...this.#steps.keys()].toSorted((a, b) => a - b)
    const beginMs = this.clock.now()
    for (const [i, moment] of moments.entries()) {
      await passTime(this.clock, beginMs + moment * 1000 - this.clock.now())
      for (const act of this.#steps.get(moment)!) await act()
      if (i % 200 === 0) await between()
    }
    await passTime(this.clock, 1_000_000)
  }

  /** Three pods of a new tenant wait for 20 seconds and are given up: its first events are all bad. */
  async beginBadly(namespace: string): Promise<void> {
    const { client } = this.#cluster
    await client.create(namespaces, { metadata: { name: namespace } })
    const names = ['a', 'b', 'c']
    for (const name of names) {
      await client.create(pods, { metadata: { name, namespace }, spec: { containers: [{ name: 'main', image: 'a' }] } } as never)
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: 'n1' } }
      await client.subresource(pods, namespace, name, 'binding', { method: 'POST', body })
    }
    await passTime(this.clock, 20_000)
    for (const name of names) await client.delete(pods, namespace, name, { gracePeriodSeconds: 0 })
    await passTime(this.clock, 5000)
  }

  report(): SloReport {
    return this.#slos!.report()
  }

  get page(): string {
    return JSON.stringify(this.report())
  }

  async stop(): Promise<void> {
    this.#isRecording = false
    this.#endRecording()
    await this.#monitor?.stop()
    await this.#cluster.stop()
  }

  #record(): void {
    // A server ends a watch after a while: the next one goes on from the last version that was recorded.
    const watch = (resourceVersion: string) => {
      let last = resourceVersion
      const query = { watch: 'true', resourceVersion }
      this.#endRecording = this.#cluster.transport.watch<Pod>({ method: 'GET', path: '/api/v1/pods', query } as never, {
        opened: () => {},
        closed: () => {
          if (this.#isRecording) watch(last)
        },
        event: ({ type, object }) => {
          last = object.metadata.resourceVersion ?? last
          this.#note(type, object as Pod)
        },
      })
    }
    watch('0')
  }

  #note(type: string, pod: Pod): void {
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return
    const uid = pod.metadata.uid!
    const trail = this.trails.get(uid) ?? []
    trail.push({ atMs: this.clock.now(), type, pod })
    this.trails.set(uid, trail)
  }

  async #startMonitor(): Promise<void> {
    const metrics = new MetricsRegistry()
    const slos = new SloConsumer(await parseSlos(objectives), this.clock, metrics)
    const { transport } = this.#cluster
    this.#monitor = new Monitor({ transport, clock: this.clock, random: new SeededRandom(7), metrics, consumers: [slos], storage: this.#storage, groupBy: ['namespace'] })
    await this.#monitor.start()
    this.#slos = slos
    this.metrics = metrics
  }

  /** Half a second off, so that nothing else happens at the same time. */
  #planRestart(at: number): void {
    const downSeconds = 3 + this.#random.below(40)
    const isKilled = this.#random.chance(0.5)
    let fromMs = 0
    this.#at(at + 0.5, async () => {
      const { text, writtenAtMs } = this.#storage
      fromMs = isKilled && text !== undefined ? writtenAtMs : this.clock.now()
      await this.#monitor!.stop()
      if (isKilled && text !== undefined) this.#storage.text = text
      this.restarts++
    })
    this.#at(at + downSeconds + 0.5, async () => {
      this.absences.push({ fromMs, toMs: this.clock.now() })
      await this.#startMonitor()
    })
  }

  #at(seconds: number, act: () => Promise<unknown>): void {
    const known = this.#steps.get(seconds)
    if (known) known.push(act)
    else this.#steps.set(seconds, [act])
  }

  #plan(name: string, begin: number): void {
    const { client } = this.#cluster
    const namespace = this.#random.pick(tenants)
    const draw = (low: number, high: number) => low + this.#random.below(high - low)
    const patch = (status: object) => client.patch(pods, namespace, name, { status }, { type: 'strategic', subresource: 'status' })
    const now = () => new Date(this.clock.now()).toISOString().replace('.000', '')
    const say = (status: 'True' | 'False', more: object = {}, reason: string | null = null) => {
      const message = reason === null ? null : `MountVolume.SetUp failed for volume "config" : ${reason}`
      return patch({ conditions: [{ type: sandbox, status, lastTransitionTime: now(), reason, message }], ...more })
    }
    /** The node does not know why any more; the condition has not turned. */
    const clear = () => patch({ conditions: [{ type: sandbox, reason: null, message: null }] })
    const running = (restartCount: number, startedAt = now()) => ({
      phase: 'Running',
      containerStatuses: [{ name: 'main', image: 'a', imageID: '', ready: true, restartCount, state: { running: { startedAt: now() } }, ...(restartCount ? { lastState: { terminated: { startedAt, finishedAt: now(), exitCode: 137 } } } : {}) }],
    })
    // A pod that has ended is gone at once.
    const bury = () => client.delete(pods, namespace, name, { gracePeriodSeconds: 0 }).catch((e: unknown) => { if (!isNotFound(e)) throw e })
    const remove = (graceful: boolean): Step[] =>
      graceful
        ? [[0, () => client.delete(pods, namespace, name)], [draw(1, 6), bury]]
        : [[0, () => client.delete(pods, namespace, name, { gracePeriodSeconds: 0 })]]
    const leave = (): Step[] => (this.#random.chance(0.5) ? [[draw(20, 300), async () => {}], ...remove(this.#random.chance(0.7))] : [])

    const needsConfig = this.#random.chance(0.2)
    const volumes = needsConfig ? [{ name: 'config', configMap: { name: `config-${name}` } }] : []
    const create = async () => {
      await client.create(pods, { metadata: { name, namespace }, spec: { containers: [{ name: 'main', image: 'a' }], volumes } } as never)
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target: { kind: 'Node', name: 'n1' } }
      await client.subresource(pods, namespace, name, 'binding', { method: 'POST', body })
      return say('False', { startTime: now() }, needsConfig ? 'ConfigMapNotFound' : null)
    }
    const provide = async () => {
      await client.create(configmaps, { metadata: { name: `config-${name}`, namespace } })
      await clear().catch(() => {})
    }
    const becomeReady = (seconds: number): Step[] => [[seconds, () => say('True', running(0))], ...leave()]
    const reboot = (): Step[] => {
      let startedAt = ''
      return [
        [draw(1, 30), async () => { startedAt = now(); await say('True', running(0)) }],
        [draw(15, 120), () => say('False', {}, 'SandboxChanged')],
        [draw(1, 60), () => say('True', running(1, startedAt))],
        ...leave(),
      ]
    }
    const evict = (): Step[] => [
      [draw(1, 60), () => patch({ phase: 'Failed', reason: 'Evicted', conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: now() }] })],
      ...leave(),
    ]
    const steps: Step[] = [[0, create]]
    if (needsConfig && this.#random.chance(0.7)) steps.push([draw(1, this.#random.chance(0.2) ? 400 : 60), provide])
    const scripts: (() => Step[])[] = [
      () => becomeReady(draw(1, 9)), () => becomeReady(draw(1, 9)), () => becomeReady(draw(9, 120)), () => becomeReady(draw(280, 420)),
      () => [[draw(1, 60), async () => {}], ...remove(true)], () => [[draw(1, 60), async () => {}], ...remove(false)], () => [[draw(250, 500), async () => {}], ...remove(true)],
      reboot, evict, () => [],
    ]
    const isStuck = needsConfig && steps.length === 1
    // A pod whose config map never comes is never ready.
    steps.push(...(isStuck ? this.#random.pick([scripts[4]!, scripts[5]!, scripts[6]!, evict, () => []]) : this.#random.pick(scripts))())
    let at = begin
    for (const [after, act] of steps) this.#at((at += after), act)
  }
}
