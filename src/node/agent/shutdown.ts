import type { Clock } from '../../base/clock.ts'
import { isCritical } from '../pods/critical.ts'
import type { PodWorker } from '../pods/pod-worker.ts'
import type { StatusManager } from '../status/status-manager.ts'

export interface Shutdown {
  workers: readonly PodWorker[]
  clock: Clock
  status: StatusManager
  /** In all. */
  graceSeconds: number
  /** The part of it that critical pods have for themselves. */
  criticalSeconds: number
}

const message = 'Pod was terminated in response to imminent node shutdown.'

const pollMs = 100

/** Ends the pods of a node that goes down, critical ones after all others. Resolves when all have ended and the API knows, or the time is over. */
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
    // A little longer than they have: whoever is killed in the last second has to be told of, too.
    const untilMs = clock.now() + seconds * 1000 + 2000
    while (members.some((w) => !w.hasEnded) && clock.now() < untilMs) await new Promise<void>((resolve) => clock.after(pollMs, resolve))
    const told = Promise.all(members.map((w) => status.settled(w.uid)))
    await Promise.race([told, new Promise<void>((resolve) => clock.after(Math.max(0, untilMs - clock.now()), resolve))])
  }
}
