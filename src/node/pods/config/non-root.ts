import type { Pod } from '../../../api/generated/types.ts'
import { ConfigError } from '../../env/environment.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { PodContainer } from '../containers.ts'

/**
 * Throws a ConfigError, with kubelet's message, if a container with runAsNonRoot would run as root or its user is
 * unknown.
 */
export async function checkNonRoot(runtime: Runtime, pod: Pod, { spec }: PodContainer): Promise<void> {
  const { runAsNonRoot, runAsUser } = { ...pod.spec.securityContext, ...spec.securityContext }
  if (!runAsNonRoot) return
  const { name, namespace, uid } = pod.metadata
  const which = `(pod: "${name}_${namespace}(${uid})", container: ${spec.name})`
  if (runAsUser !== undefined) {
    if (Number(runAsUser) === 0) throw new ConfigError(`container's runAsUser breaks non-root policy ${which}`)
    return
  }
  const user = (await runtime.imageStatus(spec.image ?? ''))?.user
  if (user && 'name' in user)
    throw new ConfigError(
      `container has runAsNonRoot and image has non-numeric user (${user.name}), cannot verify user is non-root ${which}`,
    )
  if (user?.uid === 0) throw new ConfigError(`container has runAsNonRoot and image will run as root ${which}`)
}
