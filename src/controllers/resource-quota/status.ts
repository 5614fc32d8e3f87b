import type { ResourceQuota, ResourceQuotaStatus } from '../../api/generated/types.ts'
import { pick } from '../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../api/kinds/quantities/resource-names.ts'
import { compareQuantity } from '../../api/numbers/quantity.ts'
import { type Doubt, type Memory, type Observed, countEveryMs, namesOf } from './observe.ts'

/** The time after the last change of a quota during which a difference may be caused by a stale cache. */
const patienceMs = 10_000
/** The interval of checks for a cache that has become current without an event. */
const recheckMs = 1000

/** The counted usage, and the previous usage of names that are not counted. */
const usedBy = ({ quota }: Observed, counted: ResourceList): ResourceList =>
  pick({ ...quota.status?.used, ...counted }, namesOf(quota))

/** The names whose usage differs from the status. */
function differences(seen: Observed, counted: ResourceList): string[] {
  const [told = {}, used] = [seen.quota.status?.used, usedBy(seen, counted)]
  const isOther = (name: string) =>
    told[name] === undefined || used[name] === undefined || compareQuantity(told[name], used[name]) !== 0
  return [...new Set([...Object.keys(told), ...Object.keys(used)])].filter(isOther)
}

/**
 * The result of a reconcile. The server charges an object before it creates it, and the caches of two kinds are not
 * synchronized, so a difference is `doubtful` for a while.
 */
export type Finding = { kind: 'not counted' | 'right' | 'wrong' } | { kind: 'doubtful'; doubt: Doubt; forMs: number }

export function findingOf(seen: Observed): Finding {
  const { quota, nowMs, remembered, counted, countedEarly } = seen
  if (!counted) return { kind: 'not counted' }
  if (seen.isUrgent) return { kind: 'wrong' }
  const names = differences(seen, counted)
  if (names.length === 0) return { kind: 'right' }
  const doubt = doubtOf(quota, nowMs, remembered?.doubt)
  const isLess = (name: string) => compareQuantity(counted[name] ?? '0', quota.status?.used?.[name] ?? '0') < 0
  // A decrease is visible in a cache that is newer than the last charge. Only an increase may still be missing there.
  const isPlain = names.every((name) => isLess(name) && !countedEarly.has(name))
  const untilMs = Math.min(doubt.versionSinceMs + patienceMs, isPlain ? doubt.sinceMs + countEveryMs : Infinity)
  return nowMs >= untilMs
    ? { kind: 'wrong' }
    : { kind: 'doubtful', doubt, forMs: isPlain ? untilMs - nowMs : Math.min(recheckMs, untilMs - nowMs) }
}

function doubtOf({ metadata }: ResourceQuota, nowMs: number, known: Doubt | undefined): Doubt {
  const version = metadata.resourceVersion ?? ''
  return {
    sinceMs: known?.sinceMs ?? nowMs,
    version,
    versionSinceMs: known?.version === version ? known.versionSinceMs : nowMs,
  }
}

/** The memory for the next reconcile. */
export function remember(seen: Observed): Memory | undefined {
  const finding = findingOf(seen)
  if (finding.kind === 'not counted') return seen.remembered
  return {
    countedAtMs: seen.nowMs,
    pauseMs: seen.pauseMs,
    doubt: finding.kind === 'doubtful' ? finding.doubt : undefined,
  }
}

/** The limits and the usage. */
export function status(seen: Observed): ResourceQuotaStatus {
  const { quota, counted } = seen
  if (findingOf(seen).kind !== 'wrong') return quota.status ?? {}
  return { hard: { ...quota.spec?.hard }, used: usedBy(seen, counted!) }
}
