import type { Pod } from '../../../src/api/generated/types.ts'

// Judges pods by the recorded sequence of their versions. It shares no code with the monitor and no idea of how the
// monitor works: it goes through the wait of each pod second by second.

/** One version of a pod, and when it was written. */
export interface Version {
  atMs: number
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  pod: Pod
}

/** A time in which nobody watched. What was written in it is known only if it could still be read afterwards. */
export interface Away {
  fromMs: number
  toMs: number
}

export interface Objective {
  thresholdMs: number
  timeoutMs: number
}

export type Verdict = 'good' | 'bad' | 'user error' | 'nothing'

const secondMs = 1000

const conditionOf = ({ status }: Pod, wanted: string) => status?.conditions?.find(({ type }) => type === wanted)
const timeOf = (text: unknown): number => Date.parse(String(text))

const sandboxOf = (pod: Pod) => conditionOf(pod, 'PodReadyToStartContainers')
const lacksObject = (pod: Pod): boolean => sandboxOf(pod)?.reason === 'ConfigMapNotFound'
const hasRestarted = (pod: Pod): boolean => (pod.status?.containerStatuses ?? []).some(({ restartCount }) => restartCount > 0)

function deletionOf({ metadata }: Pod): number | undefined {
  if (!metadata.deletionTimestamp) return undefined
  return timeOf(metadata.deletionTimestamp) - Number(metadata.deletionGracePeriodSeconds ?? 0) * secondMs
}

/** The versions that somebody could see who was away at times: when they come back they read the last one, if the pod is still there. */
function visible(trail: readonly Version[], absences: readonly Away[]): { seen: Version[]; lostAtMs: number | undefined } {
  let seen: Version[] = []
  for (const [i, version] of trail.entries()) {
    const away = absences.find(({ fromMs, toMs }) => version.atMs >= fromMs && version.atMs <= toMs)
    if (!away) {
      seen.push(version)
      continue
    }
    if (version.type === 'DELETED') return { seen, lostAtMs: seen.length > 0 ? away.fromMs : undefined }
    const next = trail[i + 1]
    if (!next || next.atMs > away.toMs) seen = [...seen, { ...version, atMs: away.toMs }]
  }
  return { seen, lostAtMs: undefined }
}

/** The end of a pod's wait: its sandbox was ready, it ended without one, or it is unknown. */
type End = { kind: 'ready' | 'gone' | 'still waiting'; atMs: number } | { kind: 'unknown' }

function endOf(seen: readonly Version[], lostAtMs: number | undefined, nowMs: number): End {
  for (const { pod, type, atMs } of seen) {
    const sandbox = sandboxOf(pod)
    if (sandbox?.status === 'True') return hasRestarted(pod) ? { kind: 'unknown' } : { kind: 'ready', atMs: timeOf(sandbox.lastTransitionTime) }
    if (sandbox?.reason === 'SandboxChanged') return { kind: 'unknown' }
    const deletedAtMs = deletionOf(pod)
    if (deletedAtMs !== undefined) return { kind: 'gone', atMs: deletedAtMs }
    if (type === 'DELETED') return { kind: 'gone', atMs }
    const disrupted = conditionOf(pod, 'DisruptionTarget')
    if (pod.status?.phase === 'Failed') return { kind: 'gone', atMs: disrupted ? timeOf(disrupted.lastTransitionTime) : atMs }
  }
  return lostAtMs === undefined ? { kind: 'still waiting', atMs: nowMs } : { kind: 'gone', atMs: lostAtMs }
}

/** Judges one pod. `trail` is all that was ever written of it. */
export function judgePod(trail: readonly Version[], absences: readonly Away[], { thresholdMs, timeoutMs }: Objective, nowMs: number): Verdict {
  const { seen, lostAtMs } = visible(trail, absences)
  const scheduled = seen.map(({ pod }) => conditionOf(pod, 'PodScheduled')).find((condition) => condition?.status === 'True')
  const end = endOf(seen, lostAtMs, nowMs)
  if (!scheduled || end.kind === 'unknown') return 'nothing'
  const fromMs = timeOf(scheduled.lastTransitionTime)
  const lacked = (atMs: number): boolean => {
    const said = trail.filter((version) => version.atMs <= atMs && sandboxOf(version.pod)).at(-1) ?? trail.find((version) => sandboxOf(version.pod))
    return said !== undefined && lacksObject(said.pod)
  }
  let ownMs = 0
  let userMs = 0
  const isUsers = () => userMs > 0 && userMs >= ownMs
  for (let atMs = fromMs; atMs < end.atMs; atMs += secondMs) {
    const isAbsent = lacked(atMs)
    // The time is up at the start of this second.
    if (isAbsent ? atMs - fromMs >= timeoutMs && isUsers() : ownMs >= timeoutMs) return isAbsent ? 'user error' : 'bad'
    const passedMs = Math.min(secondMs, end.atMs - atMs)
    if (isAbsent) userMs += passedMs
    else ownMs += passedMs
  }
  if (end.kind === 'still waiting') return 'nothing'
  if (isUsers()) return 'user error'
  // A pod that is ready at the last moment is in time. One that is removed then is not.
  if (end.kind === 'gone' && ownMs >= timeoutMs) return 'bad'
  if (ownMs >= thresholdMs) return 'bad'
  return end.kind === 'ready' ? 'good' : 'nothing'
}
