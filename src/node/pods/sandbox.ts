import type { Pod } from '../../api/generated/types.ts'
import { isNotFound, runtimeclasses } from '../../client/index.ts'
import { dnsProblems } from './config/pod-dns.ts'
import { sandboxConfig } from './config/sandbox-config.ts'
import type { NodeContext } from './node-context.ts'
import { gracePeriodOf, stopAll, stopSandboxes } from './stopping.ts'

/** Creates the sandbox of a pod and its network. Containers and sandboxes of earlier attempts are stopped first. */
export async function createSandbox(
  context: NodeContext,
  pod: Pod,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const { stages, runtime, view } = context
  const { uid = '' } = pod.metadata
  // Kubelet's words. In the user namespace of the node such a pod would have more rights than it asks for.
  if (runtime.hasContainers && pod.spec.hostUsers === false)
    throw new Error("can't set `spec.hostUsers: false`, runtime does not support user namespaces")
  const config = sandboxConfig(context, pod, attempt)
  for (const problem of dnsProblems(context, pod)) context.event(pod, 'Warning', 'DNSConfigForming', problem)
  const handler = await runtimeHandlerOf(context, pod, signal)
  // The containers of the sandbox before may have outlived it.
  await stopAll(context, pod, view.state(uid), gracePeriodOf(pod))
  await stopSandboxes(context, view.state(uid))
  const id = await stages.run('network', pod, signal, () =>
    stages.run('sandbox', pod, signal, () => runtime.runPodSandbox(config, handler, signal)),
  )
  await view.refresh(id)
}

/** The runtime handler of the pod's RuntimeClass; '' selects the runtime's default. */
async function runtimeHandlerOf({ client }: NodeContext, pod: Pod, signal: AbortSignal): Promise<string> {
  const name = pod.spec.runtimeClassName
  if (!name) return ''
  try {
    return (await client.get(runtimeclasses, '', name, { signal })).handler
  } catch (e) {
    if (isNotFound(e)) throw new Error(`failed to get sandbox runtime: RuntimeClass "${name}" not found`, { cause: e })
    throw e
  }
}
