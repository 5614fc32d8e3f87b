import { stat } from 'node:fs/promises'
import type { CriClient } from './cri-client.ts'
import { sandboxImageOf, stateDirectoryOf, usesSystemd } from './details.ts'
import { cgroupDrivers } from './messages/runtime.ts'
import { methods } from './methods.ts'

/** The description that a runtime gives of itself. */
export interface AboutRuntime {
  runtimeName: string
  runtimeVersion: string
  sandboxImage: string | undefined
  /** True if systemd makes the cgroups of containers. */
  usesSystemd: boolean
  /** The time since which its records are complete. */
  bornMs: number
}

/**
 * Reads the description of a runtime. Rejects if there is no answer, or if the answer is not from a container runtime.
 */
export async function askAboutRuntime(client: CriClient, nowMs: number): Promise<AboutRuntime> {
  const { runtimeName, runtimeVersion } = await client.call(methods.version, { version: '0.1.0' })
  const { info } = await client.call(methods.status, { verbose: true })
  const directory = stateDirectoryOf(info)
  return {
    runtimeName,
    runtimeVersion,
    sandboxImage: sandboxImageOf(info),
    // Newer runtimes have a call for it.
    usesSystemd: await client.call(methods.runtimeConfig, {}).then(
      ({ linux }) => (linux ? cgroupDrivers[linux.cgroupDriver] === 'systemd' : usesSystemd(info)),
      () => usesSystemd(info),
    ),
    bornMs:
      directory === undefined
        ? nowMs
        : await stat(directory).then(
            ({ birthtimeMs }) => Math.floor(birthtimeMs),
            () => nowMs,
          ),
  }
}
