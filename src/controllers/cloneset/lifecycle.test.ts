import { describe, expect, it } from 'vitest'
import type { CloneSetLifecycle } from '../../api/generated/types.ts'
import { type LifecycleState, hookWait, isHeld, isWhole } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { type SamplePod, earlier, now, nowMs, samplePod, set } from './in-place-sample.ts'
import { beforeDeletion, cancelDeletion, nextState, preparedPod } from './lifecycle.ts'

const hook = { labelsHandler: { block: 'yes' }, finalizersHandler: ['example.com/block'] }
const whole: SamplePod = { labels: { block: 'yes' }, finalizers: ['example.com/block', 'other'] }
const byLabel: SamplePod = { labels: { block: 'yes' } }
const marking = { ...hook, markPodNotReady: true }
const both = ['InPlaceUpdateReady', 'KruisePodReady']

describe('a hook', () => {
  it.each<[what: string, pod: SamplePod, held: boolean, isAll: boolean]>([
    ['all of it', whole, true, true],
    ['its label only', byLabel, true, false],
    ['its finalizer only', { finalizers: ['example.com/block'] }, true, false],
    ['its label with another value', { labels: { block: 'no' } }, false, false],
    ['nothing of it', {}, false, false],
  ])('on a pod with %s', (_what, pod, held, isAll) => {
    expect([isHeld(hook, samplePod(pod)), isWhole(hook, samplePod(pod))]).toEqual([held, isAll])
  })

  it('that is not there holds nobody and misses nothing', () => {
    expect([isHeld(undefined, samplePod(whole)), isWhole(undefined, samplePod())]).toEqual([false, true])
  })
})

describe('nextState()', () => {
  const done = { isUpdated: true, isThrough: true }
  it.each<[what: string, state: LifecycleState, hooks: CloneSetLifecycle, pod: SamplePod, headway: typeof done, next: LifecycleState | undefined]>([
    ['PreparingNormal, no hook', 'PreparingNormal', {}, {}, done, 'Normal'],
    ['PreparingNormal, hook not on it yet', 'PreparingNormal', { preNormal: hook }, byLabel, done, undefined],
    ['PreparingNormal, hook on it', 'PreparingNormal', { preNormal: hook }, whole, done, 'Normal'],
    ['Updating, containers not through', 'Updating', {}, {}, { ...done, isThrough: false }, undefined],
    ['Updating, through, no hook', 'Updating', { preDelete: hook }, {}, done, 'Normal'],
    ['Updating, through, hook let it go', 'Updating', { inPlaceUpdate: hook }, {}, done, 'Updated'],
    ['Updating, through, hook on it again', 'Updating', { inPlaceUpdate: hook }, whole, done, 'Normal'],
    ['Updated, hook not on it yet', 'Updated', { inPlaceUpdate: hook }, byLabel, done, undefined],
    ['Updated, hook on it again', 'Updated', { inPlaceUpdate: hook }, whole, done, 'Normal'],
    ['Updated, hook taken away', 'Updated', {}, {}, done, 'Normal'],
    ['PreparingUpdate, to be updated', 'PreparingUpdate', { inPlaceUpdate: hook }, whole, { ...done, isUpdated: false }, undefined],
    ['PreparingUpdate, wanted as it is, still held', 'PreparingUpdate', { inPlaceUpdate: hook }, whole, done, 'Normal'],
    ['PreparingUpdate, wanted as it is, let go', 'PreparingUpdate', { inPlaceUpdate: hook }, {}, done, 'Updated'],
    ['PreparingDelete', 'PreparingDelete', { preDelete: hook }, {}, done, undefined],
    ['Normal', 'Normal', { inPlaceUpdate: hook }, {}, done, undefined],
    ['no state', '', {}, {}, done, undefined],
  ])('of %s', (_what, state, hooks, pod, headway, next) => {
    expect(nextState(state, samplePod({ ...pod, state }), hooks, headway)).toBe(next)
  })
})

describe('hookWait()', () => {
  const hooks = { preNormal: hook, inPlaceUpdate: hook, preDelete: hook }
  it.each<[state: LifecycleState, pod: SamplePod, text: string | undefined]>([
    ['PreparingDelete', whole, 'is held back from its deletion by finalizer example.com/block, label block=yes'],
    ['PreparingUpdate', byLabel, 'is held back from its update by label block=yes'],
    ['PreparingUpdate', {}, undefined],
    ['Updated', byLabel, 'has been updated, and waits for finalizer example.com/block'],
    ['PreparingNormal', {}, 'waits for finalizer example.com/block, label block=yes'],
    ['Updating', whole, undefined],
    ['Normal', whole, undefined],
  ])('in %s, with %j', (state, pod, text) => {
    expect(hookWait(hooks, samplePod({ ...pod, state }))).toBe(text)
  })
})

