import { describe, expect, it } from 'vitest'
import type { CloneSetLifecycle, Pod, PodTemplateSpec } from '../../api/generated/types.ts'
import {
  type InPlaceState, graceAnnotation, readState, shutGate, stateAnnotation,
} from '../../api/kinds/pods/in-place-update.ts'
import type { LifecycleState } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { type SamplePod, earlier, now, nowMs, podTemplate, revision, samplePod, set } from './in-place-sample.ts'
import {
  type InPlaceChange, type InPlaceGrace, inPlaceUpdateOf, inPlaceVerdict, mayUpdate, readGrace, refreshPod, writeGrace,
} from './in-place.ts'
import type { Revision } from './revisions.ts'

const app = { name: 'app', image: 'app:1' }
const side = { name: 'side', image: 'side:1' }

const template = (spec: object = {}, metadata: object = {}): PodTemplateSpec => podTemplate({ containers: [app, side], ...spec }, { labels: { app: 'web' }, ...metadata })

const nothing: InPlaceChange = { images: {}, labels: {}, annotations: {} }

const rows: [what: string, to: PodTemplateSpec, verdict: Partial<InPlaceChange> | string][] = [
  ['nothing', template(), {}],
  ['one image', template({ containers: [{ ...app, image: 'app:2' }, side] }), { images: { app: 'app:2' } }],
  ['all images', template({ containers: [{ ...app, image: 'app:2' }, { ...side, image: 'side:2' }] }), { images: { app: 'app:2', side: 'side:2' } }],
  ['labels', template({}, { labels: { tier: 'front' } }), { labels: { app: null, tier: 'front' } }],
  ['annotations', template({}, { annotations: { note: 'x' } }), { annotations: { note: 'x' } }],
  ['an image and a label', template({ containers: [{ ...app, image: 'app:2' }, side] }, { labels: { app: 'shop' } }), { images: { app: 'app:2' }, labels: { app: 'shop' } }],
  ['an empty list that was left out before', template({ volumes: [] }), {}],
  ['a variable', template({ containers: [{ ...app, env: [{ name: 'A', value: '1' }] }, side] }), '/spec/containers/0/env has changed'],
  ['an image and a command', template({ containers: [{ ...app, image: 'app:2', command: ['x'] }, side] }), '/spec/containers/0/command has changed'],
  ['a container\'s name', template({ containers: [{ ...app, name: 'other' }, side] }), '/spec/containers/0/name has changed'],
  ['a container more', template({ containers: [app, side, { name: 'new', image: 'new:1' }] }), '/spec/containers/2 has changed'],
  ['a container less', template({ containers: [app] }), '/spec/containers/1 has changed'],
  ['the order of containers', template({ containers: [side, app] }), '/spec/containers/0/name has changed'],
  ['an init container\'s image', template({ initContainers: [{ name: 'init', image: 'init:2' }] }), '/spec/initContainers has changed'],
  ['the grace period', template({ terminationGracePeriodSeconds: 5 }), '/spec/terminationGracePeriodSeconds has changed'],
  ['finalizers', template({}, { finalizers: ['example.com/x'] }), '/metadata/finalizers has changed'],
  ['an image that is no longer given', template({ containers: [{ name: 'app' }, side] }), '/spec/containers/0/image has changed'],
]

it.each(rows)('inPlaceVerdict() of a change of %s', (_what, to, expected) => {
  expect(inPlaceVerdict(template(), to)).toEqual(typeof expected === 'string' ? { obstacle: expected } : { change: { ...nothing, ...expected } })
})

it('inPlaceVerdict() knows no way from a revision that is not there', () => {
  expect(inPlaceVerdict(undefined, template())).toEqual({ obstacle: 'the revision that it was made from is not known any more' })
})

describe('the grace annotation', () => {
  const grace: InPlaceGrace = { revision: 'web-r2', graceSeconds: 10, change: { images: { app: 'app:2' }, labels: { tier: 'x', old: null }, annotations: { note: 'é' } } }

  it('reads as it was written', () => {
    expect(readGrace(samplePod({ annotations: { [graceAnnotation]: writeGrace(grace) } }))).toEqual(grace)
  })

  it('has the form that OpenKruise gives it', () => {
    const { metaDataPatch, ...rest } = JSON.parse(writeGrace(grace)) as { metaDataPatch: string }
    expect(rest).toEqual({ revision: 'web-r2', containerImages: { app: 'app:2' }, graceSeconds: 10 })
    expect(JSON.parse(Buffer.from(metaDataPatch, 'base64').toString())).toEqual({ metadata: { labels: { tier: 'x', old: null }, annotations: { note: 'é' } } })
  })

  it.each(['{', 'null', '7', '{}'])('that says %s says nothing', (text) => {
    expect(readGrace(samplePod({ annotations: { [graceAnnotation]: text } }))).toBeUndefined()
  })
})

