import { describe, expect, it, onTestFinished } from 'vitest'
import { MetricsRegistry } from '../../../src/base/metrics.ts'
import { configmaps, leases, pathOf, pods, replicasets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { type AnyController, ControllerManager, defineController } from '../../../src/controllers/index.ts'
import { crew, replicaSet } from './crew.ts'
import { RecordedTransport } from './recorded-transport.ts'

interface Candidate {
  manager: ControllerManager
  wire: RecordedTransport
  metrics: MetricsRegistry
}

const user = { name: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] }

/** A cluster, and candidates who want to run its one controller. */
class Election {
  readonly cluster: TestCluster
  readonly clock: VirtualClock
  readonly #candidates: ControllerManager[] = []

  private constructor(cluster: TestCluster, clock: VirtualClock) {
    this.cluster = cluster
    this.clock = clock
  }

  static async start(): Promise<Election> {
    const clock = new VirtualClock()
    const election = new Election(await startCluster({ clock, random: new SeededRandom(1) }), clock)
    onTestFinished(async () => {
      const stopped = Promise.all(election.#candidates.map((c) => c.stop()))
      await election.pass(30_000)
      await stopped
      await election.cluster.stop()
    })
    return election
  }

  async stand(identity: string, controller: AnyController = crew): Promise<Candidate> {
    const { clock, cluster } = this
    const metrics = new MetricsRegistry()
    const wire = new RecordedTransport(new InProcessTransport(cluster.server, user), clock)
    const manager = new ControllerManager({
      transport: wire,
      controllers: [controller],
      metrics,
      clock,
      random: new SeededRandom(identity),
      // Lists, so that a test can make them old.
      informers: { stream: false },
      leaderElection: { namespace: 'kube-system', name: 'crew', identity },
    })
    this.#candidates.push(manager)
    await manager.start()
    return { manager, wire, metrics }
  }

  pass = (ms: number) => passTime(this.clock, ms)
  makePods = (replicas: number) => this.cluster.client.create(replicasets, replicaSet('web', replicas))
  pods = async () => (await this.cluster.client.list(pods, 'default')).items
  holder = async () => (await this.cluster.client.get(leases, 'kube-system', 'crew')).spec?.holderIdentity
}

const podWrites = ({ wire }: Candidate) => wire.summary().filter((line) => line.endsWith(' pods'))

describe('several managers', () => {
  it('act one at a time, and the next takes over when one stops', async () => {
    const election = await Election.start()
    const a = await election.stand('a')
    await election.pass(1000)
    const b = await election.stand('b')
    await election.makePods(3)
    await election.pass(5000)
    expect([a.manager.isActive, b.manager.isActive]).toEqual([true, false])
    expect([podWrites(a).length, podWrites(b).length]).toEqual([3, 0])
    const stopped = a.manager.stop()
    await election.pass(6000)
    await stopped
    expect([a.manager.isActive, b.manager.isActive]).toEqual([false, true])
    await election.cluster.client.patch(replicasets, 'default', 'web', { spec: { replicas: 4 } }, { type: 'merge' })
    await election.pass(1000)
    expect([podWrites(a).length, podWrites(b).length]).toEqual([3, 1])
  })

  it('a new leader starts from lists at least as new as what the last one wrote', async () => {
    const election = await Election.start()
    const a = await election.stand('a')
    await election.pass(1000)
    const old = await election.cluster.transport.send({ method: 'GET', path: pathOf(pods) })
    await election.makePods(3)
    // Long enough for the lease to be renewed with what was written.
    await election.pass(5000)
    expect(podWrites(a)).toHaveLength(3)

    a.wire.isUnreachable = true
    const b = await election.stand('b')
    let oldAnswers = 0
    b.wire.interceptRead = (request, send) => {
      if (request.path !== pathOf(pods) || oldAnswers === 3) return send()
      oldAnswers++
      return Promise.resolve(old)
    }
    await election.pass(120_000)
    expect(await election.holder()).toBe('b')
    expect(oldAnswers).toBe(3)
    expect(b.manager.isActive).toBe(true)
    expect(podWrites(b)).toEqual([])
    expect(await election.pods()).toHaveLength(3)
  })

  it('a leader that was cut off past its deadline writes nothing more', async () => {
    const election = await Election.start()
    const a = await election.stand('a')
    await election.pass(1000)
    const b = await election.stand('b')
    await election.pass(1000)
    a.wire.isUnreachable = true
    await election.pass(60_000)
    a.wire.isUnreachable = false
    await election.makePods(2)
    await election.pass(1000)
    expect([podWrites(a).length, podWrites(b).length]).toEqual([0, 2])
    expect(await election.holder()).toBe('b')
  })

  it('counts what a leader wanted to write when it was none any more', async () => {
    const election = await Election.start()
    const slow = defineController({
      name: 'slow',
      owner: replicasets,
      sources: { owns: [configmaps] },
      observe: () => ({}),
      plan: () => ({ actions: [{ kind: 'Create' as const }] }),
      apply: {
        Create: async ({ writer }) => {
          await new Promise<void>((resolve) => void election.clock.after(20_000, resolve))
          await writer.create(configmaps, { metadata: { name: 'late' } })
        },
      },
    })
    const a = await election.stand('a', slow)
    await election.pass(1000)
    await election.makePods(1)
    await election.pass(1000)
    a.wire.isUnreachable = true
    await election.pass(30_000)
    expect(a.metrics.text()).toMatch(/^leader_election_refused_writes_total\{name="crew"\} [1-9]/m)
  })

  it('know what they do', async () => {
    const election = await Election.start()
    const a = await election.stand('a')
    expect(a.manager.role).toEqual({ kind: 'unknown' })
    const known = a.manager.roleKnown()
    await election.pass(1000)
    expect(await known).toEqual({ kind: 'acting' })
    const b = await election.stand('b')
    await election.pass(1000)
    expect(await b.manager.roleKnown()).toEqual({ kind: 'standing by', leader: 'a' })
    const stopped = a.manager.stop()
    await election.pass(6000)
    await stopped
    expect([a.manager.role.kind, b.manager.role.kind]).toEqual(['unknown', 'acting'])
  })
})
