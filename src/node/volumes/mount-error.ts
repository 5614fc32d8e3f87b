import {
  type SandboxFailure,
  type SandboxReason,
  mountFailure,
  sandboxReasons,
} from '../../api/kinds/pods/sandbox-condition.ts'

/** Why a volume is not there, for the pod's condition and for the event. */
export class MountError extends Error {
  readonly volume: string
  readonly failure: SandboxFailure
  /** The message of the event: kubelet words some failures in another way than it does `MountVolume.SetUp failed`. */
  readonly event: string

  constructor(volume: string, reason: SandboxReason, why: string, event = mountFailure(volume, why)) {
    super(why)
    this.name = 'MountError'
    this.volume = volume
    this.failure = { reason, message: mountFailure(volume, why) }
    this.event = event
  }

  /** A failure without a reason of its own. */
  static of(volume: string, error: unknown): MountError {
    return new MountError(
      volume,
      sandboxReasons.volumeMountFailed,
      error instanceof Error ? error.message : String(error),
    )
  }
}
