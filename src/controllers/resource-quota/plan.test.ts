import { describe, expect, it } from 'vitest'
import type { Pod, ResourceQuota } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import { type Memory, type Observed, count, countedKinds, isUrgent } from './observe.ts'
import { plan } from './plan.ts'
import { remember, status } from './status.ts'

const nowMs = 1_000_000
const quota = (hard: Record<string, string>, status: ResourceQuota['status']): ResourceQuota => ({
  metadata: { name: 'q', namespace: 'ns', resourceVersion: '7' },
  spec: { hard },
  status: status!,
})
const seen = (
  used: Record<string, string>, counted: Record<string, string> | undefined, more: Partial<Observed> = {},
): Observed => {
  const about = more.quota ?? quota({ pods: '5' }, { hard: { pods: '5' }, used })
  return {
    quota: about, nowMs, remembered: undefined, isUrgent: isUrgent(about, countedKinds), counted,
    countedEarly: new Set(), pauseMs: 100, nextEndMs: undefined, ...more,
  }
}
const outcome = (s: Observed) =>
  ({ used: status(s).used?.['pods'], nextMs: plan(s).requeueAfterMs, doubtSinceMs: remember(s)?.doubt?.sinceMs })

describe('a look at a quota', () => {
  const doubted = (ms: number, version = '7', versionMs = ms) => ({
    remembered: {
      countedAtMs: nowMs - 100, pauseMs: 100, doubt: { sinceMs: nowMs - ms, version, versionSinceMs: nowMs - versionMs },
    },
  })
  const early = { countedEarly: new Set(['pods']) }
  const fine = { nextMs: 300_000, doubtSinceMs: undefined }
  const rows: [what: string, seen: Observed, expected: object][] = [
    ['that is right: again in five minutes', seen({ pods: '2' }, { pods: '2' }), { used: '2', ...fine }],
    ['that is right in another notation', seen({ pods: '2' }, { pods: '2000m' }), { used: '2', ...fine }],
    ['that says too much: what was charged may just be being made', seen({ pods: '2' }, { pods: '1' }), {
      used: '2', nextMs: 100, doubtSinceMs: nowMs,
    }],
    ['that still says too much: it is corrected', seen({ pods: '2' }, { pods: '1' }, doubted(100)), {
      used: '1', ...fine,
    }],
    ['that still says too much, though others were charged meanwhile: it is corrected', seen(
      { pods: '2' }, { pods: '1' }, doubted(100, '6'),
    ), { used: '1', ...fine }],
    ['that has become right by itself', seen({ pods: '1' }, { pods: '1' }, doubted(100)), { used: '1', ...fine }],
    ['newer than the cache: what was charged may not have arrived', seen(
      { pods: '2' }, { pods: '1' }, { ...doubted(5000), ...early },
    ), { used: '2', nextMs: 1000, doubtSinceMs: nowMs - 5000 }],
    ['newer than the cache, for as long as others are charged', seen(
      { pods: '2' }, { pods: '1' }, { ...doubted(50_000, '6'), ...early },
    ), { used: '2', nextMs: 1000, doubtSinceMs: nowMs - 50_000 }],
    ['newer than the cache, and nothing comes: it is corrected', seen(
      { pods: '2' }, { pods: '1' }, { ...doubted(10_000), ...early },
    ), { used: '1', ...fine }],
    ['that says too little: its charge may not have arrived', seen({ pods: '1' }, { pods: '2' }, doubted(9500)), {
      used: '1', nextMs: 500, doubtSinceMs: nowMs - 9500,
    }],
    ['that says too little for long: it is corrected', seen({ pods: '1' }, { pods: '2' }, doubted(10_000)), {
      used: '2', ...fine,
    }],
    ['that was counted a moment ago: later', seen(
      { pods: '2' }, undefined, { remembered: { countedAtMs: nowMs - 30, pauseMs: 100, doubt: undefined } },
    ), { used: '2', nextMs: 70, doubtSinceMs: undefined }],
    ['with a pod that will end: then', seen({ pods: '2' }, { pods: '2' }, { nextEndMs: nowMs + 5000 }), {
      used: '2', nextMs: 5001, doubtSinceMs: undefined,
    }],
  ]
  it.each(rows)('%s', (_, s, expected) => expect(outcome(s)).toEqual(expected))

  it('that has never been counted is answered at once', () => {
    const s = seen({}, { pods: '3' }, { quota: quota({ pods: '5' }, {}) })
    expect(status(s)).toEqual({ hard: { pods: '5' }, used: { pods: '3' } })
  })

  it('that holds something else now is answered at once, and forgets what it held', () => {
    const s = seen(
      {}, { secrets: '1' }, { quota: quota({ secrets: '5' }, { hard: { pods: '5' }, used: { pods: '3' } }) },
    )
    expect(status(s)).toEqual({ hard: { secrets: '5' }, used: { secrets: '1' } })
  })

  it('of things that nobody here can count keeps what others say of them', () => {
    const hard = { pods: '9', 'count/things.example.com': '5' }
    const s = seen(
      {}, { pods: '1' }, { quota: quota(hard, { hard: { pods: '5' }, used: { 'count/things.example.com': '4' } }) },
    )
    expect(status(s)).toEqual({ hard, used: { pods: '1', 'count/things.example.com': '4' } })
  })
})

describe('count()', () => {
  const informer = { hasSynced: true, lastSyncResourceVersion: '9' }
  const manyPods = (length: number): Pod[] => Array.from({ length }, (_, i) => ({
    metadata: { name: `p${i}`, namespace: 'ns', deletionTimestamp: new Date(nowMs + 1000 + i).toISOString(), deletionGracePeriodSeconds: 0 },
    spec: { containers: [{ name: 'c' }] },
  }) as Pod)
  const counted = (objects: readonly Pod[], hard: Record<string, string>, remembered?: Memory) => {
    const about = quota(hard, { hard: { pods: '5' }, used: { pods: '0' } })
    return count({ quota: about, nowMs, remembered }, countedKinds, ({ type }) => (type === pods ? { objects, informer } : undefined))
  }

  it.each([[10, '10', 100], [2000, '2k', 200], [150_000, '150k', 5000]])('waits longer after %i pods', (length, used, pauseMs) => {
    const all = manyPods(length)
    const first = counted(all, { pods: '5' })
    expect([first.counted?.['pods'], first.pauseMs, first.nextEndMs]).toEqual([used, pauseMs, nowMs + 1000])
    const ago = (ms: number): Memory => ({ ...remember(first)!, countedAtMs: nowMs - ms })
    expect(counted(all, { pods: '5' }, ago(pauseMs - 1)).counted).toBeUndefined()
    expect(counted(all, { pods: '5' }, ago(pauseMs)).counted).toBeDefined()
    expect(counted(all, { pods: '6' }, ago(1)).counted).toBeDefined()
  })
})
