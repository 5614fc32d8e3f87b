import { isConflict, isNotFound } from '../../api/errors.ts'
import type { Pod } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import type { FreeContext } from '../kit/index.ts'
import { disruptionPatch, isPodFinished } from '../kit/workload/index.ts'
import type { Reason } from './plan.ts'

/** Says that a pod has failed, whose node cannot say so any more, and removes it. One that is gone, or another one by now, needs nothing. */
export async function removePod({ client, clock, signal }: FreeContext, pod: Pod, reason: Reason): Promise<void> {
  const { namespace = '', name = '', uid } = pod.metadata
  try {
    if (reason !== 'half-removed' && !isPodFinished(pod)) {
      const why = reason === 'orphaned' ? disruptionPatch(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', clock.now()) : undefined
      const conditions = (why as { status?: object } | undefined)?.status
      await client.patch(pods, namespace, name, { metadata: { uid }, status: { phase: 'Failed', ...conditions } }, { type: 'strategic', subresource: 'status', signal })
    }
    await client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0, signal })
  } catch (e) {
    if (!isNotFound(e) && !isConflict(e)) throw e
  }
}
