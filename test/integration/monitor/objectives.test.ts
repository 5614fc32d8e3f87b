import { afterEach, describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { pods, runtimeclasses } from '../../../src/client/index.ts'
import { type SloReport, SloConsumer, parseSlos, sloNeeds } from '../../../src/monitor/index.ts'
import type { Fault, Faults, Stage, Subject } from '../../../src/node/index.ts'
import { NodeScene } from '../node/scene.ts'
import { MemoryStorage, MonitorScene } from './scene.ts'

// The results of objectives for pods of a node.

const file = `
slos:
- { name: ready, indicator: creation-latency, objective: 99%, threshold: 10s, window: 30d, groupBy: [runtimeClass, "label:team"] }
- { name: succeeds, indicator: creation-success, objective: 99.9%, window: 30d }
- { name: ours, indicator: creation-latency, objective: 50%, threshold: 4s, window: 1h, selector: { labels: team=ours } }
- { name: gone, indicator: termination-latency, objective: 95%, threshold: 30s, window: 1d }`

/** By the name of a pod. */
class Trouble implements Faults {
  readonly #byPod = new Map<string, [Stage, Fault]>()

  set(pod: string, stage: Stage, fault: Fault): this {
    this.#byPod.set(pod, [stage, fault])
    return this
  }

  at(stage: Stage, { pod }: Subject): Fault | undefined {
    const [where, fault] = this.#byPod.get(pod?.metadata.name ?? '') ?? []
    return where === stage ? fault : undefined
  }
}

let scene: NodeScene
const monitors: MonitorScene[] = []
afterEach(async () => {
  for (const monitor of monitors.splice(0)) await monitor.stop()
  await scene?.stop()
})

interface Watched {
  monitor: MonitorScene
  report(): SloReport
}

/** A monitor with these objectives, as `coxswain monitor` would have it. */
async function watch(storage?: MemoryStorage): Promise<Watched> {
  const slos = await parseSlos(file)
  const consumer = new SloConsumer(slos, scene.clock, new MetricsRegistry())
  const { podGroups } = sloNeeds(slos)
  const monitor = await MonitorScene.start(scene.cluster.transport, scene.clock, { consumers: [consumer], podGroups, ...(storage ? { storage } : {}) })
  monitors.push(monitor)
  return { monitor, report: () => consumer.report() }
}

async function begin(trouble: Faults): Promise<void> {
  scene = await NodeScene.start({ faults: trouble, latencyMs: 1000 })
  await scene.client.create(runtimeclasses, { metadata: { name: 'microvm' }, handler: 'microvm' })
}

async function run(name: string, spec = {}, labels = {}): Promise<void> {
  await scene.createPod(name, spec, {})
  if (Object.keys(labels).length > 0) await scene.client.patch(pods, 'default', name, { metadata: { labels } }, { type: 'merge' })
  await scene.bind(name)
}

const slo = ({ slos }: SloReport, name: string) => slos.find((each) => each.name === name)!

describe('an objective', () => {
  it('is missed by ten seconds, and its groups name the runtime class', async () => {
    await begin(new Trouble().set('quick', 'sandbox', { delayMs: 2000 }).set('slow', 'sandbox', { delayMs: 9000 }))
    const { report } = await watch()
    await run('quick')
    await run('slow', { runtimeClassName: 'microvm' })
    await scene.pass(60_000)
    expect(slo(report(), 'ready')).toMatchObject({
      events: 2, bad: 1, compliance: 0.5, errorBudgetRemaining: -49, alert: 'page',
      groups: [{ labels: { runtime_class: '', label_team: '' }, bad: 0, alert: null }, { labels: { runtime_class: 'microvm', label_team: '' }, bad: 1, alert: 'page' }],
      latencies: { '1h': { events: 2, never: 0, buckets: [{ lessThanSeconds: 4, count: 1 }, { lessThanSeconds: 12, count: 1 }] } },
    })
    expect(slo(report(), 'succeeds')).toMatchObject({ events: 2, bad: 0, errorBudgetRemaining: 1 })
  })

  it('burns by a volume that cannot be had, and not by a config map that nobody made', async () => {
    await begin(new Trouble().set('stuck', 'volumes', { fail: 'rpc error: code = DeadlineExceeded' }))
    const { report } = await watch()
    await run('stuck')
    await run('mistaken', { volumes: [{ name: 'config', configMap: { name: 'settings' } }] })
    await scene.pass(6 * 60_000)
    for (const name of ['ready', 'succeeds']) expect(slo(report(), name)).toMatchObject({ events: 1, bad: 1, compliance: 0 })
    expect(slo(report(), 'ready').latencies['1h']).toMatchObject({ events: 1, never: 1 })
  })

  it('counts only those that it is about', async () => {
    await begin(new Trouble().set('theirs', 'sandbox', { delayMs: 5000 }))
    const { report } = await watch()
    await run('theirs', {}, { team: 'theirs' })
    await run('ours', {}, { team: 'ours' })
    await scene.pass(60_000)
    expect(slo(report(), 'ours')).toMatchObject({ events: 1, bad: 0 })
    expect(slo(report(), 'ready').groups.map(({ labels }) => labels['label_team']).sort()).toEqual(['ours', 'theirs'])
  })
})

describe('a monitor that was started anew', () => {
  const trouble = () => new Trouble().set('b', 'sandbox', { delayMs: 11_000 }).set('d', 'network', { fail: 'no address' })

  it.each(['stopped', 'killed'] as const)('gives the answers of one that was never %s', async (how) => {
    await begin(trouble())
    const steady = await watch()
    const storage = new MemoryStorage()
    const first = await watch(storage)
    await run('a')
    await scene.pass(60_000)
    const atRest = storage.text
    expect(atRest).toBeDefined()
    await run('b', { runtimeClassName: 'microvm' })
    await run('c')
    await scene.client.delete(pods, 'default', 'a')
    await scene.pass(8000)
    // While 'b' is not ready: what was not saved yet has to be found out again.
    monitors.splice(monitors.indexOf(first.monitor), 1)
    await first.monitor.stop()
    if (how === 'killed') storage.text = atRest
    await run('d')
    await scene.pass(30_000)
    const second = await watch(storage)
    await scene.pass(7 * 60_000)
    const expected = steady.report()
    expect(slo(expected, 'ready')).toMatchObject({ events: 4, bad: 2 })
    // A pod that was created and deleted unobserved cannot be evaluated.
    const answers = (report: SloReport) => report.slos.filter(({ name }) => how === 'stopped' || name !== 'gone')
    expect(answers(second.report())).toEqual(answers(expected))
  })
})
