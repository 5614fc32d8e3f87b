import type { CoreV1Event, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

/** What a node, or who attaches volumes for it, says when a volume cannot be had. */
const volumeReasons = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'])
/** Sandboxes are made when all volumes are there. */
const sandboxReason = 'FailedCreatePodSandBox'
/** Nodes try again after at most 122 s: what was said longer ago may be over. */
const staleMs = 180_000

/** Events that say when they last happened. */
const lastMs = ({ lastTimestamp, eventTime, series }: CoreV1Event): number =>
  Math.max(...[lastTimestamp, eventTime, series?.lastObservedTime].map((time) => millisecondsOf(time) || 0))

/** A claim, and what the pod calls it. */
export interface NamedClaim {
  claim: PersistentVolumeClaim
  volume: string
}

/**
 * Which of a pod's claims keep its sandbox from getting ready, and how that is known; `events` are those about the pod. A claim without a volume says so itself. Otherwise
 * the node must have complained of its volume, not long ago and of nothing else since: where a config map is missing the last complaint names another volume, and where
 * there is no network all volumes are there.
 */
export function volumeTroubles<T extends NamedClaim>(claims: readonly T[], events: readonly CoreV1Event[], nowMs: number): (T & { cause: string })[] {
  const complaints = events.filter(({ reason }) => reason === sandboxReason || volumeReasons.has(reason ?? '')).toSorted((a, b) => lastMs(b) - lastMs(a))
  const isAbout = (event: CoreV1Event, { claim, volume }: NamedClaim) => event.reason !== sandboxReason && namesVolume(event.message ?? '', volume, claim.spec.volumeName)
  const other = complaints.find((event) => !claims.some((one) => isAbout(event, one)))
  const sinceMs = Math.max(other ? lastMs(other) + 1 : 0, nowMs - staleMs)
  return claims.flatMap((one) => {
    const newest = complaints.find((event) => lastMs(event) >= sinceMs && isAbout(event, one))
    const cause = unbound(one.claim) ?? (newest && `${newest.reason}: ${newest.message}`)
    return cause === undefined ? [] : [{ ...one, cause }]
  })
}

function unbound({ metadata: { name }, status }: PersistentVolumeClaim): string | undefined {
  if (status?.phase === 'Lost') return `claim ${name} has lost its volume`
  return status?.phase === 'Bound' ? undefined : `claim ${name} is not bound`
}

/** Volumes of claims are called by their name in the pod or by that of the volume that the claim has. */
function namesVolume(message: string, inPod: string, bound: string | undefined): boolean {
  // Another node has it: so somebody uses it.
  if (message.startsWith('Multi-Attach error')) return false
  const quoted = /\bvolume "([^"]+)"/.exec(message)?.[1]
  if (quoted !== undefined) return quoted === inPod || quoted === bound
  const unmounted = /\bunmounted volumes=\[([^\]]*)\]/.exec(message)?.[1]
  return unmounted?.split(/[ ,]+/).includes(inPod) ?? false
}
