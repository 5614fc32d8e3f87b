import type { StatefulSet } from '../../api/generated/types.ts'
import { claimRecovery, claimRecoveryAfter, claimRecoveryLimit, claimRecoveryRetained } from '../../api/kinds/claim-recovery.ts'
import { parseDuration } from '../../base/duration.ts'
import { hasUnreadableRecovery, stateAnnotation } from './recovery.ts'
import { triesAnnotation, triesOf } from './tries.ts'

export interface Terms {
  afterMs: number
  /** How often pods of the set may be made anew without success. */
  limit: number
  /** True if claims may go whose volumes stay behind (Retain). */
  allowsRetained: boolean
}

/** The mode that a set asks for. `observe` decides in the same way as `on`, tells it, and deletes nothing. */
export type Settings = { kind: 'off' } | ({ kind: 'on' | 'observe' } & Terms) | { kind: 'invalid'; problem: string }

const defaultAfterMs = 300_000
/** Conditions have whole seconds: within less, a sandbox could come and go unseen. */
const shortestAfterMs = 5000
const defaultLimit = 10
const notOurs = 'must be as the controller wrote it. Nothing is deleted until it is removed'

/** Reads the annotations of a set. Records that cannot be read make it invalid, so that nothing is deleted. */
export function settingsOf(set: Pick<StatefulSet, 'metadata'>): Settings {
  const { annotations = {} } = set.metadata
  const { [claimRecovery]: wanted, [claimRecoveryAfter]: after, [claimRecoveryLimit]: limit, [claimRecoveryRetained]: retained } = annotations
  if (wanted === undefined) return { kind: 'off' }
  if (wanted !== 'recreate' && wanted !== 'observe') return invalid(claimRecovery, wanted, 'must be "recreate" or "observe"')
  const afterMs = after === undefined ? defaultAfterMs : parseDuration(after)
  if (afterMs === undefined || afterMs < shortestAfterMs) return invalid(claimRecoveryAfter, after, 'must be a duration like 5m or 90s, of at least 5s')
  if (limit !== undefined && !/^[1-9]\d{0,5}$/.test(limit)) return invalid(claimRecoveryLimit, limit, 'must be a number greater than 0')
  if (retained !== undefined && retained !== 'recreate') return invalid(claimRecoveryRetained, retained, 'must be "recreate"')
  if (!triesOf(set)) return invalid(triesAnnotation, annotations[triesAnnotation], notOurs)
  if (hasUnreadableRecovery(set)) return invalid(stateAnnotation, annotations[stateAnnotation], notOurs)
  return {
    kind: wanted === 'recreate' ? 'on' : 'observe',
    afterMs,
    limit: limit === undefined ? defaultLimit : Number(limit),
    allowsRetained: retained !== undefined,
  }
}

const invalid = (name: string, value = '', problem: string): Settings => ({ kind: 'invalid', problem: `metadata.annotations[${name}]: Invalid value: ${JSON.stringify(value)}: ${problem}` })