const stateLabel = 'lifecycle.apps.kruise.io/state'
const hook = { labelsHandler: { block: 'yes' }, finalizersHandler: ['example.com/block'] }
const both = ['InPlaceUpdateReady', 'KruisePodReady']
const shutMessage = JSON.stringify([{ userAgent: 'Lifecycle', key: 'preUpdateHook' }])

const member = (sample: SamplePod = {}) => ({ pod: samplePod(sample), state: sample.state ?? ('Normal' as LifecycleState), hash: 'r1' })
const started = (more: Partial<InPlaceState> = {}) =>
  JSON.stringify({ revision: 'web-r1', updateTimestamp: '2026-02-03T04:05:00.000Z', lastContainerStatuses: { app: { imageID: 'id-app-0' } }, ...more })

interface Patch {
  metadata: { uid: string; labels?: Record<string, string>; annotations: Record<string, string>; finalizers?: string[] }
  spec?: object
  status?: { conditions: object[] }
}

const update = (sample: SamplePod = {}, to = revision(2), lifecycle: CloneSetLifecycle = {}, graceSeconds = 0) => {
  const result = inPlaceUpdateOf(set(lifecycle, graceSeconds), member(sample), inPlaceVerdict(revision(1).template, to.template), to, nowMs)
  if (result.kind !== 'act') throw new Error(`${result.kind}: ${result.why}`)
  const { kind, patch } = result.action
  return { kind, status: patch.status as Patch | undefined, pod: patch.pod as Patch }
}

/** A pod as a patch leaves it, as far as annotations go. */
const after = ({ metadata }: Patch): Pod => samplePod({ annotations: metadata.annotations })

