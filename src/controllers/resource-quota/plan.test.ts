import { describe, expect, it } from 'vitest'
import type { ResourceQuota } from '../../api/generated/types.ts'
import type { Observed } from './observe.ts'
import { plan } from './plan.ts'
import { remember, statusOf } from './status.ts'

const nowMs = 1_000_000
const quota = (hard: Record<string, string>, status: ResourceQuota['status']): ResourceQuota => ({ metadata: { name: 'q', namespace: 'ns' }, spec: { hard }, status: status! })
const seen = (used: Record<string, string>, counted: Record<string, string> | undefined, more: Partial<Observed> = {}): Observed => ({
  quota: quota({ pods: '5' }, { hard: { pods: '5' }, used }),
  nowMs,
  remembered: undefined,
  counted,
  nextEndMs: undefined,
  ...more,
})
const outcome = (s: Observed) => ({ used: statusOf(s).used, nextMs: plan(s).requeueAfterMs, wrongSinceMs: remember(s)?.wrongSinceMs })

describe('a look at a quota', () => {
  const doubted = (sinceMs: number) => ({ countedAtMs: sinceMs, wrongSinceMs: sinceMs })
  it.each([
    ['that is right: again in five minutes', seen({ pods: '2' }, { pods: '2' }), { used: { pods: '2' }, nextMs: 300_000, wrongSinceMs: undefined }],
    ['that is right in another notation', seen({ pods: '2' }, { pods: '2000m' }), { used: { pods: '2' }, nextMs: 300_000, wrongSinceMs: undefined }],
    ['that seems wrong: a moment later it may be right', seen({ pods: '2' }, { pods: '1' }), { used: { pods: '2' }, nextMs: 100, wrongSinceMs: nowMs }],
    ['that is still wrong: it is corrected', seen({ pods: '2' }, { pods: '1' }, { remembered: doubted(nowMs - 100) }), { used: { pods: '1' }, nextMs: 300_000, wrongSinceMs: undefined }],
    ['that has become right by itself', seen({ pods: '1' }, { pods: '1' }, { remembered: doubted(nowMs - 100) }), { used: { pods: '1' }, nextMs: 300_000, wrongSinceMs: undefined }],
    ['that was counted a moment ago: later', seen({ pods: '2' }, undefined, { remembered: doubted(nowMs - 30) }), { used: { pods: '2' }, nextMs: 70, wrongSinceMs: nowMs - 30 }],
    ['with a pod that will end: then', seen({ pods: '2' }, { pods: '2' }, { nextEndMs: nowMs + 5000 }), { used: { pods: '2' }, nextMs: 5001, wrongSinceMs: undefined }],
  ])('%s', (_, s, expected) => expect(outcome(s)).toEqual(expected))

  it('that has never been counted is answered at once', () => {
    const s = seen({}, { pods: '3' }, { quota: quota({ pods: '5' }, {}) })
    expect(statusOf(s)).toEqual({ hard: { pods: '5' }, used: { pods: '3' } })
  })

  it('that holds something else now is answered at once, and forgets what it held', () => {
    const s = seen({}, { secrets: '1' }, { quota: quota({ secrets: '5' }, { hard: { pods: '5' }, used: { pods: '3' } }) })
    expect(statusOf(s)).toEqual({ hard: { secrets: '5' }, used: { secrets: '1' } })
  })

  it('of things that nobody here can count keeps what others say of them', () => {
    const hard = { pods: '9', 'count/things.example.com': '5' }
    const s = seen({}, { pods: '1' }, { quota: quota(hard, { hard: { pods: '5' }, used: { 'count/things.example.com': '4' } }) })
    expect(statusOf(s)).toEqual({ hard, used: { pods: '1', 'count/things.example.com': '4' } })
  })
})
