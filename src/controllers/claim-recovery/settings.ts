import type { StatefulSet } from '../../api/generated/types.ts'
import { claimRecovery, claimRecoveryAfter } from '../../api/kinds/claim-recovery.ts'
import { parseDuration } from '../../base/duration.ts'

/** What a set asks for. */
export type Settings = { kind: 'off' } | { kind: 'on'; afterMs: number } | { kind: 'invalid'; problem: string }

const defaultAfterMs = 300_000
/** Conditions have whole seconds: within less, a sandbox could come and go unseen. */
const shortestAfterMs = 5000

export function settingsOf({ metadata: { annotations = {} } }: Pick<StatefulSet, 'metadata'>): Settings {
  const { [claimRecovery]: wanted, [claimRecoveryAfter]: after } = annotations
  if (wanted === undefined) return { kind: 'off' }
  if (wanted !== 'recreate') return invalid(claimRecovery, wanted, 'must be "recreate"')
  if (after === undefined) return { kind: 'on', afterMs: defaultAfterMs }
  const afterMs = parseDuration(after)
  return afterMs !== undefined && afterMs >= shortestAfterMs ? { kind: 'on', afterMs } : invalid(claimRecoveryAfter, after, 'must be a duration like 5m or 90s, of at least 5s')
}

const invalid = (name: string, value: string, problem: string): Settings => ({ kind: 'invalid', problem: `metadata.annotations[${name}]: Invalid value: ${JSON.stringify(value)}: ${problem}` })
