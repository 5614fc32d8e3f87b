import {
  type SandboxFailure,
  type SandboxReason,
  mountFailure,
  sandboxReasons,
} from '../../api/kinds/pods/sandbox-condition.ts'

/** The reason why a volume could not be mounted, for the pod's condition and for the event. */
export class MountError extends Error {
  readonly volume: string
  readonly failure: SandboxFailure
  /** The message of the event. For some failures kubelet does not use `MountVolume.SetUp failed`. */
  readonly event: string

  constructor(volume: string, reason: SandboxReason, why: string, event = mountFailure(volume, why)) {
    super(why)
    this.name = 'MountError'
    this.volume = volume
    this.failure = { reason, message: mountFailure(volume, why) }
    this.event = event
  }

  /** A failure without a more specific reason. */
  static of(volume: string, error: unknown): MountError {
    return new MountError(
      volume,
      sandboxReasons.volumeMountFailed,
      error instanceof Error ? error.message : String(error),
    )
  }
}
