import { afterEach, describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { systemClock } from '../../base/clock.ts'
import { Client } from '../client.ts'
import { LeaderElector, type LeaderElectorOptions, leaderIdentity } from './leader-election.ts'
import { electionConformance } from './conformance/index.ts'
import { Scene } from './conformance/scene.ts'
import { MemoryApi } from '../testing/memory-api.ts'

const manySeeds = Array.from({ length: 12 }, (_, i) => i + 1)

const openApi = async () => {
  const api = new MemoryApi()
  return { transport: () => api, close: () => api.close() }
}

electionConformance('a few objects in memory', openApi, manySeeds)

describe('LeaderElector', () => {
  let scene: Scene
  const start = async () => (scene = await Scene.open(await openApi()))
  afterEach(() => scene.end())

  it('gives up the lease only after the work has ended', async () => {
    await start()
    let endWork!: () => void
    const a = scene.candidate('a', { onStartedLeading: () => new Promise<void>((resolve) => (endWork = resolve)) }).start()
    await scene.pass(100)
    const b = scene.candidate('b').start()
    await scene.pass(5000)
    const stopped = a.stop()
    await scene.pass(2000)
    expect([scene.leader(), (await scene.lease()).spec.holderIdentity]).toEqual([undefined, 'a'])
    endWork()
    await scene.pass(200)
    await stopped
    expect(scene.leader()).toBe(b)
  })

  it('does not give up the lease while the work goes on, and ends by its deadline all the same', async () => {
    await start()
    const a = scene.candidate('a', { onStartedLeading: () => new Promise<void>(() => {}) }).start()
    await scene.pass(5000)
    let isStopped = false
    const stopped = a.stop().then(() => (isStopped = true))
    await scene.pass(7000)
    expect(isStopped).toBe(false)
    await scene.pass(3000)
    await stopped
    expect((await scene.lease()).spec.holderIdentity).toBe('a')
  })

  it('does not give up the lease while a write without an answer may still arrive', async () => {
    const [a] = await (await start()).threeCandidates()
    a.api.fault = 'answers lost'
    await scene.pass(600)
    a.api.fault = 'none'
    const stopped = a.stop()
    await scene.pass(200)
    await stopped
    expect([scene.leader(), (await scene.lease()).spec.holderIdentity]).toEqual([undefined, 'a'])
    expect(await scene.untilLed(20_000)).toBeGreaterThan(5000)
  })

  it('gives up the lease when the work fails, and stands again a while later', async () => {
    await start()
    let starts = 0
    const a = scene.candidate('a', {
      onStartedLeading: async () => {
        if (starts++ === 0) throw new Error('no')
      },
    }).start()
    await scene.pass(500)
    expect([scene.leader(), starts, (await scene.lease()).spec.holderIdentity, a.told]).toEqual([undefined, 1, '', ['leader a', 'leader ', 'stopped']])
    await scene.pass(5000)
    expect([scene.leader(), starts]).toEqual([a, 2])
  })

  it('takes work that fails at once like work that fails later', async () => {
    await start()
    const a = scene.candidate('a', {
      onStartedLeading: () => {
        throw new Error('no')
      },
    }).start()
    await scene.pass(500)
    expect([scene.leader(), a.told.at(-1)]).toEqual([undefined, 'stopped'])
  })

  it('stands again although the work of its last term does not end, after a lease’s time', async () => {
    await start()
    let starts = 0
    const a = scene.candidate('a', {
      onStartedLeading: () => {
        starts++
        return new Promise<void>(() => {})
      },
    }).start()
    await scene.pass(1000)
    a.api.fault = 'unreachable'
    await scene.pass(12_000)
    a.api.fault = 'none'
    await scene.pass(10_000)
    expect([scene.leader(), starts]).toEqual([undefined, 1])
    await scene.pass(10_000)
    expect([scene.leader(), starts]).toEqual([a, 2])
  })

  it('is not disturbed by callbacks that throw', async () => {
    await start()
    const broken = () => {
      throw new Error('no')
    }
    const a = scene.candidate('a', { onNewLeader: broken, onStoppedLeading: broken }).start()
    await scene.pass(3000)
    expect(scene.leader()).toBe(a)
    const stopped = a.stop()
    await scene.pass(100)
    await stopped
  })

  it('runs once at a time, and again after it was stopped', async () => {
    await start()
    const a = scene.candidate('a').start()
    await expect(a.elector.run(new AbortController().signal)).rejects.toThrow('runs already')
    await scene.pass(100)
    const stopped = a.stop()
    await scene.pass(100)
    await stopped
    a.start()
    await scene.pass(5000)
    expect(scene.leader()).toBe(a)
  })

  it('leaves no timer and no watch behind', async () => {
    await start()
    const a = scene.candidate('a').start()
    await scene.pass(100)
    const b = scene.candidate('b', { onStartedLeading: () => {} }).start()
    await scene.pass(5000)
    for (const candidate of [b, a]) {
      const stopped = candidate.stop()
      await scene.pass(100)
      await stopped
    }
    a.signal = undefined // ends its writing
    await scene.pass(1000)
    expect(scene.clock.pending).toBe(0)
  })

  it('tells its metrics', async () => {
    await start()
    const metrics = new MetricsRegistry()
    const a = scene.candidate('a', { metrics, name: 'measured' }).start()
    const lines = () => metrics.text().split('\n').filter((l) => l.includes('{name="measured"}'))
    await scene.pass(1000)
    expect(lines()).toContain('leader_election_master_status{name="measured"} 1')
    a.api.fault = 'unreachable'
    await scene.pass(12_000)
    expect(lines()).toContain('leader_election_master_status{name="measured"} 0')
    const value = (name: string) => Number(lines().find((l) => l.includes(name))!.split(' ')[1])
    expect(value('failed_attempts_total')).toBeGreaterThanOrEqual(5)
    expect(value('refused_writes_total')).toBeGreaterThanOrEqual(5)
  })
})

it.each<[string, Partial<LeaderElectorOptions>, string]>([
  ['no identity', { identity: '' }, 'identity must not be empty'],
  ['a lease that is over before its deadline', { leaseDurationMs: 10_000 }, 'leaseDurationMs must be greater than renewDeadlineMs'],
  ['a deadline that comes before the second attempt', { renewDeadlineMs: 2400 }, 'renewDeadlineMs must be greater than 1.2 times retryPeriodMs'],
  ['no pause between attempts', { retryPeriodMs: 0 }, 'retryPeriodMs must be greater than zero'],
])('LeaderElector refuses %s', (_, options, message) => {
  const make = () =>
    new LeaderElector(new Client(new MemoryApi()), {
      namespace: 'default', name: 'test', identity: 'a', clock: systemClock, random: new SeededRandom(1), onStartedLeading: () => {}, ...options,
    })
  expect(make).toThrow(message)
})

it('leaderIdentity() is different each time', () => {
  const random = new SeededRandom(1)
  const [a, b] = [leaderIdentity('host', random), leaderIdentity('host', random)]
  expect(a).toMatch(/^host_[0-9a-f-]{36}$/)
  expect(a).not.toBe(b)
})
