import type { MessageOf } from '../../../grpc/index.ts'
import type { ContainerStatus, SandboxStatus } from '../../runtime/runtime.ts'
import { type containerStatus, containerStates } from './messages/container.ts'
import { type sandboxStatus, sandboxReady } from './messages/sandbox.ts'

const nanosPerMilli = 1_000_000

/** Converts nanoseconds. The recorded end of a very short process may precede its recorded start. */
const millis = (nanos: number): number => (nanos > 0 ? Math.floor(nanos / nanosPerMilli) : 0)

export function sandboxStatusOf(status: MessageOf<typeof sandboxStatus>, owned: ReadonlySet<string>): SandboxStatus {
  const { id, metadata, network } = status
  const ips = [network?.ip ?? '', ...(network?.additionalIps ?? []).map(({ ip }) => ip)].filter((ip) => ip !== '')
  return {
    id,
    metadata: metadata ?? { name: '', uid: '', namespace: '', attempt: 0 },
    state: status.state === sandboxReady ? 'ready' : 'notReady',
    createdAtMs: millis(status.createdAt),
    ips,
    runtimeHandler: status.runtimeHandler,
    labels: without(status.labels, owned),
    annotations: status.annotations,
  }
}

export function containerStatusOf(
  status: MessageOf<typeof containerStatus>,
  sandboxId: string,
  owned: ReadonlySet<string>,
): ContainerStatus {
  const startedAtMs = millis(status.startedAt)
  const finishedAtMs = millis(status.finishedAt)
  return {
    id: status.id,
    sandboxId,
    metadata: status.metadata ?? { name: '', attempt: 0 },
    state: containerStates[status.state] ?? 'unknown',
    createdAtMs: millis(status.createdAt),
    startedAtMs,
    finishedAtMs: finishedAtMs > 0 ? Math.max(startedAtMs, finishedAtMs) : 0,
    exitCode: status.exitCode,
    reason: status.reason,
    message: status.message,
    image: status.image?.image ?? '',
    imageRef: status.imageRef,
    labels: without(status.labels, owned),
    annotations: status.annotations,
    logPath: status.logPath,
  }
}

const without = (labels: Record<string, string>, owned: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !owned.has(name)))
