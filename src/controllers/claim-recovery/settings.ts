import type { StatefulSet } from '../../api/generated/types.ts'
import {
  claimRecovery,
  claimRecoveryAfter,
  claimRecoveryLimit,
  claimRecoveryRetained,
} from '../../api/kinds/workloads/claim-recovery.ts'
import { parseDuration } from '../../base/duration.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import { isFields } from '../../api/object.ts'

/**
 * The annotation of a set with the number of unsuccessful recoveries per pod, and the time of the last. Removing it
 * resets them.
 */
export const triesAnnotation = 'coxswain.dev/claim-recovery-tries'

/** By pod name. */
export type Tries = Readonly<Record<string, { count: number; at: string }>>

const longestWaitMs = 3_600_000
/** The number of waits after which a healthy pod is reset. */
const forgivenAfterWaits = 10

/** The recorded tries of a set. Undefined if they cannot be parsed, because the number is then unknown. */
export function triesOf({ metadata }: Pick<StatefulSet, 'metadata'>): Tries | undefined {
  try {
    const tries: unknown = JSON.parse(metadata.annotations?.[triesAnnotation] || '{}')
    const isReadable = isFields(tries) && Object.values(tries as Tries).every(isTried)
    return isReadable ? (tries as Tries) : undefined
  } catch {
    return undefined // another component has written it
  }
}

function isTried(one: Partial<Tries[string]> | null): boolean {
  return Number.isSafeInteger(one?.count) && one!.count! > 0 && !Number.isNaN(millisecondsOf(String(one!.at)))
}

/** The time before the next recovery of a pod: 5m, 10m, 20m, 40m, 1h, 1h … */
export const waitMs = (afterMs: number, count: number): number =>
  Math.min(afterMs * 2 ** Math.min(count, 30), Math.max(afterMs, longestWaitMs))

/** The number of recoveries of a pod, unless it was healthy for long up to `wellUntilMs`. */
export function countOf(tries: Tries, pod: string, wellUntilMs: number, afterMs: number): number {
  const { count, at } = tries[pod] ?? { count: 0, at: '' }
  return count > 0 && wellUntilMs - millisecondsOf(at) >= forgivenAfterWaits * waitMs(afterMs, count) ? 0 : count
}

/**
 * The annotation of a set with its current recovery. It is written before any action, so that the next process
 * continues with the same pod.
 */
export const stateAnnotation = 'coxswain.dev/claim-recovery-state'

export interface Recovery {
  pod: string
  uid: string
  /** The time at which the trouble began. */
  since: string
  /** The UIDs of the claims to delete, by name. Empty if only the pod is deleted. */
  claims: Readonly<Record<string, string>>
}

/** The recorded recovery of a set. Undefined if there is none, or it cannot be parsed. */
export function recoveryOf({ metadata }: Pick<StatefulSet, 'metadata'>): Recovery | undefined {
  const text = metadata.annotations?.[stateAnnotation]
  if (!text) return undefined
  try {
    const { pod, uid, since, claims } = JSON.parse(text) as Partial<Record<keyof Recovery, unknown>>
    const isReadable =
      [pod, uid, since].every(isText) &&
      typeof claims === 'object' &&
      claims !== null &&
      Object.values(claims).every(isText)
    return isReadable ? ({ pod, uid, since, claims } as Recovery) : undefined
  } catch {
    return undefined // another component has written it
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** True if the record cannot be parsed: a recovery of an unknown pod may be in progress. */
export const hasUnreadableRecovery = (set: Pick<StatefulSet, 'metadata'>): boolean =>
  Boolean(set.metadata.annotations?.[stateAnnotation]) && recoveryOf(set) === undefined

/** The text of the record. Empty for none. */
export const stateText = (recovery: Recovery | undefined): string => (recovery ? JSON.stringify(recovery) : '')

export const hasClaims = ({ claims }: Recovery): boolean => Object.keys(claims).length > 0

export interface Terms {
  afterMs: number
  /** The maximum number of unsuccessful recoveries of a set. */
  limit: number
  /** True if claims may be deleted whose volumes are retained. */
  allowsRetained: boolean
}

/** The mode of a set. `observe` makes the same decisions as `on` and reports them, but deletes nothing. */
export type Settings = { kind: 'off' } | ({ kind: 'on' | 'observe' } & Terms) | { kind: 'invalid'; problem: string }

const defaultAfterMs = 300_000
/** Conditions have a resolution of one second: within less time, a sandbox could become ready and fail unnoticed. */
const shortestAfterMs = 5000
const defaultLimit = 10
const notOurs = 'must be as the controller wrote it. Nothing is deleted until it is removed'

/** Parses the annotations of a set. Records that cannot be parsed make it invalid, so that nothing is deleted. */
export function settingsOf(set: Pick<StatefulSet, 'metadata'>): Settings {
  const { annotations = {} } = set.metadata
  const {
    [claimRecovery]: wanted,
    [claimRecoveryAfter]: after,
    [claimRecoveryLimit]: limit,
    [claimRecoveryRetained]: retained,
  } = annotations
  if (wanted === undefined) return { kind: 'off' }
  if (wanted !== 'recreate' && wanted !== 'observe') {
    return invalid(claimRecovery, wanted, 'must be "recreate" or "observe"')
  }
  const afterMs = after === undefined ? defaultAfterMs : parseDuration(after)
  if (afterMs === undefined || afterMs < shortestAfterMs) {
    return invalid(claimRecoveryAfter, after, 'must be a duration like 5m or 90s, of at least 5s')
  }
  if (limit !== undefined && !/^[1-9]\d{0,5}$/.test(limit)) {
    return invalid(claimRecoveryLimit, limit, 'must be a number greater than 0')
  }
  if (retained !== undefined && retained !== 'recreate') {
    return invalid(claimRecoveryRetained, retained, 'must be "recreate"')
  }
  if (!triesOf(set)) return invalid(triesAnnotation, annotations[triesAnnotation], notOurs)
  if (hasUnreadableRecovery(set)) return invalid(stateAnnotation, annotations[stateAnnotation], notOurs)
  return {
    kind: wanted === 'recreate' ? 'on' : 'observe',
    afterMs,
    limit: limit === undefined ? defaultLimit : Number(limit),
    allowsRetained: retained !== undefined,
  }
}

const invalid = (name: string, value = '', problem: string): Settings => ({
  kind: 'invalid',
  problem: `metadata.annotations[${name}]: Invalid value: ${JSON.stringify(value)}: ${problem}`,
})
