import { isNotFound } from '../../api/errors.ts'
import type { Job, JobStatus, Pod } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import type { Appliers, ApplyContext, Writer } from '../kit/index.ts'
import { findCondition, isConditionTrue } from '../kit/workload/index.ts'
import { podOf } from './pod.ts'
import { isTracked, trackingFinalizer } from './policies.ts'

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
