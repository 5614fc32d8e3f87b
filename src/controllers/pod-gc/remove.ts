import { isConflict, isNotFound } from '../../api/errors.ts'
import type { Pod } from '../../api/generated/types.ts'
import { pods } from '../../client/index.ts'
import type { FreeContext, ReplacedVersions } from '../kit/index.ts'
import { disruptionPatch, isPodFinished } from '../kit/workload/index.ts'
import type { Reason } from './plan.ts'

/**
 * Says that a pod has failed, whose node cannot say so any more, and removes it. True if that was done. Both writes
 * name the very version that was judged: a pod that has ended well since must not be said to have failed. One that has
 * changed is judged anew when the cache has it.
 */
export async function removePod(ctx: FreeContext, replaced: ReplacedVersions, pod: Pod, why: Reason): Promise<boolean> {
  const { client, signal } = ctx
  try {
    const last = why !== 'half-removed' && !isPodFinished(pod) ? await failPod(ctx, replaced, pod, why) : pod
    const { namespace = '', name = '', uid, resourceVersion } = last.metadata
    const options = { uid, resourceVersion, gracePeriodSeconds: 0, signal }
    await replaced.write(last, () => client.delete(pods, namespace, name, options))
    return true
  } catch (e) {
    if (!isNotFound(e) && !isConflict(e)) throw e
    return false
  }
}

/** Returns the pod as it is then. */
function failPod(ctx: FreeContext, replaced: ReplacedVersions, pod: Pod, why: Reason): Promise<Pod> {
  const { client, clock, signal } = ctx
  const { namespace = '', name = '', uid, resourceVersion } = pod.metadata
  const disruption = disruptionPatch(pod, 'DeletionByPodGC', 'PodGC: node no longer exists', clock.now())
  const conditions = why === 'orphaned' ? (disruption as { status?: object } | undefined)?.status : undefined
  const patch = { metadata: { uid, resourceVersion }, status: { phase: 'Failed', ...conditions } }
  const options = { type: 'strategic', subresource: 'status', signal } as const
  return replaced.write(pod, () => client.patch(pods, namespace, name, patch, options))
}
