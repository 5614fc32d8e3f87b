import { describe, expect, it } from 'vitest'
import type { ContainerStatus, Pod } from '../../generated/types.ts'
import { graceAnnotation, inPlaceUpdateReady, mayServeAgain, readState, shutGate, stateAnnotation, unfinishedUpdate } from './in-place-update.ts'

interface Sample {
  /** The image that the spec asks for. */
  image?: string
  annotations?: Record<string, string>
  /** The node's status of the container. Undefined for none. */
  status?: { image: string; imageID: string; state?: ContainerStatus['state'] } | undefined
  generation?: number
  observedGeneration?: number
  gate?: { status: string; message?: string | undefined }
}

const old = { image: 'app:1', imageID: 'id-app-1' }
const two = { image: 'app:2', imageID: 'id-app-2' }

function samplePod({ image = 'app:1', annotations = {}, generation = 1, observedGeneration, gate, ...rest }: Sample): Pod {
  const status = 'status' in rest ? rest.status : old
  return {
    metadata: { name: 'web-a', generation, annotations },
    spec: { containers: [{ name: 'app', image, resources: {} }] },
    status: {
      containerStatuses: status ? [{ name: 'app', ready: true, ...status } as ContainerStatus] : [],
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
      ...(gate ? { conditions: [{ type: inPlaceUpdateReady, ...gate }] } : {}),
    },
  }
}

const state = (more: object = {}) => ({
  [stateAnnotation]: JSON.stringify({ revision: 'web-r2', updateTimestamp: '2026-02-03T04:05:00Z', lastContainerStatuses: { app: { imageID: 'id-app-1' } }, ...more }),
})
const rows: [what: string, pod: Sample, why: string | undefined][] = [
  ['never was any', {}, undefined],
  ['changed labels only', { annotations: state({ lastContainerStatuses: {} }) }, undefined],
  ['waits for its grace period', { annotations: { ...state(), [graceAnnotation]: '{}' } }, 'its grace period before the update is not over'],
  ['is not known to the node', { image: 'app:2', annotations: state(), generation: 2, observedGeneration: 1, status: two }, 'its node has not seen the update yet'],
  ['is known to the node, which has not acted', { image: 'app:2', annotations: state(), generation: 2, observedGeneration: 2, status: old }, 'container app still has the image app:1'],
  ['is through', { image: 'app:2', annotations: state(), generation: 2, observedGeneration: 2, status: two }, undefined],
  ['is through, on a node that does not say what it speaks of', { image: 'app:2', annotations: state(), status: two }, undefined],
  ['is through, under the image\'s whole name', { image: 'nginx', annotations: state(), status: { image: 'docker.io/library/nginx:latest', imageID: 'id-app-1' } }, undefined],
  ['is through, under a name that only the runtime knows', { image: 'app:2', annotations: state(), status: { image: 'sha256:abc', imageID: 'id-app-2' } }, undefined],
  ['has another tag for the same image', { image: 'app:2', annotations: state(), status: { image: 'app:2', imageID: 'id-app-1' } }, undefined],
  ['has a container that never started', { image: 'app:2', annotations: state(), status: { image: 'app:2', imageID: '' } }, 'container app has not started with app:2 yet'],
  ['began before the container\'s first start', { image: 'app:2', annotations: state({ lastContainerStatuses: { app: {} } }), status: two }, undefined],
  [
    'runs what was overtaken',
    { image: 'app:3', annotations: state({ supersededImages: { app: ['app:2'] } }), generation: 3, observedGeneration: 3, status: two },
    'container app still has the image app:2',
  ],
  ['was taken back before the node acted', { image: 'app:1', annotations: state({ supersededImages: { app: ['app:2'] } }), status: old }, undefined],
  ['has a container that is being made', { image: 'app:2', annotations: state(), status: { ...two, state: { waiting: { reason: 'ContainerCreating' } } } }, 'container app has not started with app:2 yet'],
  ['has a container that has started and ended', { image: 'app:2', annotations: state(), status: { ...two, state: { waiting: { reason: 'CrashLoopBackOff' } } } }, undefined],
  ['has a container of which its node says nothing', { image: 'app:2', annotations: state(), status: undefined }, 'container app has not started with app:2 yet'],
  ['cannot be read', { annotations: { [stateAnnotation]: '{' } }, undefined],
]

describe('unfinishedUpdate() of an update that', () => {
  it.each(rows)('%s', (_what, pod, why) => {
    expect(unfinishedUpdate(samplePod(pod))).toBe(why)
  })
})

describe('its node may open the gate of a pod', () => {
  const { message } = shutGate('web-r2')
  const through: Sample = { image: 'app:2', annotations: state(), generation: 2, observedGeneration: 2, status: two, gate: { status: 'False', message } }

  it.each<[what: string, more: Sample, may: boolean]>([
    ['whose update is through', {}, true],
    ['whose update is not', { status: old }, false],
    ['that is open', { gate: { status: 'True' } }, false],
    ['that has been shut for the next update, of which there is no more yet', { gate: { status: 'False', message: shutGate('web-r3').message } }, false],
    ['that was shut for an update that another has overtaken', { annotations: state({ revision: 'web-r3' }) }, false],
    ['that was shut by somebody who did not say what for', { gate: { status: 'False' } }, false],
    ['that was shut before there was any update', { annotations: {} }, false],
    ['whose grace period is not over', { annotations: { ...state(), [graceAnnotation]: '{}' } }, false],
  ])('%s', (_what, more, may) => {
    expect(mayServeAgain(samplePod({ ...through, ...more }))).toBe(may)
  })

  it('but not where there is none', () => {
    const { gate: _gate, ...others } = through
    expect(mayServeAgain(samplePod(others))).toBe(false)
  })
})

it('readState() takes a state without containers, as OpenKruise writes it in a grace period', () => {
  const annotations = { [stateAnnotation]: '{"revision":"web-r2","updateTimestamp":"2026-02-03T04:05:00Z","lastContainerStatuses":null}' }
  expect(readState(samplePod({ annotations }))).toEqual({ revision: 'web-r2', updateTimestamp: '2026-02-03T04:05:00Z', lastContainerStatuses: {} })
})
