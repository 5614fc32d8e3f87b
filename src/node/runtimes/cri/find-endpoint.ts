import { existsSync } from 'node:fs'
import type { Clock } from '../../../base/clock.ts'
import { CriClient } from './cri-client.ts'
import { methods } from './methods.ts'

/** The default sockets of runtimes, in kubeadm's order. */
const usualSockets: readonly string[] = [
  '/run/containerd/containerd.sock',
  '/run/crio/crio.sock',
  '/var/run/containerd/containerd.sock',
  '/var/run/crio/crio.sock',
]

/** A ready container runtime, or the reason why there is none. `isThere`: a runtime responds and is not ready. */
export type Found = { endpoint: string; runtime: string } | { endpoint: undefined; why: string; isThere: boolean }

const askTimeoutMs = 2000

/** Finds a ready container runtime at the given endpoint, or else at one of the sockets. */
export async function findRuntime(clock: Clock, endpoint: string | undefined, sockets = usualSockets): Promise<Found> {
  const endpoints = endpoint === undefined ? sockets.filter((socket) => existsSync(socket)) : [endpoint]
  const problems: string[] = []
  let isThere = false
  for (const at of endpoints) {
    const client = new CriClient(at, clock, askTimeoutMs)
    try {
      const { runtimeName, runtimeVersion } = await client.call(methods.version, { version: '0.1.0' })
      isThere = true
      const { status } = await client.call(methods.status, {})
      const unmet =
        status?.conditions.filter(
          ({ type, status: isMet }) => !isMet && (type === 'RuntimeReady' || type === 'NetworkReady'),
        ) ?? []
      if (unmet.length === 0) return { endpoint: at, runtime: `${runtimeName} ${runtimeVersion}` }
      problems.push(`${at}: ${unmet.map(({ type, message }) => `${type}=false ${message}`).join(', ')}`)
    } catch (e) {
      problems.push(`${at}: ${(e as Error).message}`)
    } finally {
      client.close()
    }
  }
  return {
    endpoint: undefined,
    why: problems.join('; ') || 'no container runtime listens at the usual sockets',
    isThere,
  }
}