describe('preparedPod()', () => {
  const plain = { metadata: { generateName: 'web-', labels: { app: 'web' } }, spec: { containers: [] } } as unknown as Parameters<typeof preparedPod>[1]

  const inPlace = (hooks: CloneSetLifecycle = {}, type = 'InPlaceIfPossible') => ({ ...set(hooks), spec: { ...set(hooks).spec, updateStrategy: { type } } })

  it.each<[what: string, type: string, hooks: CloneSetLifecycle, state: string, gates: string[] | undefined]>([
    ['no hooks', 'InPlaceIfPossible', {}, 'Normal', ['InPlaceUpdateReady']],
    ['updates in place only', 'InPlaceOnly', {}, 'Normal', ['InPlaceUpdateReady']],
    ['a preNormal hook', 'InPlaceIfPossible', { preNormal: hook }, 'PreparingNormal', ['InPlaceUpdateReady']],
    ['a hook that marks pods not ready', 'InPlaceIfPossible', { preDelete: marking }, 'Normal', both],
    ['pods that are replaced', 'ReCreate', {}, 'Normal', undefined],
    ['pods that are replaced, and a hook that marks them not ready', 'ReCreate', { preDelete: marking }, 'Normal', ['KruisePodReady']],
  ])('of a set with %s', (_what, type, hooks, state, gates) => {
    const pod = preparedPod(inPlace(hooks, type), plain, nowMs)
    expect(pod.metadata.labels).toEqual({ app: 'web', 'lifecycle.apps.kruise.io/state': state })
    expect(pod.metadata.annotations).toEqual({ 'lifecycle.apps.kruise.io/timestamp': now })
    expect(pod.spec.readinessGates).toEqual(gates?.map((conditionType) => ({ conditionType })))
  })

  it('keeps the gates of the template, and adds none twice', () => {
    const readinessGates = [{ conditionType: 'mine' }, { conditionType: 'InPlaceUpdateReady' }]
    expect(preparedPod(inPlace(), { ...plain, spec: { ...plain.spec, readinessGates } }, nowMs).spec.readinessGates).toEqual(readinessGates)
  })

  it('leaves the template alone', () => {
    preparedPod(inPlace(), plain, nowMs)
    expect(plain.spec.readinessGates).toBeUndefined()
    expect(plain.metadata.labels).toEqual({ app: 'web' })
  })
})

const entering = (state: LifecycleState) => ({ metadata: { uid: 'u', labels: { 'lifecycle.apps.kruise.io/state': state }, annotations: { 'lifecycle.apps.kruise.io/timestamp': now } } })
const shutBy = (key: string) => JSON.stringify([{ userAgent: 'Lifecycle', key }])

describe('beforeDeletion()', () => {
  it('lets a pod go that no hook holds', () => {
    expect(beforeDeletion(set({ preDelete: hook }), { pod: samplePod() }, nowMs)).toBeUndefined()
    expect(beforeDeletion(set(), { pod: samplePod(whole) }, nowMs)).toBeUndefined()
  })

  it('prepares a pod first that is held', () => {
    const pod = samplePod(byLabel)
    expect(beforeDeletion(set({ preDelete: hook }), { pod }, nowMs)).toEqual({ kind: 'PatchLifecycle', pod, patch: { pod: entering('PreparingDelete') } })
  })

  it('waits for the hook of a pod that is prepared', () => {
    expect(beforeDeletion(set({ preDelete: hook }), { pod: samplePod({ ...byLabel, state: 'PreparingDelete' }) }, nowMs)).toBe('wait')
  })

  it('takes a pod out of service, if the hook says so and the pod has the gate', () => {
    const pod = samplePod({ ...byLabel, gates: both, conditions: { KruisePodReady: { status: 'True' } } })
    expect(beforeDeletion(set({ preDelete: marking }), { pod }, nowMs)).toEqual({
      kind: 'PatchLifecycle',
      pod,
      patch: {
        status: {
          metadata: { uid: 'u' },
          status: {
            conditions: [
              { type: 'KruisePodReady', status: 'False', message: shutBy('preDeleteHook'), lastTransitionTime: now },
              { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: 'the status of pod readiness gate "KruisePodReady" is not "True", but False', lastTransitionTime: now },
            ],
          },
        },
        pod: entering('PreparingDelete'),
      },
    })
    const prepared = samplePod({ ...byLabel, state: 'PreparingDelete', gates: both, conditions: { Ready: { status: 'False' }, KruisePodReady: { status: 'False', message: shutBy('preDeleteHook') } } })
    expect(beforeDeletion(set({ preDelete: marking }), { pod: prepared }, nowMs)).toBe('wait')
  })

  it('keeps the gate shut for others, too', () => {
    const others = [{ userAgent: 'somebody', key: 'k' }]
    const pod = samplePod({ ...byLabel, gates: both, conditions: { Ready: { status: 'False' }, KruisePodReady: { status: 'False', message: JSON.stringify(others) } } })
    const answer = beforeDeletion(set({ preDelete: marking }), { pod }, nowMs)
    expect(answer).toMatchObject({
      patch: { status: { status: { conditions: [{ type: 'KruisePodReady', message: JSON.stringify([...others, { userAgent: 'Lifecycle', key: 'preDeleteHook' }]), lastTransitionTime: earlier }] } } },
    })
  })
})

describe('cancelDeletion()', () => {
  it('leads a pod back', () => {
    const pod = samplePod({ ...byLabel, state: 'PreparingDelete' })
    expect(cancelDeletion(set({ preDelete: hook }), { pod }, nowMs)).toEqual({ kind: 'PatchLifecycle', pod, patch: { pod: entering('PreparingNormal') } })
  })

  it('knows no way back for a pod that hooks take out of service', () => {
    expect(cancelDeletion(set({ inPlaceUpdate: marking }), { pod: samplePod({ state: 'PreparingDelete' }) }, nowMs)).toBeUndefined()
  })
})
