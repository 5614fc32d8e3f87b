import { describe, expect, it } from 'vitest'
import type { Pod, PodStatus } from '../../api/generated/types.ts'
import { silentLogger } from '../../base/logger.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Client } from '../../client/index.ts'
import { samplePod } from '../sample-pod.ts'
import { StatusManager } from './status-manager.ts'

const status = (phase: string, ready: string): PodStatus => ({ phase, conditions: [{ type: 'Ready', status: ready }] })
const version = (at: number, of: PodStatus): Pod => ({ ...samplePod({}, { resourceVersion: String(at) }), status: of })

interface Options {
  isLost?: boolean
  /** Versions of the pod before which somebody else marks it as not ready. */
  marksBefore?: number[]
  /** The results of reads of the Node: whether each succeeds. */
  looks?: boolean[]
}

/** A manager of one pod, and what it has sent. */
function scene({ isLost = false, marksBefore = [], looks = [true] }: Options) {
  const clock = new VirtualClock(0)
  const sent: string[] = []
  let asked = 0
  let stored = version(1, status('Pending', 'True'))
  const client = {
    async patch(_type: unknown, _namespace: string, _name: string, { status: patch }: { status: PodStatus }) {
      const next = Number(stored.metadata.resourceVersion) + 1
      const { phase = stored.status.phase!, conditions = [] } = patch
      sent.push([patch.phase, ...conditions.map((c) => `${c.type}=${c.status}`)].filter(Boolean).join(' '))
      const { status: ready } = conditions[0] ?? stored.status.conditions![0]!
      return (stored = version(next, status(phase, marksBefore.includes(next) ? 'False' : ready)))
    },
  } as unknown as Client
  const manager = new StatusManager({
    client, clock, random: new SeededRandom(1), logger: silentLogger,
    isNodeLost: () => asked > 0 && isLost,
    lookAtNode: async () => looks[Math.min(asked++, looks.length - 1)]!,
  })
  manager.set(stored, stored.status)
  const pass = async (ms: number) => {
    for (let passed = 0; passed <= ms; passed += 100) {
      clock.advance(100)
      await new Promise(setImmediate)
    }
  }
  const mark = (at: number) => manager.observed(version(at, status('Pending', 'False')))
  return { manager, sent, pass, mark, asked: () => asked }
}

describe('StatusManager says that a pod is ready, which somebody else has marked as not ready,', () => {
  it.each<[string, boolean, string[]]>([
    ['again, if its node is not lost', false, ['Running', 'Ready=True']],
    ['no more, if its node is lost', true, ['Running']],
  ])('%s: the answer to another patch tells of it', async (_, isLost, expected) => {
    const s = scene({ isLost, marksBefore: [2] })
    s.manager.set(version(1, status('Pending', 'True')), status('Running', 'True'))
    await s.pass(1000)
    expect([s.sent, s.asked()]).toEqual([expected, 1])
  })

  it('when it has heard how its node is, and not before', async () => {
    const s = scene({ isLost: false, looks: [false, false, false, true] })
    s.mark(5)
    await s.pass(2500)
    expect([s.sent, s.asked()]).toEqual([[], 3])
    await s.pass(1000)
    expect([s.sent, s.asked()]).toEqual([['Ready=True'], 4])
  })
})

it('StatusManager keeps the parts that the API has, not ones of its own, once both say the same', async () => {
  const s = scene({})
  const running = status('Running', 'True')
  s.manager.set(version(1, status('Pending', 'True')), running)
  await s.pass(1000)
  const seen = version(3, { ...status('Running', 'True'), qosClass: 'Burstable' })
  s.manager.observed(seen)
  const kept = s.manager.get(seen.metadata.uid!)!
  expect(kept).toEqual(running)
  expect(kept.conditions![0]).toBe(seen.status.conditions![0])
  s.manager.observed(version(4, status('Running', 'False')))
  expect(s.manager.get(seen.metadata.uid!)).toEqual(running)
})
