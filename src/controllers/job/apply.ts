import { isNotFound } from '../../api/errors.ts'
import { maxGeneratedPrefix } from '../../api/generated-name.ts'
import type { Container, Job, JobStatus, Pod, PodTemplateSpec } from '../../api/generated/types.ts'
import { type New, pods } from '../../client/index.ts'
import type { Appliers, ApplyContext, Writer } from '../kit/index.ts'
import { findCondition, isConditionTrue, namePrefix, podOfTemplate } from '../kit/workload/index.ts'
import {
  failuresBefore,
  indexAnnotation,
  indexFailuresAnnotation,
  indexIgnoredFailuresAnnotation,
  isTracked,
  judgeFailure,
  trackingFinalizer,
} from './policies.ts'

export type Action =
  | { kind: 'CreatePod'; index?: number; predecessor?: Pod | undefined }
  /** Deletes a pod without counting it. */
  | { kind: 'DropPod'; pod: Pod }
  /** Restores the finalizer of a pod that was to be dropped and was not deleted. Its end counts after all. */
  | { kind: 'TrackPod'; pod: Pod }
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  /** Removes the finalizer of a pod whose end is recorded, or does not count. */
  | { kind: 'LetGoPod'; pod: Pod }
  /** Deletes a pod that counts as failed. */
  | { kind: 'DeletePod'; pod: Pod }

type Context = ApplyContext<Job>

/** Removes the finalizer of a pod. With `ifUnchanged` only if the pod has not changed. */
export async function letGo(writer: Writer, pod: Pod, { ifUnchanged = false } = {}): Promise<void> {
  const { uid, resourceVersion } = pod.metadata
  const metadata = {
    uid,
    ...(ifUnchanged ? { resourceVersion } : {}),
    '$deleteFromPrimitiveList/finalizers': [trackingFinalizer],
  }
  try {
    await writer.patch(pods, pod, { metadata }, { type: 'strategic' })
  } catch (e) {
    if (!isNotFound(e)) throw e
  }
}

async function deletePod({ writer, event }: Context, pod: Pod): Promise<void> {
  await writer.delete(pods, pod)
  event('Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
}

const failedDelete = (error: Error) => ({ reason: 'FailedDelete', message: `Error deleting: ${error.message}` })

export const apply: Appliers<Job, Action> = {
  LetGoPod: { pace: 'all at once', run: ({ writer }, { pod }) => letGo(writer, pod) },
  DeletePod: { pace: 'all at once', run: (ctx, { pod }) => deletePod(ctx, pod), failed: failedDelete },
  DropPod: {
    pace: 'all at once',
    async run(ctx, { pod }) {
      // A pod that has finished in the meantime must be counted.
      if (isTracked(pod)) await letGo(ctx.writer, pod, { ifUnchanged: true })
      await deletePod(ctx, pod)
    },
    failed: failedDelete,
  },
  CreatePod: {
    pace: 'slow start',
    async run({ writer, owner, event }, { index, predecessor }) {
      const { metadata } = await writer.create(pods, podOf(owner, index, predecessor))
      event('Normal', 'SuccessfulCreate', `Created pod: ${metadata.name}`)
    },
    failed: (error) => ({ reason: 'FailedCreate', message: `Error creating: ${error.message}` }),
  },
  TrackPod: {
    pace: 'all at once',
    run({ writer }, { pod }) {
      const { uid, resourceVersion } = pod.metadata
      return writer.patch(
        pods,
        pod,
        { metadata: { uid, resourceVersion, finalizers: [trackingFinalizer] } },
        { type: 'strategic' },
      )
    },
  },
  AdoptPod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.adopt(pods, pod, trackingFinalizer) },
  ReleasePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.release(pods, pod, trackingFinalizer) },
}

/** Emits events about conditions that have just changed. */
export function announce({ event, owner }: Context, before: JobStatus | undefined, after: JobStatus): void {
  const turned = (type: string) => isConditionTrue(after.conditions, type) !== isConditionTrue(before?.conditions, type)
  if (turned('Suspended')) {
    const isSuspended = isConditionTrue(after.conditions, 'Suspended')
    event('Normal', isSuspended ? 'Suspended' : 'Resumed', isSuspended ? 'Job suspended' : 'Job resumed')
  }
  if (turned('Complete')) {
    const { completions } = owner.spec
    if (completions !== undefined && (after.succeeded ?? 0) > completions) {
      event('Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached')
    }
    event('Normal', 'Completed', 'Job completed')
  }
  if (turned('Failed')) {
    const { reason = '', message = '' } = findCondition(after.conditions, 'Failed')!
    event('Warning', reason, message)
  }
}

const indexVariable = 'JOB_COMPLETION_INDEX'

/** The next pod of a Job. `predecessor` is the failed pod of the same index. */
export function podOf(job: Job, index: number | undefined, predecessor: Pod | undefined): New<Pod> {
  const { spec, metadata } = job
  const finalizers = spec.template.metadata?.finalizers?.includes(trackingFinalizer) ? [] : [trackingFinalizer]
  if (index === undefined) return podOfTemplate(spec.template, { generateName: namePrefix(metadata.name!), finalizers })
  const place = { [indexAnnotation]: `${index}` }
  return podOfTemplate(withIndex(spec.template, `${metadata.name}-${index}`), {
    generateName: prefixOf(metadata.name!, index),
    labels: place,
    annotations: { ...place, ...(spec.backoffLimitPerIndex === undefined ? {} : failuresOf(job, predecessor)) },
    finalizers,
  })
}

/** The prefix `job-3-`. The Job's name is truncated if it is too long. */
function prefixOf(name: string, index: number): string {
  const suffix = `-${index}-`
  return name.slice(0, maxGeneratedPrefix - suffix.length) + suffix
}

function failuresOf({ spec }: Job, predecessor: Pod | undefined): Record<string, string> {
  if (!predecessor) return { [indexFailuresAnnotation]: '0' }
  const { counted, ignored } = failuresBefore(predecessor)
  const isIgnored = judgeFailure(spec.podFailurePolicy, predecessor).action === 'Ignore'
  const allIgnored = ignored + (isIgnored ? 1 : 0)
  return {
    [indexFailuresAnnotation]: `${counted + (isIgnored ? 0 : 1)}`,
    ...(allIgnored > 0 ? { [indexIgnoredFailuresAnnotation]: `${allIgnored}` } : {}),
  }
}

function withIndex(template: PodTemplateSpec, hostname: string): PodTemplateSpec {
  const { initContainers, containers, ...spec } = template.spec
  return {
    ...template,
    spec: {
      ...spec,
      ...(initContainers ? { initContainers: initContainers.map(knowingIndex) } : {}),
      containers: containers.map(knowingIndex),
      hostname,
    },
  }
}

/** Adds the index variable to a container, unless it has a variable of that name. */
function knowingIndex(container: Container): Container {
  const { env = [] } = container
  if (env.some(({ name }) => name === indexVariable)) return container
  return {
    ...container,
    env: [
      ...env,
      { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexAnnotation}']` } } },
    ],
  }
}
