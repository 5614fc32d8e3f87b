import type { Pod } from '../../api/generated/types.ts'
import { type SandboxFailure, sandboxReasons } from '../../api/kinds/sandbox-condition.ts'
import { SandboxNetworkError } from '../runtime/runtime.ts'
import { StageError } from '../stages.ts'
import { MountError } from '../volumes/mount-error.ts'

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Each attempt has an id of its own. Without ids, attempts that fail in the same way have the same words: no patch. */
const withoutIds = (message: string): string => message.replaceAll(/\b[0-9a-f]{32,64}\b/g, 'ID')

/** Why the sandbox of a pod could not be made. */
export function sandboxFailureOf(error: unknown): SandboxFailure {
  const isNetwork = error instanceof SandboxNetworkError || (error instanceof StageError && error.stage === 'network')
  return {
    reason: isNetwork ? sandboxReasons.networkNotReady : sandboxReasons.sandboxCreateFailed,
    message: withoutIds(`Failed to create pod sandbox: ${messageOf(error)}`),
  }
}

/** Why the volumes of a pod could not be mounted, and what the event says of it. */
export function mountFailureOf(pod: Pod, error: unknown): { failure: SandboxFailure; event: string } {
  const mountError = error instanceof StageError ? stageFailure(pod, error) : error
  if (mountError instanceof MountError) {
    const { failure, event } = mountError
    return { failure: { ...failure, message: withoutIds(failure.message) }, event }
  }
  // The API did not answer, or refused to: that is no fault of any volume.
  const event = `Unable to attach or mount volumes: ${messageOf(error)}`
  return { failure: { reason: sandboxReasons.volumeMountFailed, message: withoutIds(event) }, event }
}

/** A fault plan breaks all volumes of a pod at once. One that a driver mounts is named, if the pod has any. */
function stageFailure({ spec: { volumes = [] } }: Pod, error: StageError): unknown {
  const volume =
    volumes.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral) ?? volumes[0]
  return volume ? MountError.of(volume.name, error) : error
}
