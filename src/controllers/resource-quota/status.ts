import type { ResourceQuota, ResourceQuotaStatus } from '../../api/generated/types.ts'
import { pick } from '../../api/kinds/amounts.ts'
import type { ResourceList } from '../../api/kinds/resource-names.ts'
import { compareQuantity } from '../../api/quantity.ts'
import { type Doubt, type Memory, type Observed, countEveryMs, isUrgent, namesOf } from './observe.ts'

/** How long a difference may be due to a cache that is behind, from the last change of the quota on. */
const patienceMs = 10_000
/** A cache that has come up meanwhile is found out at this pace, if no change of its objects says so before. */
const recheckMs = 1000

/** What is used by the count; of what nobody counts, what was said before. */
const usedBy = ({ quota }: Observed, counted: ResourceList): ResourceList => pick({ ...quota.status?.used, ...counted }, namesOf(quota))

/** Names of which the status says something else. */
function differences(seen: Observed, counted: ResourceList): string[] {
  const [told = {}, used] = [seen.quota.status?.used, usedBy(seen, counted)]
  const isOther = (name: string) => told[name] === undefined || used[name] === undefined || compareQuantity(told[name], used[name]) !== 0
  return [...new Set([...Object.keys(told), ...Object.keys(used)])].filter(isOther)
}

/**
 * What a look at a quota comes to. The server charges an object before it makes it, and caches of two kinds do not move together: that a status is wrong
 * is `doubtful` for a while.
 */
export type Finding = { kind: 'not counted' | 'right' | 'wrong' } | { kind: 'doubtful'; doubt: Doubt; forMs: number }

export function findingOf(seen: Observed): Finding {
  const { quota, nowMs, remembered, counted, countedEarly } = seen
  if (!counted) return { kind: 'not counted' }
  if (isUrgent(quota)) return { kind: 'wrong' }
  const names = differences(seen, counted)
  if (names.length === 0) return { kind: 'right' }
  const doubt = doubtOf(quota, nowMs, remembered?.doubt)
  const isLess = (name: string) => compareQuantity(counted[name] ?? '0', quota.status?.used?.[name] ?? '0') < 0
  // What went or shrank shows in a cache that is newer than the last charge; only what is being made may still be missing there.
  const isPlain = names.every((name) => isLess(name) && !countedEarly.has(name))
  const untilMs = Math.min(doubt.versionSinceMs + patienceMs, isPlain ? doubt.sinceMs + countEveryMs : Infinity)
  return nowMs >= untilMs ? { kind: 'wrong' } : { kind: 'doubtful', doubt, forMs: isPlain ? untilMs - nowMs : Math.min(recheckMs, untilMs - nowMs) }
}

function doubtOf({ metadata }: ResourceQuota, nowMs: number, known: Doubt | undefined): Doubt {
  const version = metadata.resourceVersion ?? ''
  return { sinceMs: known?.sinceMs ?? nowMs, version, versionSinceMs: known?.version === version ? known.versionSinceMs : nowMs }
}

/** What the next look is to know. */
export function remember(seen: Observed): Memory | undefined {
  const finding = findingOf(seen)
  if (finding.kind === 'not counted') return seen.remembered
  return { countedAtMs: seen.nowMs, doubt: finding.kind === 'doubtful' ? finding.doubt : undefined }
}

/** What the quota holds and what is used of it. */
export function statusOf(seen: Observed): ResourceQuotaStatus {
  const { quota, counted } = seen
  if (findingOf(seen).kind !== 'wrong') return quota.status ?? {}
  return { hard: { ...quota.spec?.hard }, used: usedBy(seen, counted!) }
}
