import { afterEach, describe, expect, it } from 'vitest'
import type { Lease } from '../../../api/generated/types.ts'
import { SeededRandom } from '../../../base/seeded-random.ts'
import { leases } from '../../resources.ts'
import { type ElectionApi, Scene } from './scene.ts'

export type { ElectionApi } from './scene.ts'

/** Defaults of client-go. */
const leaseMs = 15_000
const deadlineMs = 10_000
const retryMs = 2000

/** Tests elections over any transport. Every test checks after each step that at most one candidate leads. */
export function electionConformance(name: string, open: () => Promise<ElectionApi>, seeds: readonly number[]): void {
  describe(`LeaderElector over ${name}`, { timeout: 60_000 }, () => {
    let scene: Scene
    const start = async (seed?: number) => (scene = await Scene.open(await open(), seed))
    afterEach(() => scene.end(), 60_000)

    it('lets one of several lead, and tells all of them who it is', async () => {
      const [a, b, c] = await (await start()).threeCandidates()
      expect([a.told, b.told, c.told]).toEqual([['leader a', 'started'], ['leader a'], ['leader a']])
      await scene.pass(60_000)
      expect([scene.leader(), a.elector.leaderTransitions, scene.writers]).toEqual([a, 0, ['a']])
      expect(a.attempts).toMatchObject({ refused: 0, failed: 0 })
      expect((await scene.lease()).spec).toMatchObject({
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        leaseTransitions: 0,
      })
    })

    it('hands over when the leader crashes, once its lease is over and not before', async () => {
      const [a, b, c] = await (await start()).threeCandidates()
      a.crash()
      await scene.pass(leaseMs - retryMs - 200)
      expect(scene.leader()).toBeUndefined()
      expect(await scene.untilLed(leaseMs)).toBeLessThanOrEqual(retryMs + 400)
      expect([b, c]).toContain(scene.leader())
      expect(scene.leader()!.elector.leaderTransitions).toBe(1)
    })

    it('hands over at once when the leader is stopped', async () => {
      const [a] = await (await start()).threeCandidates()
      const stopped = a.stop()
      await scene.pass(200)
      await stopped
      expect(scene.leader()?.name).toMatch(/^[bc]$/)
      expect([a.signal!.aborted, a.told.slice(0, 3)]).toEqual([true, ['leader a', 'started', 'leader ']])
      expect(a.told).toContain('stopped')
      expect((await scene.lease()).spec).toMatchObject({ holderIdentity: scene.leader()!.name, leaseTransitions: 1 })
    })

    it('keeps the lease of a leader that is stopped without releasing it', async () => {
      await start()
      const a = scene.candidate('a', { releaseOnStop: false }).start()
      const b = scene.candidate('b').start()
      await scene.pass(3000)
      const stopped = scene.leader()!.stop()
      await scene.pass(200)
      await stopped
      if (a.signal) {
        await scene.pass(deadlineMs)
        expect(scene.leader()).toBeUndefined()
      }
      await scene.untilLed(leaseMs)
      expect([a, b]).toContain(scene.leader())
    })

    it('ends by its deadline when the API is away, and somebody leads when it is back', async () => {
      const [a, b, c] = await (await start()).threeCandidates()
      for (const candidate of [a, b, c]) candidate.api.fault = 'unreachable'
      await scene.pass(deadlineMs - retryMs - 200)
      expect(scene.leader()).toBe(a)
      await scene.pass(retryMs + 300)
      expect([scene.leader(), a.signal!.aborted, a.told.at(-1)]).toEqual([undefined, true, 'stopped'])
      await scene.pass(60_000)
      for (const candidate of [a, b, c]) candidate.api.fault = 'none'
      expect(await scene.untilLed(leaseMs)).toBeLessThanOrEqual(2.2 * retryMs + 200)
    })

    it('survives an outage shorter than its deadline', async () => {
      const [a, b, c] = await (await start()).threeCandidates()
      for (const candidate of [a, b, c]) candidate.api.fault = 'unreachable'
      await scene.pass(6000)
      for (const candidate of [a, b, c]) candidate.api.fault = 'none'
      await scene.pass(30_000)
      expect([scene.leader(), a.elector.leaderTransitions]).toEqual([a, 0])
    })

    for (const fault of ['unreachable', 'silent', 'answers lost'] as const) {
      it(`ends before another begins, when for the leader alone the API is ${fault}`, async () => {
        const [a] = await (await start()).threeCandidates()
        a.api.fault = fault
        await scene.pass(deadlineMs + 300)
        expect([scene.leader(), a.signal!.aborted]).toEqual([undefined, true])
        if (fault === 'answers lost') return // the other candidates see its renewals
        await scene.untilLed(leaseMs)
        expect(scene.leader()).not.toBe(a)
        a.api.fault = 'none'
        await scene.pass(30_000)
        expect(scene.leader()).not.toBe(a)
        expect(scene.writers.length).toBe(2)
      })
    }

    it('does not write any more as a leader that was paused for a minute', async () => {
      const [a] = await (await start()).threeCandidates()
      const { written } = a.attempts
      expect(written).toBeGreaterThan(0)
      a.clock.pause()
      await scene.pass(60_000)
      expect(scene.leader()?.name).toMatch(/^[bc]$/)
      const order: string[] = []
      a.signal!.addEventListener('abort', () => order.push('aborted'))
      a.clock.resume()
      order.push('awake')
      await scene.pass(5000)
      expect(order).toEqual(['aborted', 'awake'])
      expect(a.attempts.refused).toBeGreaterThan(0)
      expect(scene.writers).toEqual(['a', scene.leader()!.name])
    })

    it('does not write any more as a leader that was paused past its deadline but not past its lease', async () => {
      const [a] = await (await start()).threeCandidates()
      a.clock.pause()
      await scene.pass(deadlineMs + 500)
      expect(scene.leader()).toBeUndefined()
      const { written } = a.attempts
      a.clock.resume()
      expect([a.elector.isLeader(), a.signal!.aborted, a.attempts.written]).toEqual([false, true, written])
      // The lease still names it, so it may lead again, in a new term.
      const old = a.signal
      await scene.untilLed(leaseMs)
      expect(old).not.toBe(scene.leader()!.signal)
    })

    it('does not mind clocks that are hours apart', async () => {
      await start()
      const [a, b, c] = ['a', 'b', 'c'].map((n) => scene.candidate(n))
      a!.clock.skewMs = -3_600_000
      b!.clock.skewMs = 7_200_000
      a!.start()
      await scene.pass(100)
      b!.start()
      c!.start()
      await scene.pass(60_000)
      expect(scene.leader()).toBe(a)
      a!.crash()
      await scene.pass(deadlineMs)
      expect(scene.leader()).toBeUndefined()
      await scene.untilLed(leaseMs)
    })

    it('goes on under the same leader when the lease is deleted, with its count of transitions', async () => {
      const [a] = await (await start()).threeCandidates()
      await a.stop()
      await scene.untilLed(5000)
      const leader = scene.leader()!
      await scene.admin.delete(leases, 'default', 'test')
      await scene.pass(30_000)
      expect([scene.leader(), leader.elector.leaderTransitions]).toEqual([leader, 1])
      expect((await scene.lease()).spec).toMatchObject({ holderIdentity: leader.name, leaseTransitions: 1 })
    })

    it('waits for a leader to end whose lease was deleted while it could not reach the API', async () => {
      const [a] = await (await start()).threeCandidates()
      a.api.fault = 'unreachable'
      await scene.admin.delete(leases, 'default', 'test')
      await scene.pass(deadlineMs - 2 * retryMs)
      expect(scene.leader()).toBe(a)
      await scene.untilLed(leaseMs, (c) => c !== a)
    })

    it('ends at once when somebody else is written into the lease', async () => {
      const [a] = await (await start()).threeCandidates()
      await scene.change((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'usurper' } }))
      await scene.pass(retryMs + 100)
      expect([scene.leader(), a.signal!.aborted, a.elector.leader]).toEqual([undefined, true, 'usurper'])
      await scene.untilLed(2 * leaseMs)
    })

    it('goes on when somebody changes the lease all the time without taking it', async () => {
      const [a] = await (await start()).threeCandidates()
      for (let i = 0; i < 30; i++) {
        await scene.change((lease) => ({ ...lease, metadata: { ...lease.metadata, labels: { touched: `${i}` } } }))
        await scene.pass(1000)
      }
      expect([scene.leader(), a.elector.leaderTransitions]).toEqual([a, 0])
      expect((await scene.lease()).metadata.labels).toEqual({ touched: '29' })
      a.crash()
      for (let i = 0; i < 17; i++) {
        await scene.change((lease) => ({
          ...lease,
          metadata: { ...lease.metadata, labels: { touched: `again-${i}` } },
        }))
        await scene.pass(1000)
      }
      expect(scene.leader()?.name).toMatch(/^[bc]$/)
    })

    const malformed: [string, Partial<Lease>][] = [
      ['no spec to speak of', { spec: {} }],
      ['nobody in it, though nobody gave it up', { spec: { holderIdentity: '', leaseDurationSeconds: 15 } }],
      ['no duration', { spec: { holderIdentity: 'ghost' } }],
      [
        'a renewal in the far future',
        { spec: { holderIdentity: 'ghost', leaseDurationSeconds: 15, renewTime: '2999-01-01T00:00:00.000000Z' } },
      ],
      [
        'a last written version that is none',
        { spec: {}, metadata: { annotations: { 'coxswain.dev/last-written': 'yesterday' } } },
      ],
    ]
    for (const [what, broken] of malformed) {
      it(`takes a lease with ${what}`, async () => {
        await start()
        await scene.admin.create(leases, {
          spec: {},
          ...broken,
          metadata: { ...broken.metadata, namespace: 'default', name: 'test' },
        })
        const a = scene.candidate('a').start()
        await scene.untilLed(leaseMs + 3 * retryMs)
        expect([scene.leader(), a.elector.lastWritten()]).not.toContain('yesterday')
        await scene.pass(leaseMs)
        expect(scene.leader()).toBe(a)
      })

      it(`never has two leaders when the lease of a leader gets ${what}`, async () => {
        await (await start()).threeCandidates()
        await scene.change((lease) => ({ ...lease, ...broken, metadata: { ...lease.metadata, ...broken.metadata } }))
        await scene.pass(2 * leaseMs + deadlineMs)
        expect(scene.leader()).toBeDefined()
      })
    }

    it('tells its successor what it wrote last', async () => {
      const [a] = await (await start()).threeCandidates()
      const written = BigInt(a.elector.lastWritten())
      a.elector.recordWritten(String(written + 1000n))
      a.elector.recordWritten('7')
      a.elector.recordWritten('nonsense')
      await scene.pass(retryMs + 200)
      a.crash()
      await scene.untilLed(leaseMs + 3 * retryMs)
      expect(scene.leader()!.elector.lastWritten()).toBe(String(written + 1000n))
    })

    it.each(seeds)(
      'never has two leaders whatever happens, and has one when all is well again (seed %d)',
      async (seed) => {
        await start(seed)
        const random = new SeededRandom(`trouble ${seed}`)
        const candidates = ['a', 'b', 'c'].map((n) => scene.candidate(n).start())
        await scene.pass(5000) // each candidate has seen a lease
        for (let round = 0; round < 60; round++) {
          const candidate = random.pick(candidates)
          const kind = random.below(8)
          if (kind < 3) candidate.api.fault = random.pick(['none', 'unreachable', 'silent', 'answers lost'])
          else if (kind < 5) candidate.clock.pause()
          else if (kind < 7) candidate.clock.resume()
          else await scene.admin.delete(leases, 'default', 'test').catch(() => {}) // the lease may be missing
          await scene.pass(random.below(80) * 100)
        }
        for (const candidate of candidates) {
          candidate.api.fault = 'none'
          candidate.clock.resume()
        }
        await scene.untilLed(leaseMs + 3 * retryMs)
      },
    )
  })
}
