import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { initContainersOf, regularContainersOf, restarts } from '../pods/containers.ts'
import type { Statuses } from './container-statuses.ts'

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

/** Computes a pod's phase from the statuses of its containers. */
export function phaseOf(pod: Pod, { init, regular }: Statuses, isEnding: boolean): Phase {
  const statusOf = (all: readonly ContainerStatus[], name: string) => all.find((s) => s.name === name)
  const hasBegun = regular.some((s) => s.state.running || s.state.terminated || s.lastState.terminated)
  if (!hasBegun) {
    for (const container of initContainersOf(pod)) {
      const status = statusOf(init, container.spec.name)
      if (container.sort === 'sidecar') {
        if (!status?.started) return 'Pending'
        continue
      }
      const ended = status?.state.terminated
      if (ended && ended.exitCode === 0) continue
      if (ended && ended.exitCode !== 0 && (isEnding || !restarts(pod, container, ended.exitCode))) return 'Failed'
      return 'Pending'
    }
  }
  let running = 0
  let unknown = 0
  let succeeded = 0
  let stopped = 0
  const all = regularContainersOf(pod)
  for (const container of all) {
    const status = statusOf(regular, container.spec.name)
    if (status?.state.running) running++
    else if (status?.state.terminated) {
      if (!isEnding && restarts(pod, container, status.state.terminated.exitCode)) running++
      else {
        stopped++
        if (status.state.terminated.exitCode === 0) succeeded++
      }
    } else if (status?.lastState.terminated) running++
    else unknown++
  }
  if (unknown > 0) return 'Pending'
  if (running > 0) return 'Running'
  if (stopped !== all.length) return 'Pending'
  return succeeded === stopped ? 'Succeeded' : 'Failed'
}
