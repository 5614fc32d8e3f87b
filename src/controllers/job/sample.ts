import type { Job, JobSpec, JobStatus, Pod, PodStatus } from '../../api/generated/types.ts'
import { keyOf } from '../../client/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import { type BackOff, indexAnnotation, indexFailuresAnnotation, trackingFinalizer } from './policies.ts'
import { JobPods } from './job-pods.ts'
import { memberOf } from './member.ts'
import { type Observed, judge } from './observe.ts'
import { isFinalPhase } from '../../api/kinds/pods/pod-availability.ts'

export const nowMs = Date.parse('2026-01-01T00:10:00Z')

/** The time this many seconds ago. */
export const ago = (seconds: number): string => timestamp(nowMs - seconds * 1000)

export const sampleJob = (
  spec: Partial<JobSpec> = {},
  status: JobStatus = { startTime: ago(60) },
  metadata: Job['metadata'] = {},
): Job => ({
  metadata: { namespace: 'default', name: 'j', uid: 'job', resourceVersion: '1', generation: 1, ...metadata },
  spec: {
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    selector: { matchLabels: { app: 'j' } },
    template: {
      metadata: { labels: { app: 'j' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1', resources: {} }] },
    },
    ...spec,
  },
  status,
})

export interface SampleState {
  phase?: string
  index?: number
  /** The number of earlier failures of the index. */
  failures?: number
  isReady?: boolean
  isTracked?: boolean
  isBound?: boolean
  /** The number of seconds since then. */
  deletedFor?: number
  endedFor?: number
  exitCode?: number
  conditions?: PodStatus['conditions']
  restarts?: number
}

/** A pod of the sample Job: pending, bound and tracked by default. */
export function samplePod(name: string, state: SampleState = {}): Pod {
  const {
    phase = 'Pending',
    index,
    failures,
    isReady,
    isTracked = true,
    isBound = true,
    deletedFor,
    endedFor = 100,
    exitCode,
    conditions,
    restarts = 0,
  } = state
  const isOver = isFinalPhase(phase)
  const terminated = { exitCode: exitCode ?? (phase === 'Failed' ? 1 : 0), finishedAt: ago(endedFor) }
  return {
    metadata: {
      namespace: 'default',
      name,
      uid: name,
      resourceVersion: '1',
      labels: { app: 'j' },
      creationTimestamp: ago(50),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'job', controller: true }],
      ...(isTracked ? { finalizers: [trackingFinalizer] } : {}),
      ...(index === undefined
        ? {}
        : {
            annotations: {
              [indexAnnotation]: `${index}`,
              ...(failures === undefined ? {} : { [indexFailuresAnnotation]: `${failures}` }),
            },
          }),
      ...(deletedFor === undefined ? {} : { deletionTimestamp: ago(deletedFor - 30), deletionGracePeriodSeconds: 30 }),
    },
    spec: { containers: [{ name: 'c', image: 'i:1', resources: {} }], ...(isBound ? { nodeName: 'n1' } : {}) },
    status: {
      phase,
      conditions: conditions ?? (isReady ? [{ type: 'Ready', status: 'True', lastTransitionTime: ago(20) }] : []),
      containerStatuses:
        isOver || restarts
          ? [
              {
                name: 'c',
                image: 'i:1',
                imageID: '',
                ready: false,
                restartCount: restarts,
                state: isOver ? { terminated } : {},
              },
            ]
          : [],
    },
  } as unknown as Pod
}

export interface Sample {
  spec?: Partial<JobSpec>
  status?: JobStatus
  metadata?: Job['metadata']
  pods?: Pod[]
  strays?: Pod[]
  strangers?: Pod[]
  remembered?: BackOff
}

/** An observation of the sample Job. */
export function sample({
  spec,
  status,
  metadata,
  pods = [],
  strays = [],
  strangers = [],
  remembered,
}: Sample): Observed {
  const job = sampleJob(spec, status, metadata)
  const sorted = new JobPods(job)
  for (const pod of pods) {
    const member = memberOf({ job, matches: () => true }, pod, nowMs)
    if (!member.isStranger) sorted.add(keyOf(pod), member)
  }
  const judged = judge(job, sorted.know(job.status), () => pods, nowMs, remembered)
  return { ...judged, strays, strangers, changesAtMs: undefined }
}

/** Conditions with status True and this reason. */
export const conditions = (...types: string[]): NonNullable<JobStatus['conditions']> =>
  types.map((type) => ({
    type,
    status: 'True',
    reason: 'Because',
    message: 'of it',
    lastTransitionTime: ago(30),
    lastProbeTime: ago(30),
  }))
