import { describe, expect, it } from 'vitest'
import type { Action } from './apply.ts'
import type { Derived } from './derive.ts'
import { plan } from './plan.ts'
import {
  desiredReplicasAnnotation, maxReplicasAnnotation, revisionAnnotation, revisionHistoryAnnotation,
} from './replica-sets.ts'
import { deployment, observed, replicaSet } from './sample.ts'

const words = (action: Action): string => {
  switch (action.kind) {
    case 'Create':
      return `create ${action.set.spec!.replicas}`
    case 'Change':
      return action.from === action.to ? `mark ${short(action.set.name)}` : `${short(action.set.name)}: ${action.from}→${action.to}`
    default:
      return `${action.kind.toLowerCase()} ${action.set.metadata.name}`
  }
}
const short = (name: string) => (/^web-\d$/.test(name) ? name : 'made')
const said = (seen: Derived) => plan(seen).actions.map(words).join(', ')

const recreate = { strategy: { type: 'Recreate' } }
const settled = { status: { observedGeneration: 3, replicas: 10, updatedReplicas: 10, availableReplicas: 10 } }
const full = { replicas: 10, available: 10, desired: 10, max: 13 }

describe('plan() of a rolling update', () => {
  it.each<[string, Parameters<typeof observed>[0], string]>([
    ['the first ReplicaSet has all pods', {}, 'create 10'],
    ['one of the largest number', { deployment: deployment({ replicas: 2 ** 31 - 1 }) }, 'create 2147483647'],
    ['one of no pods', { deployment: deployment({ replicas: 0 }) }, 'create 0'],
    ['a new one begins with the surge, old ones go, and it takes their place', { sets: [replicaSet(1, full)] }, 'create 3, web-1: 10→8, made: 3→5'],
    ['a rollover: the newest begins with nothing', { sets: [replicaSet(1, { ...full, replicas: 8, available: 8 }), replicaSet(2, { ...full, replicas: 5, available: 0 })] },
      'create 0, web-2: 5→0, made: 0→5'],
    ['old ones shrink before the new one grows', { sets: [replicaSet(1, { ...full, replicas: 8, available: 8 }), replicaSet(9, { ...full, replicas: 5, available: 3 })] },
      'web-1: 8→5, web-9: 5→8'],
    ['going back finds the old ReplicaSet and gives it the highest number', { sets: [replicaSet(9, { desired: 10, max: 13, annotations: { [revisionAnnotation]: '1' } }), replicaSet(2, full)] },
      'web-2: 10→8, web-9: 0→5'],
    ['nothing to do', { sets: [replicaSet(9, full)] }, ''],
    ['a size that somebody changed is changed back', { sets: [replicaSet(9, { ...full, replicas: 12 })] }, 'web-9: 12→10'],
    ['what the Deployment says goes to the new ReplicaSet', { deployment: deployment({}, { metadata: { annotations: { note: 'x' } } }), sets: [replicaSet(1), replicaSet(9, full)] }, 'mark web-9'],
    ['minReadySeconds go to the new ReplicaSet', { deployment: deployment({ minReadySeconds: 5 }), sets: [replicaSet(1), replicaSet(9, full)] }, 'mark web-9'],
  ])('%s', (_, seen, expected) => {
    expect(said(observed(seen))).toBe(expected)
  })

  it('writes size, reason and number at once', () => {
    const step = plan(observed({ deployment: deployment({ minReadySeconds: 5 }), sets: [replicaSet(9, { annotations: { [revisionAnnotation]: '1' } }), replicaSet(2, full)] }))
    expect(step.actions[1]).toEqual({
      kind: 'Change',
      set: { name: 'web-9', generation: 2, hasAnnotations: true },
      from: 0,
      to: 5,
      annotations: { [desiredReplicasAnnotation]: '10', [maxReplicasAnnotation]: '13', [revisionAnnotation]: '3', [revisionHistoryAnnotation]: '1' },
      minReadySeconds: 5,
    })
  })
})

