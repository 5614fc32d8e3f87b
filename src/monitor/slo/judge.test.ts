import { describe, expect, it } from 'vitest'
import type { SandboxObservation } from '../observation.ts'
import { judgeFor, sloNeeds } from './judge.ts'
import type { Slo, SloSelector } from './slo-file.ts'
import { fact, objective } from './sample.ts'

type Said = 'good' | 'bad' | 'not its business'
const said = (slo: Slo, given: SandboxObservation): Said => {
  const verdict = judgeFor(slo)(given)
  return verdict ? (verdict.isGood ? 'good' : 'bad') : 'not its business'
}

const success: Partial<Slo> = { indicator: 'creation-success', thresholdMs: undefined }
const termination: Partial<Slo> = { indicator: 'termination-latency', thresholdMs: 30_000 }

describe('judgeFor()', () => {
  it.each<[string, Partial<Slo>, Partial<SandboxObservation>, Said]>([
    ['a sandbox after 3 s', {}, {}, 'good'],
    ['one just in time', {}, { latencyMs: 9999 }, 'good'],
    ['one after 10 s, where less than 10 s is promised', {}, { latencyMs: 10_000 }, 'bad'],
    ['one that failed', {}, { kind: 'failed', latencyMs: 300_000 }, 'bad'],
    ['one that got ready after it had failed: it has counted', {}, { latencyMs: 400_000, isLate: true }, 'not its business'],
    ['a pod that was deleted before its time was up', {}, { kind: 'abandoned', latencyMs: 9999 }, 'not its business'],
    ['a pod that was deleted after 10 s without a sandbox', {}, { kind: 'abandoned', latencyMs: 10_000 }, 'bad'],
    ['a pod that was evicted while its user was to blame', {}, { kind: 'abandoned', latencyMs: 60_000, isUserError: true }, 'not its business'],
    ['a pod that was deleted before it could fail', success, { kind: 'abandoned', latencyMs: 60_000 }, 'not its business'],
    ['one that was made again', {}, { kind: 'recreated' }, 'not its business'],
    ['one that is gone', {}, { kind: 'terminated' }, 'not its business'],
    ['a mistake of its user', {}, { latencyMs: 60_000, isUserError: true }, 'not its business'],
    ['a failure that is a mistake of its user', {}, { kind: 'failed', isUserError: true }, 'not its business'],
    ['success, however slow', success, { latencyMs: 290_000 }, 'good'],
    ['no success', success, { kind: 'failed' }, 'bad'],
    ['success that came too late', success, { latencyMs: 400_000, isLate: true }, 'not its business'],
    ['a termination of 2 s', termination, { kind: 'terminated', latencyMs: 2000 }, 'good'],
    ['a termination of 30 s', termination, { kind: 'terminated', latencyMs: 30_000 }, 'bad'],
    ['a pod that was removed by force at once', termination, { kind: 'unterminated', latencyMs: 0 }, 'not its business'],
    ['a pod that was removed by force after 40 s', termination, { kind: 'unterminated', latencyMs: 40_000 }, 'bad'],
    ['a creation, where terminations count', termination, {}, 'not its business'],
  ])('%s', (_what, slo, given, expected) => {
    expect(said(objective(slo), fact(given))).toBe(expected)
  })

  const labels = { runtime_class: 'kata', storage_classes: 'fast,slow', label_app: 'web', label_canary: '' }
  it.each<[string, SloSelector, boolean]>([
    ['everything', {}, true],
    ['its namespace', { namespaces: ['a', 'default'] }, true],
    ['another namespace', { namespaces: ['a'] }, false],
    ['its runtime class', { runtimeClasses: ['kata'] }, true],
    ['another runtime class', { runtimeClasses: ['runc'] }, false],
    ['one of its storage classes', { storageClasses: ['slow'] }, true],
    ['another storage class', { storageClasses: ['slo'] }, false],
    ['its labels', { labels: 'app=web' }, true],
    ['other labels', { labels: 'app=api' }, false],
    ['a label that it lacks', { labels: 'canary' }, false],
    ['that it lacks a label', { labels: '!canary,app in (web)' }, true],
    ['only some of that', { namespaces: ['default'], labels: 'app!=web' }, false],
  ])('selects by %s', (_what, selector, isSelected) => {
    expect(judgeFor(objective({ selector }))(fact({ labels })) !== undefined).toBe(isSelected)
  })
})

describe('sloNeeds()', () => {
  it('are what selects and groups, and thresholds, once', () => {
    const slos = [
      objective({ selector: { labels: 'app=web,!canary' }, groupBy: ['namespace', 'label:app'] }),
      objective({ groupBy: ['annotation:example.com/team', 'label:tier'], thresholdMs: 2500 }),
      objective({ thresholdMs: undefined }),
    ]
    expect(sloNeeds(slos)).toEqual({ podGroups: ['label:app', 'label:canary', 'annotation:example.com/team', 'label:tier'], bounds: [10, 2.5] })
  })
})
