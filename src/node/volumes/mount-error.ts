/** Why a volume is not there; the message is the part of the event after `MountVolume.SetUp failed for volume "NAME" : `. */
export class MountError extends Error {
  readonly volume: string
  /** Whether it waits for something that others do, such as binding a claim: told in other words. */
  readonly event: string

  constructor(volume: string, message: string, event = `MountVolume.SetUp failed for volume "${volume}" : ${message}`) {
    super(message)
    this.name = 'MountError'
    this.volume = volume
    this.event = event
  }
}
