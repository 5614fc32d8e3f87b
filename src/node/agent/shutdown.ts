import type { Clock } from '../../base/clock.ts'
import { isCritical } from '../pods/critical.ts'
import type { PodWorker } from '../pods/pod-worker.ts'
import type { StatusManager } from '../status/status-manager.ts'

interface Shutdown {
  workers: readonly PodWorker[]
  clock: Clock
  status: StatusManager
  /** The grace period of all pods, critical ones included. */
  graceSeconds: number
  /** The part of the grace period that is reserved for critical pods. */
  criticalSeconds: number
}

const message = 'Pod was terminated in response to imminent node shutdown.'

const pollMs = 100

/**
 * Ends the pods of a node that shuts down, critical ones after all others. Resolves when all have ended and the API has
 * their final statuses, or when the grace period is over.
 */
export async function shutdownNode({ workers, clock, status, graceSeconds, criticalSeconds }: Shutdown): Promise<void> {
  const groups = [
    { members: workers.filter((w) => !isCritical(w.pod)), seconds: graceSeconds - criticalSeconds },
    { members: workers.filter((w) => isCritical(w.pod)), seconds: criticalSeconds },
  ]
  for (const { members, seconds } of groups) {
    for (const worker of members) {
      const wanted = worker.pod.spec.terminationGracePeriodSeconds ?? 30
      const disruption = { reason: 'TerminationByKubelet', message }
      worker.judge({ phase: 'Failed', reason: 'Terminated', message, disruption }, Math.min(Number(wanted), seconds))
    }
    // Slightly longer than the grace period, so that the statuses of pods that are killed in its last second are
    // written.
    const untilMs = clock.now() + seconds * 1000 + 2000
    while (members.some((w) => !w.hasEnded) && clock.now() < untilMs)
      await new Promise<void>((resolve) => clock.after(pollMs, resolve))
    const told = Promise.all(members.map((w) => status.settled(w.uid)))
    await Promise.race([told, new Promise<void>((resolve) => clock.after(Math.max(0, untilMs - clock.now()), resolve))])
  }
}
