import path from 'node:path'
import type { ContainerStatus, SandboxStatus } from '../../runtime/runtime.ts'
import { imageId } from './catalogue.ts'
import type { ContainerRecord, SandboxRecord } from './records.ts'
import type { ProcessState } from './shim/protocol.ts'

export const sandboxStatus = ({
  id,
  config,
  state,
  createdAtMs,
  address,
  runtimeHandler,
}: SandboxRecord): SandboxStatus => ({
  id,
  metadata: config.metadata,
  state,
  createdAtMs,
  ips: address === undefined ? [] : [address],
  runtimeHandler,
  labels: config.labels,
  annotations: config.annotations,
})

/** The path of a container's log. */
export const logPathOf = (sandbox: SandboxRecord, { config }: Pick<ContainerRecord, 'config'>): string =>
  path.join(sandbox.config.logDirectory, config.logPath)

/** `process` is undefined for a container that was never started. */
export function containerStatus(
  { id, sandboxId, config, createdAtMs }: ContainerRecord,
  process: ProcessState | undefined,
  sandbox: SandboxRecord,
): ContainerStatus {
  const { metadata, image, labels, annotations } = config
  const {
    state = 'created',
    startedAtMs = 0,
    finishedAtMs = 0,
    exitCode = 0,
    reason = '',
    message = '',
  } = process ?? {}
  const logPath = logPathOf(sandbox, { config })
  return {
    id,
    sandboxId,
    metadata,
    state,
    createdAtMs,
    startedAtMs,
    finishedAtMs,
    exitCode,
    reason,
    message,
    image,
    imageRef: imageId(image),
    labels,
    annotations,
    logPath,
  }
}
