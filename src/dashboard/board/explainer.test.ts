import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { Logger } from '../../base/logger.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Client } from '../../client/index.ts'
import { type Row, rowOf } from '../../insight/workload/row.ts'
import { sampleWorkload } from '../../insight/workload/sample.ts'
import type { Caches } from './caches.ts'
import { Explainer } from './explainer.ts'

/** Rows of StatefulSets with one crashing pod each, on a server that has nothing else. */
function scene({ costMs = 0 } = {}) {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:10:00Z'))
  const server = { error: undefined as Error | undefined }
  const transport = {
    send: async <T>() => ({ metadata: {}, items: [] }) as T,
    watch: () => () => {},
    close: async () => {},
  }
  const client = new Client(transport, { clock, random: new SeededRandom(1) })
  const crashing = (name: string) => ({
    metadata: { name: `${name}-0`, namespace: 'default', ownerReferences: [{ controller: true, uid: `uid-${name}`, kind: 'StatefulSet', name }] },
    spec: { containers: [{ name: 'main' }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'main', restartCount: 5, ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 3 } } }] },
  }) as unknown as Pod
  const rows = new Map<string, Row>()
  const log: string[] = []
  const caches = {
    sourceOf: (_: unknown, { metadata }: Row['object']) => ({
      pods: async () => {
        if (server.error) throw server.error
        return [crashing(metadata.name!)]
      },
      replicaSets: async () => [],
    }),
  } as unknown as Caches
  const explained: string[] = []
  let stopwatchMs = 0
  const explainer = new Explainer({
    caches,
    client,
    clock,
    logger: new Logger((line) => log.push(line), 'warn'),
    rowOf: (key) => rows.get(key),
    explained: (key, { causes }) => {
      explained.push(`${(clock.now() / 1000) % 600} ${key} ${causes[0]?.what}`)
    },
    stopwatchMs: () => (stopwatchMs += costMs),
  })
  const add = (name: string) => {
    const [kind, object] = sampleWorkload('StatefulSet', { replicas: 1 }, {}, { name, uid: `uid-${name}` })
    rows.set(name, rowOf(kind, object, clock.now()))
    explainer.ask(name)
  }
  return { clock, server, rows, log, explainer, add, took: () => explained.splice(0), pass: (ms: number) => clock.pass(ms) }
}

describe('Explainer', () => {
  it('explains each row that is asked for, and again after 15 seconds', async () => {
    const { add, took, pass } = scene()
    add('a')
    add('b')
    await pass(0)
    expect(took()).toEqual(['0 a CrashLoop', '0 b CrashLoop'])
    await pass(14_999)
    expect(took()).toEqual([])
    await pass(1)
    expect(took()).toEqual(['15 a CrashLoop', '15 b CrashLoop'])
  })

  it.each([
    ['a second', 0, 1],
    ['fifty times its cost', 100, 5],
  ])('explains a row again after %s at the earliest, however often it is asked for', async (_, costMs, seconds) => {
    const { add, explainer, took, pass } = scene({ costMs })
    add('a')
    await pass(0)
    for (let i = 0; i < 5; i++) explainer.ask('a')
    await pass(seconds * 1000 - 1)
    expect(took()).toHaveLength(1)
    await pass(1)
    expect(took()).toEqual([`${seconds} a CrashLoop`])
  })

  it('logs an error, and explains the row later', async () => {
    const { add, server, log, took, pass } = scene()
    server.error = new Error('a fault of the test')
    add('a')
    await pass(0)
    expect([took(), log.length]).toEqual([[], 1])
    server.error = undefined
    await pass(15_000)
    expect(took()).toEqual(['15 a CrashLoop'])
  })

  it('does not explain rows that are gone, and nothing after its stop', async () => {
    const { add, explainer, rows, took, pass } = scene()
    add('a')
    add('b')
    add('c')
    rows.delete('a')
    explainer.forget('b')
    await pass(0)
    expect(took()).toEqual(['0 c CrashLoop'])
    explainer.stop()
    explainer.ask('c')
    await pass(60_000)
    expect(took()).toEqual([])
  })
})