describe('inPlaceUpdateOf()', () => {
  it('shuts the gate, then changes images and what tells the revision', () => {
    const { kind, status, pod } = update()
    expect(kind).toBe('UpdateInPlace')
    expect(status).toEqual({
      metadata: { uid: 'u' },
      status: {
        conditions: [
          { type: 'InPlaceUpdateReady', status: 'False', reason: 'StartInPlaceUpdate', message: 'the pod is being updated in place to revision web-r2', lastTransitionTime: now },
          { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: 'the status of pod readiness gate "InPlaceUpdateReady" is not "True", but False', lastTransitionTime: now },
        ],
      },
    })
    expect(pod.spec).toEqual({ containers: [{ name: 'app', image: 'app:2' }] })
    expect(pod.metadata.labels).toEqual({ 'controller-revision-hash': 'web-r2', 'pod-template-hash': 'r2' })
    expect(readState(after(pod))).toEqual({
      revision: 'web-r2', updateTimestamp: '2026-02-03T04:05:06.500Z', updateImages: true, lastContainerStatuses: { app: { imageID: 'id-app-1' } },
    })
    expect(graceAnnotation in pod.metadata.annotations).toBe(false)
  })

  it('leaves a pod in service where no container is restarted', () => {
    const { status, pod } = update({}, revision(2, { app: 'app:1' }, { app: 'web', tier: 'front' }), {}, 10)
    expect(status).toBeUndefined()
    expect(pod.spec).toBeUndefined()
    expect(pod.metadata.labels).toMatchObject({ tier: 'front', 'controller-revision-hash': 'web-r2' })
    expect(readState(after(pod))).toMatchObject({ updateImages: false, lastContainerStatuses: {} })
  })

  it('tells the state where a hook waits for it, where it was told before, and where there is no gate to tell it', () => {
    expect(update({}, revision(2), { inPlaceUpdate: hook }).pod.metadata.labels).toMatchObject({ [stateLabel]: 'Updating' })
    expect(update({ state: 'PreparingUpdate' }).pod.metadata.labels).toMatchObject({ [stateLabel]: 'Updating' })
    expect(update({ gates: [] }).pod.metadata.labels).toMatchObject({ [stateLabel]: 'Updating' })
  })

  it('lets no template say of what revision a pod is', () => {
    expect(update({}, revision(2, {}, { app: 'web', 'pod-template-hash': 'mine' })).pod.metadata.labels).toMatchObject({ 'pod-template-hash': 'r2' })
  })

  it('says on a gate that is shut already what it is shut for now, so that the node does not open it for the update before', () => {
    const { status } = update({ conditions: { Ready: { status: 'False' }, InPlaceUpdateReady: shutGate('web-r1') } })
    expect(status?.status?.conditions).toEqual([{ ...shutGate('web-r2'), lastTransitionTime: earlier }])
  })

  it('leaves out the gate of a pod that was made without it, and Ready of one that is not', () => {
    expect(update({ gates: [] }).status).toBeUndefined()
    expect(update({ conditions: { Ready: { status: 'False' } } }).status?.status?.conditions).toHaveLength(1)
  })

  it('waits with the images for the grace period', () => {
    const { status, pod } = update({}, revision(2, {}, { app: 'web', tier: 'front' }), {}, 10)
    expect(status).toBeDefined()
    expect(pod.spec).toBeUndefined()
    expect(pod.metadata.labels).toEqual({ 'controller-revision-hash': 'web-r2', 'pod-template-hash': 'r2' })
    expect(readGrace(after(pod))).toEqual({ revision: 'web-r2', graceSeconds: 10, change: { images: { app: 'app:2' }, labels: { tier: 'front' }, annotations: {} } })
  })

  it('remembers what it overtakes', () => {
    const annotations = { [stateAnnotation]: started({ supersededImages: { app: ['app:x'] } }) }
    const { pod } = update({ state: 'Updating', images: { app: 'app:1' }, annotations, status: { image: 'app:0', imageID: 'id-app-0' } })
    expect(readState(after(pod))).toMatchObject({ lastContainerStatuses: { app: { imageID: 'id-app-0' } }, supersededImages: { app: ['app:x', 'app:1'] } })
  })

  it.each<[what: string, to: Revision, graceSeconds: number, expected: object]>([
    ['changes another container', revision(2, { app: 'app:1', side: 'side:2' }), 0, { app: { imageID: 'id-app-0' }, side: { imageID: 'id-side-1' } }],
    ['changes labels only', revision(2, { app: 'app:1' }, { app: 'web', tier: 'front' }), 0, { app: { imageID: 'id-app-0' } }],
    ['waits for a grace period first', revision(2, { app: 'app:1', side: 'side:2' }), 10, { app: { imageID: 'id-app-0' } }],
  ])('takes over what is left to be done, where it %s', (_what, to, graceSeconds, expected) => {
    const unfinished: SamplePod = { state: 'Updating', annotations: { [stateAnnotation]: started() }, status: { image: 'app:0', imageID: 'id-app-0' } }
    expect(readState(after(update(unfinished, to, {}, graceSeconds).pod))?.lastContainerStatuses).toEqual(expected)
    const finished: SamplePod = { ...unfinished, status: { image: 'app:1', imageID: 'id-app-1' } }
    expect(readState(after(update(finished, to, {}, graceSeconds).pod))?.lastContainerStatuses).not.toHaveProperty('app')
  })

  it('says which field is in the way', () => {
    const to = revision(2)
    to.template.spec!.hostNetwork = true
    expect(inPlaceUpdateOf(set(), member(), inPlaceVerdict(revision(1).template, to.template), to, nowMs)).toEqual({ kind: 'impossible', why: '/spec/hostNetwork has changed' })
    expect(inPlaceUpdateOf(set(), member(), inPlaceVerdict(undefined, to.template), to, nowMs)).toMatchObject({ kind: 'impossible' })
  })

  describe('with a hook', () => {
    const hooks = { inPlaceUpdate: hook }

    it('prepares a pod that is held', () => {
      expect(update({ labels: { block: 'yes' } }, revision(2), hooks)).toEqual({
        kind: 'PatchLifecycle', status: undefined, pod: { metadata: { uid: 'u', labels: { [stateLabel]: 'PreparingUpdate' }, annotations: { 'lifecycle.apps.kruise.io/timestamp': now } } },
      })
    })

    it('takes it out of service meanwhile, if the hook says so', () => {
      const { status } = update({ labels: { block: 'yes' }, gates: both, conditions: { KruisePodReady: { status: 'True' } } }, revision(2), { inPlaceUpdate: { ...hook, markPodNotReady: true } })
      expect(status?.status?.conditions).toMatchObject([{ type: 'KruisePodReady', status: 'False', message: shutMessage }, { type: 'Ready', status: 'False' }])
    })

    it('waits for the hook, and says what holds the pod', () => {
      expect(inPlaceUpdateOf(set(hooks), member({ state: 'PreparingUpdate', labels: { block: 'yes' }, finalizers: ['example.com/block'] }), inPlaceVerdict(revision(1).template, revision(2).template), revision(2), nowMs)).toEqual({
        kind: 'wait', why: 'pod web-a is held back from its update by finalizer example.com/block, label block=yes',
      })
    })

    it.each<[what: string, sample: SamplePod]>([
      ['that was let go', { state: 'PreparingUpdate' }],
      ['that was never held', {}],
      ['that waits for another hook', { state: 'PreparingNormal' }],
      ['that is being updated already', { state: 'Updating', labels: { block: 'yes' } }],
    ])('updates a pod %s', (_what, sample) => {
      expect(update(sample, revision(2), hooks).kind).toBe('UpdateInPlace')
    })

    it('asks the hook anew for a pod that waits for it after the update before', () => {
      const { kind, pod } = update({ state: 'Updated' }, revision(2), hooks)
      expect(kind).toBe('PatchLifecycle')
      expect(pod.metadata).toMatchObject({ labels: { [stateLabel]: 'PreparingUpdate', block: 'yes' }, finalizers: ['example.com/block'] })
    })
  })
})

