import type { Pod } from '../../api/generated/types.ts'
import { isConflict, isNotFound, pods, waitFor } from '../../client/index.ts'
import type { NodeContext } from './node-context.ts'

const firstWaitMs = 200
const longestWaitMs = 10_000

/** Takes a pod whose containers have ended out of the API: that very one, for as long as it takes. */
export async function deletePod({ client, clock, logger }: NodeContext, pod: Pod, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      await client.delete(pods, namespace, name, { gracePeriodSeconds: 0, ...(uid ? { uid } : {}), signal })
      return
    } catch (error) {
      // Gone, or another one has its name.
      if (isNotFound(error) || isConflict(error)) return
      signal.throwIfAborted()
      logger.warn('a pod that has ended could not be deleted', { pod: `${namespace}/${name}`, error })
    }
    await waitFor(clock, waitMs, signal)
  }
}
