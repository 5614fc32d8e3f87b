import type { Pod } from '../../api/generated/types.ts'
import { isNotFound, runtimeclasses } from '../../client/index.ts'
import type { NodeContext } from './node-context.ts'

/** What makes the pod's sandbox: the handler of its runtime class, '' for the runtime's own choice. */
export async function runtimeHandlerOf({ client }: NodeContext, pod: Pod, signal: AbortSignal): Promise<string> {
  const name = pod.spec.runtimeClassName
  if (!name) return ''
  try {
    return (await client.get(runtimeclasses, '', name, { signal })).handler
  } catch (e) {
    if (isNotFound(e)) throw new Error(`failed to get sandbox runtime: RuntimeClass "${name}" not found`, { cause: e })
    throw e
  }
}