describe('refreshPod()', () => {
  const refresh = (sample: SamplePod = {}, lifecycle: CloneSetLifecycle = {}, updateHash = 'r1') => {
    const { action, requeueAfterMs } = refreshPod(set(lifecycle), member(sample), updateHash, nowMs)
    return { status: action?.patch.status as Patch | undefined, pod: action?.patch.pod as Patch | undefined, requeueAfterMs }
  }
  const none = { status: undefined, pod: undefined, requeueAfterMs: undefined }
  const opened = (more: object = {}) => ({ metadata: { uid: 'u' }, status: { conditions: [{ type: 'InPlaceUpdateReady', status: 'True', lastTransitionTime: now, ...more }] } })
  const isShut = { InPlaceUpdateReady: { status: 'False', reason: 'StartInPlaceUpdate' } }

  it.each<[what: string, sample: SamplePod]>([
    ['serves', {}],
    ['has no gate', { gates: [], conditions: { InPlaceUpdateReady: undefined } }],
    ['is being updated, and is not through', { state: 'Updating', images: { app: 'app:1' }, annotations: { [stateAnnotation]: started() }, status: { image: 'app:0', imageID: 'id-app-0' }, conditions: isShut }],
    ['is not through, whatever its gate says', { state: 'Updating', images: { app: 'app:1' }, annotations: { [stateAnnotation]: started() }, status: { image: 'app:0', imageID: 'id-app-0' } }],
    ['prepares for an update', { state: 'PreparingUpdate', labels: { block: 'yes' } }],
  ])('leaves a pod alone that %s', (_what, sample) => {
    expect(refresh(sample, { inPlaceUpdate: hook }, 'r2')).toEqual(none)
  })

  it('opens the gate of a new pod', () => {
    expect(refresh({ conditions: { InPlaceUpdateReady: undefined } })).toEqual({ ...none, status: opened() })
  })

  it('opens both gates of a new pod in one write', () => {
    const { status } = refresh({ gates: both, conditions: { InPlaceUpdateReady: undefined } })
    expect(status?.status?.conditions).toMatchObject([{ type: 'InPlaceUpdateReady', status: 'True' }, { type: 'KruisePodReady', status: 'True' }])
  })

  it('opens the gate and ends the state once containers are through', () => {
    const { status, pod } = refresh({ state: 'Updating', annotations: { [stateAnnotation]: started() }, conditions: isShut })
    expect(status).toEqual(opened({ reason: null }))
    expect(pod?.metadata.labels).toEqual({ [stateLabel]: 'Normal' })
  })

  it('waits for the hook after the update, in service as far as the hook goes', () => {
    const sample: SamplePod = { state: 'Updating', gates: both, annotations: { [stateAnnotation]: started() }, conditions: { ...isShut, KruisePodReady: { status: 'False', message: shutMessage } } }
    const { status, pod } = refresh(sample, { inPlaceUpdate: { ...hook, markPodNotReady: true } })
    expect(pod?.metadata.labels).toEqual({ [stateLabel]: 'Updated' })
    expect(status?.status?.conditions).toEqual([
      { type: 'InPlaceUpdateReady', status: 'True', reason: null, lastTransitionTime: now },
      { type: 'KruisePodReady', status: 'True', message: null, lastTransitionTime: now },
    ])
  })

  it('keeps a pod out of service that is being updated after its hook let it go', () => {
    const sample: SamplePod = {
      state: 'Updating', gates: both, images: { app: 'app:1' }, annotations: { [stateAnnotation]: started() }, status: { image: 'app:0', imageID: 'id-app-0' },
      conditions: { ...isShut, KruisePodReady: { status: 'False', message: shutMessage } },
    }
    expect(refresh(sample)).toEqual(none)
  })

  it('ends a state that a pod is in for a revision that is not wanted any more', () => {
    expect(refresh({ state: 'PreparingUpdate', labels: { block: 'yes' } }, { inPlaceUpdate: { labelsHandler: { block: 'yes' } } }).pod?.metadata.labels).toEqual({ [stateLabel]: 'Normal' })
  })

  it('keeps the time of a condition whose words change', () => {
    const others = JSON.stringify([{ userAgent: 'somebody', key: 'k' }])
    const message = JSON.stringify([{ userAgent: 'somebody', key: 'k' }, { userAgent: 'Lifecycle', key: 'preUpdateHook' }])
    const { status } = refresh({ gates: both, conditions: { Ready: { status: 'False' }, KruisePodReady: { status: 'False', message } } })
    expect(status?.status?.conditions).toEqual([{ type: 'KruisePodReady', status: 'False', message: others, lastTransitionTime: earlier }])
  })

  describe('in a grace period', () => {
    const grace = (seconds: number, revisionName = 'web-r1') =>
      JSON.stringify({ revision: revisionName, containerImages: { app: 'app:2' }, graceSeconds: seconds, metaDataPatch: Buffer.from('{"metadata":{"labels":{"tier":"x"}}}').toString('base64') })
    const inGrace = (seconds: number, revisionName?: string): SamplePod => ({
      state: 'Updating', conditions: isShut, annotations: { [stateAnnotation]: started({ lastContainerStatuses: {} }), [graceAnnotation]: grace(seconds, revisionName) },
    })

    it('waits for what is left of it', () => {
      expect(refresh(inGrace(10))).toEqual({ ...none, requeueAfterMs: 3500 })
    })

    it('changes the images when it is over', () => {
      const { pod, status } = refresh(inGrace(6))
      expect(status).toBeUndefined()
      expect(pod?.spec).toEqual({ containers: [{ name: 'app', image: 'app:2' }] })
      expect(pod?.metadata.labels).toEqual({ tier: 'x' })
      expect(pod?.metadata.annotations[graceAnnotation]).toBeNull()
      expect(readState(after(pod!))).toMatchObject({
        updateTimestamp: '2026-02-03T04:05:00.000Z', lastContainerStatuses: { app: { imageID: 'id-app-1' } }, supersededImages: { app: ['app:1'] },
      })
    })

    it('takes a pod out of service first whose gate is open, and then gives it the whole period', () => {
      const { status, ...rest } = refresh({ ...inGrace(6), conditions: {} })
      expect(rest).toEqual({ pod: undefined, requeueAfterMs: undefined })
      expect(status?.status?.conditions[0]).toMatchObject({ ...shutGate('web-r1'), lastTransitionTime: now })
      const since = { status: 'False', lastTransitionTime: now }
      expect(refresh({ ...inGrace(6), conditions: { InPlaceUpdateReady: since } })).toEqual({ ...none, requeueAfterMs: 5500 })
    })

    it.each<[what: string, sample: SamplePod]>([
      ['another revision', inGrace(10, 'web-r7')],
      ['something unreadable', { ...inGrace(10), annotations: { [stateAnnotation]: started(), [graceAnnotation]: '{' } }],
    ])('gives up what is about %s', (_what, sample) => {
      expect(refresh(sample)).toEqual({ ...none, pod: { metadata: { uid: 'u', annotations: { [graceAnnotation]: null } } } })
    })

    it('is not disturbed by another update', () => {
      expect([mayUpdate(member(inGrace(10))), mayUpdate(member({ state: 'PreparingDelete' })), mayUpdate(member({ state: 'Updating' })), mayUpdate(member())]).toEqual([false, false, true, true])
    })
  })
})
