import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Subject } from '../faults.ts'
import { FaultPlan } from './fault-plan.ts'
import type { FaultRule } from './fault-rule.ts'

const pod = (name: string, labels: Record<string, string> = {}, namespace = 'default'): Pod => ({ metadata: { name, namespace, uid: `${namespace}/${name}`, labels }, spec: { containers: [] }, status: {} })
const subject = (rest: Partial<Subject> = {}): Subject => ({ node: 'worker-1', pod: pod('web-0', { app: 'web' }), container: undefined, ...rest })

function planWith(...rules: Omit<FaultRule, 'name'>[]) {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const plan = new FaultPlan(clock, new SeededRandom(1), rules.map((rule, i) => ({ name: `rule-${i}`, ...rule })))
  return { clock, plan }
}

describe('FaultPlan.at() goes by', () => {
  it.each<[string, Omit<FaultRule, 'name' | 'stage' | 'fail'>, Partial<Subject>, boolean]>([
    ['nothing: everybody', {}, {}, true],
    ['the name of a pod', { pods: { name: 'web-*' } }, {}, true],
    ['the name of another pod', { pods: { name: 'db-*' } }, {}, false],
    ['a namespace', { pods: { namespace: 'kube-*' } }, {}, false],
    ['labels', { pods: { selector: 'app in (web, api)' } }, {}, true],
    ['other labels', { pods: { selector: 'app!=web' } }, {}, false],
    ['a node', { nodes: 'worker-*' }, {}, true],
    ['another node', { nodes: 'worker-2' }, {}, false],
    ['pods, at a node itself', { pods: {} }, { pod: undefined }, false],
    ['a container', { container: 'main' }, { container: 'main' }, true],
    ['another container', { container: 'main' }, { container: 'side' }, false],
    ['a dot as a dot', { nodes: 'worker.1' }, {}, false],
  ])('%s', (_what, rule, who, happens) => {
    const { plan } = planWith({ stage: 'network', fail: 'no', ...rule })
    expect(plan.at('network', subject(who))?.fail).toBe(happens ? 'no' : undefined)
  })

  it('the stage, by any of its names', () => {
    const { plan } = planWith({ stage: 'csi', fail: true }, { stage: 'ipam', fail: true }, { stage: 'runtime-handler', fail: true })
    expect(plan.at('csi', subject({ driver: 'disks' }))?.fail).toContain('DeadlineExceeded')
    expect(plan.at('volumes', subject())).toBeUndefined()
    expect(plan.at('network', subject())?.fail).toContain('no IP addresses available')
    expect(plan.at('sandbox', subject())?.fail).toContain('no runtime')
    expect(plan.at('image', subject())).toBeUndefined()
  })
})

describe('FaultPlan', () => {
  it.each([['any driver', undefined, true], ['this driver', 'disks.*', true], ['another driver', 'files.example.com', false]])('meets the volumes of %s', (_, driver, happens) => {
    const { plan } = planWith({ stage: 'csi', fail: 'no', ...(driver ? { driver } : {}) })
    expect(plan.at('csi', subject({ driver: 'disks.example.com' }))?.fail).toBe(happens ? 'no' : undefined)
  })

  it('crashes the sandbox of a pod once, unless it says how often', () => {
    const crashes = (more: object) => {
      const { plan } = planWith({ stage: 'sandbox-crash', fail: true, ...more })
      return [1, 2, 3].map(() => plan.at('sandbox-crash', subject()) !== undefined)
    }
    expect([crashes({}), crashes({ times: 2 })]).toEqual([[true, false, false], [true, true, false]])
  })

  it('tells when it changes, and when something begins', () => {
    const { plan, clock } = planWith()
    let told = 0
    const end = plan.watch(() => told++)
    plan.replace([{ name: 'a', stage: 'sandbox-crash', fail: true, after: '10s' }])
    clock.advance(9999)
    expect(told).toBe(1)
    clock.advance(1)
    expect(told).toBe(2)
    end()
    plan.replace([])
    expect(told).toBe(2)
  })

  it('adds up delays and tells the first failure', () => {
    const { plan } = planWith({ stage: 'image', delay: '9s' }, { stage: 'image', delay: '1.5s', fail: 'a' }, { stage: 'image', fail: 'b' })
    expect(plan.at('image', subject())).toEqual({ delayMs: 10_500, fail: 'a' })
  })

  it('counts for each pod by itself', () => {
    const { plan } = planWith({ stage: 'volumes', fail: 'no', times: 2 })
    const tries = (who: Subject) => [1, 2, 3].map(() => plan.at('volumes', who)?.fail)
    expect(tries(subject())).toEqual(['no', 'no', undefined])
    expect(tries(subject({ pod: pod('web-1') }))).toEqual(['no', 'no', undefined])
  })

  it('begins after a while and lasts a while', () => {
    const { plan, clock } = planWith({ stage: 'heartbeat', fail: 'no', after: '10s', for: '20s' })
    const beats = [0, 9_999, 1, 19_999, 1].map((ms) => {
      clock.advance(ms)
      return plan.at('heartbeat', subject({ pod: undefined }))?.fail
    })
    expect(beats).toEqual([undefined, undefined, 'no', 'no', undefined])
  })

  it('ends when it was said to', () => {
    const { plan, clock } = planWith({ stage: 'image', fail: 'no', until: '2026-01-01T00:01:00Z' })
    expect(plan.at('image', subject())?.fail).toBe('no')
    clock.advance(60_000)
    expect(plan.at('image', subject())).toBeUndefined()
  })

  it('happens as often as chance has it', () => {
    const { plan } = planWith({ stage: 'image', fail: 'no', chance: 0.25 })
    const hits = Array.from({ length: 1000 }, () => plan.at('image', subject())).filter(Boolean).length
    expect(hits).toBeGreaterThan(200)
    expect(hits).toBeLessThan(300)
  })

  it('goes on counting what stays when it is replaced, and forgets what goes', () => {
    const { plan } = planWith()
    const rule: FaultRule = { name: 'a', stage: 'image', fail: 'no', times: 1 }
    plan.replace([rule])
    expect(plan.at('image', subject())?.fail).toBe('no')
    plan.replace([{ name: 'b', stage: 'network', fail: 'no' }, { ...rule }])
    expect(plan.at('image', subject())).toBeUndefined()
    plan.replace([{ ...rule, times: 2 }])
    expect(plan.at('image', subject())?.fail).toBe('no')
    plan.replace([])
    expect(plan.at('image', subject())).toBeUndefined()
  })
})
