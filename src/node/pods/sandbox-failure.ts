import type { Pod } from '../../api/generated/types.ts'
import { type SandboxFailure, sandboxReasons } from '../../api/kinds/pods/sandbox-condition.ts'
import { SandboxNetworkError } from '../runtime/runtime.ts'
import { StageError } from '../stages.ts'
import { MountError } from '../volumes/mount-error.ts'

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Replaces ids, which differ in each attempt, so that equal failures have equal messages and cause no status patch. */
const withoutIds = (message: string): string => message.replaceAll(/\b[0-9a-f]{32,64}\b/g, 'ID')

/** The reason and message of the pod condition after a sandbox could not be created. */
export function sandboxFailureOf(error: unknown): SandboxFailure {
  const isNetwork = error instanceof SandboxNetworkError || (error instanceof StageError && error.stage === 'network')
  return {
    reason: isNetwork ? sandboxReasons.networkNotReady : sandboxReasons.sandboxCreateFailed,
    message: withoutIds(`Failed to create pod sandbox: ${messageOf(error)}`),
  }
}

/** The pod condition and the event message after volumes could not be mounted. */
export function mountFailureOf(pod: Pod, error: unknown): { failure: SandboxFailure; event: string } {
  const mountError = error instanceof StageError ? stageFailure(pod, error) : error
  if (mountError instanceof MountError) {
    const { failure, event } = mountError
    return { failure: { ...failure, message: withoutIds(failure.message) }, event }
  }
  // The API server did not answer or refused the request, so no single volume is at fault.
  const event = `Unable to attach or mount volumes: ${messageOf(error)}`
  return { failure: { reason: sandboxReasons.volumeMountFailed, message: withoutIds(event) }, event }
}

/** A fault plan fails all volumes of a pod at once. The message names one with a driver, if the pod has any. */
function stageFailure({ spec: { volumes = [] } }: Pod, error: StageError): unknown {
  const volume =
    volumes.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim || ephemeral) ?? volumes[0]
  return volume ? MountError.of(volume.name, error) : error
}