describe('plan() of a Recreate', () => {
  it.each<[string, Parameters<typeof observed>[0], string, string | undefined]>([
    ['the first ReplicaSet has all pods', {}, 'create 10', undefined],
    ['old ones go first', { sets: [replicaSet(1, full)] }, 'web-1: 10→0', 'old pods have to go first'],
    ['it waits for a ReplicaSet that still counts pods', { sets: [replicaSet(1, { status: { replicas: 2 } })] }, '', 'old pods have to go first: those of ReplicaSet web-1'],
    ['it waits for pods that are still there', { sets: [replicaSet(1)], oldPod: 'web-1-x' }, '', 'old pods have to go first: pod web-1-x'],
    ['then the new one comes', { sets: [replicaSet(1)] }, 'create 10', undefined],
    ['or grows, if it was there before', { sets: [replicaSet(1), replicaSet(9)] }, 'web-9: 0→10', undefined],
    ['old ones go even if one of them was sized for another number', { sets: [replicaSet(1, { ...full, desired: 4 }), replicaSet(9, { ...full, available: 0 })] }, 'web-1: 10→0', 'old pods have to go first'],
  ])('%s', (_, seen, expected, wait) => {
    const step = plan(observed({ deployment: deployment(recreate), ...seen }))
    expect(step.actions.map(words).join(', ')).toBe(expected)
    expect(step.wait).toBe(wait)
  })
})

describe('plan() of what a user scales', () => {
  it.each<[string, Parameters<typeof observed>[0], string]>([
    ['the only one', { sets: [replicaSet(9, { ...full, replicas: 4, desired: 4 })] }, 'web-9: 4→10'],
    ['before a new template is rolled out', { sets: [replicaSet(1, { ...full, replicas: 4, desired: 4 })] }, 'web-1: 4→10'],
    ['each its part', { sets: [replicaSet(1, { replicas: 4, available: 4, desired: 5, max: 8 }), replicaSet(9, { replicas: 4, desired: 5, max: 8 })] }, 'web-1: 4→6, web-9: 4→7'],
    ['to nothing', { deployment: deployment({ replicas: 0 }), sets: [replicaSet(1, { ...full, replicas: 8 }), replicaSet(9, { ...full, replicas: 5 })] }, 'web-1: 8→0, web-9: 5→0'],
    ['one that somebody has sized already is only told what for', { sets: [replicaSet(9, { ...full, desired: 4 })] }, 'mark web-9'],
  ])('%s', (_, seen, expected) => {
    expect(said(observed(seen))).toBe(expected)
  })
})

describe('plan() of a paused Deployment', () => {
  const paused = deployment({ paused: true, revisionHistoryLimit: 1 })
  it.each<[string, Parameters<typeof observed>[0], string]>([
    ['nothing is made', {}, ''],
    ['nothing is rolled out', { sets: [replicaSet(1, full)] }, ''],
    ['but scaled', { sets: [replicaSet(1, { ...full, replicas: 4, desired: 4 })] }, 'web-1: 4→10'],
    ['and cleaned up', { sets: [replicaSet(1), replicaSet(2), replicaSet(3, full)] }, 'delete web-1, delete web-2'],
  ])('%s', (_, seen, expected) => {
    expect(said(observed({ deployment: paused, ...seen }))).toBe(expected)
  })
})

describe('plan() in the end', () => {
  it.each<[string, Parameters<typeof observed>[0], string]>([
    ['keeps so many old ones', { deployment: deployment({ revisionHistoryLimit: 1 }, settled) }, 'delete web-1'],
    ['of a Recreate, too', { deployment: deployment({ ...recreate, revisionHistoryLimit: 1 }, settled) }, 'delete web-1'],
    ['deletes none before all is done', { deployment: deployment({ revisionHistoryLimit: 1 }, { status: { ...settled.status, availableReplicas: 9 } }) }, ''],
    ['deletes none before the newest generation is', { deployment: deployment({ revisionHistoryLimit: 1 }, { status: { ...settled.status, observedGeneration: 2 } }) }, ''],
  ])('%s', (_, seen, expected) => {
    expect(said(observed({ sets: [replicaSet(1), replicaSet(2), replicaSet(9, full)], ...seen }))).toBe(expected)
  })
})

it('plan() takes in and lets go of ReplicaSets before all else', () => {
  expect(said(observed({ adopt: [replicaSet(4)], release: [replicaSet(5)], sets: [replicaSet(1, full)] }))).toBe('adopt web-4, release web-5')
})
