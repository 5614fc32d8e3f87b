import type { CloneSet, CloneSetLifecycle, ContainerStatus, Pod, PodTemplateSpec } from '../../api/generated/types.ts'
import { inPlaceUpdateReady } from '../../api/kinds/pods/in-place-update.ts'
import { type LifecycleState, lifecycleStateLabel } from '../../api/kinds/containers/lifecycle-hooks.ts'
import type { Revision } from './revisions.ts'

/** The current time in the tests of in-place updates. */
export const nowMs = Date.parse('2026-02-03T04:05:06.500Z')
export const now = '2026-02-03T04:05:06Z'
export const earlier = '2026-02-03T04:00:00Z'

export const podTemplate = (spec: object, metadata: object = {}): PodTemplateSpec =>
  ({ metadata, spec }) as PodTemplateSpec

/** A revision with the containers `app` and `side`. */
export const revision = (
  n: number,
  images: { app?: string; side?: string } = {},
  labels: object = { app: 'web' },
): Revision => ({
  name: `web-r${n}`,
  hash: `r${n}`,
  template: podTemplate(
    {
      containers: [
        { name: 'app', image: images.app ?? `app:${n}` },
        { name: 'side', image: images.side ?? 'side:1' },
      ],
    },
    { labels },
  ),
})

export const set = (lifecycle: CloneSetLifecycle = {}, graceSeconds = 0): CloneSet =>
  ({
    metadata: { name: 'web' },
    spec: { lifecycle, updateStrategy: { inPlaceUpdateStrategy: { gracePeriodSeconds: graceSeconds } } },
  }) as unknown as CloneSet

export interface SamplePod {
  state?: LifecycleState
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  /** The images in the spec. */
  images?: { app?: string; side?: string }
  /** The reported status of `app`. */
  status?: { image: string; imageID: string }
  /** By type. Ready, ContainersReady and the in-place update gate are True by default. */
  conditions?: Record<string, { status: string; reason?: string; message?: string } | undefined>
  gates?: string[]
  generation?: number
  observedGeneration?: number
}

/** An available pod of revision 1. */
export function samplePod(sample: SamplePod = {}): Pod {
  const {
    state = 'Normal',
    labels,
    annotations,
    finalizers,
    images = {},
    gates = [inPlaceUpdateReady],
    generation = 1,
    observedGeneration,
  } = sample
  const statusOf = (name: string, image: string, imageID: string) =>
    ({ name, image, imageID, ready: true, restartCount: 0, state: {}, lastState: {} }) as unknown as ContainerStatus
  const isTrue = { status: 'True' }
  const conditions = { Ready: isTrue, ContainersReady: isTrue, [inPlaceUpdateReady]: isTrue, ...sample.conditions }
  return {
    metadata: {
      name: 'web-a',
      uid: 'u',
      generation,
      annotations: annotations ?? {},
      ...(finalizers ? { finalizers } : {}),
      labels: {
        app: 'web',
        'controller-revision-hash': 'web-r1',
        ...(state ? { [lifecycleStateLabel]: state } : {}),
        ...labels,
      },
    },
    spec: {
      containers: [
        { name: 'app', image: images.app ?? 'app:1' },
        { name: 'side', image: images.side ?? 'side:1' },
      ],
      readinessGates: gates.map((conditionType) => ({ conditionType })),
    },
    status: {
      phase: 'Running',
      conditions: Object.entries(conditions).flatMap(([type, c]) =>
        c ? [{ type, lastTransitionTime: earlier, ...c }] : [],
      ),
      containerStatuses: [
        statusOf('app', sample.status?.image ?? 'app:1', sample.status?.imageID ?? 'id-app-1'),
        statusOf('side', 'side:1', 'id-side-1'),
      ],
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    },
  } as unknown as Pod
}
