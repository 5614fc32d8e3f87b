import { describe, expect, it } from 'vitest'
import { type SamplePod, samplePod } from './in-place-sample.ts'
import { type InPlaceGrace, graceAnnotation, readGrace, readState, stateAnnotation, unfinishedUpdate, writeGrace } from './in-place-state.ts'

const state = (more: object = {}) => ({
  [stateAnnotation]: JSON.stringify({ revision: 'web-r2', updateTimestamp: '2026-02-03T04:05:00Z', lastContainerStatuses: { app: { imageID: 'id-app-1' } }, ...more }),
})
const old = { image: 'app:1', imageID: 'id-app-1' }
const two = { image: 'app:2', imageID: 'id-app-2' }

const rows: [what: string, pod: SamplePod, why: string | undefined][] = [
  ['never was any', {}, undefined],
  ['changed labels only', { annotations: state({ lastContainerStatuses: {} }) }, undefined],
  ['waits for its grace period', { annotations: { ...state(), [graceAnnotation]: '{}' } }, 'its grace period before the update is not over'],
  ['is not known to the node', { images: { app: 'app:2' }, annotations: state(), generation: 2, observedGeneration: 1, status: two }, 'its node has not seen the update yet'],
  ['is known to the node, which has not acted', { images: { app: 'app:2' }, annotations: state(), generation: 2, observedGeneration: 2, status: old }, 'container app still has the image app:1'],
  ['is through', { images: { app: 'app:2' }, annotations: state(), generation: 2, observedGeneration: 2, status: two }, undefined],
  ['is through, on a node that does not say what it speaks of', { images: { app: 'app:2' }, annotations: state(), status: two }, undefined],
  ['is through, under the image\'s whole name', { images: { app: 'nginx' }, annotations: state(), status: { image: 'docker.io/library/nginx:latest', imageID: 'id-app-1' } }, undefined],
  ['is through, under a name that only the runtime knows', { images: { app: 'app:2' }, annotations: state(), status: { image: 'sha256:abc', imageID: 'id-app-2' } }, undefined],
  ['has another tag for the same image', { images: { app: 'app:2' }, annotations: state(), status: { image: 'app:2', imageID: 'id-app-1' } }, undefined],
  ['has a container that never started', { images: { app: 'app:2' }, annotations: state(), status: { image: 'app:2', imageID: '' } }, 'container app has not started with app:2 yet'],
  ['began before the container\'s first start', { images: { app: 'app:2' }, annotations: state({ lastContainerStatuses: { app: {} } }), status: two }, undefined],
  [
    'runs what was overtaken',
    { images: { app: 'app:3' }, annotations: state({ supersededImages: { app: ['app:2'] } }), generation: 3, observedGeneration: 3, status: two },
    'container app still has the image app:2',
  ],
  ['was taken back before the node acted', { images: { app: 'app:1' }, annotations: state({ supersededImages: { app: ['app:2'] } }), status: old }, undefined],
  ['cannot be read', { annotations: { [stateAnnotation]: '{' } }, undefined],
]

describe('unfinishedUpdate() of an update that', () => {
  it.each(rows)('%s', (_what, pod, why) => {
    expect(unfinishedUpdate(samplePod(pod))).toBe(why)
  })
})

it('unfinishedUpdate() misses a container whose status is gone', () => {
  const pod = samplePod({ images: { app: 'app:2' }, annotations: state() })
  expect(unfinishedUpdate({ ...pod, status: { ...pod.status, containerStatuses: [] } })).toBe('container app has not started with app:2 yet')
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

it('readState() takes a state without containers, as OpenKruise writes it in a grace period', () => {
  const annotations = { [stateAnnotation]: '{"revision":"web-r2","updateTimestamp":"2026-02-03T04:05:00Z","lastContainerStatuses":null}' }
  expect(readState(samplePod({ annotations }))).toEqual({ revision: 'web-r2', updateTimestamp: '2026-02-03T04:05:00Z', lastContainerStatuses: {} })
})
