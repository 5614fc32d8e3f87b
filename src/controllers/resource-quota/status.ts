import type { ResourceQuotaStatus } from '../../api/generated/types.ts'
import { pick } from '../../api/kinds/amounts.ts'
import type { ResourceList } from '../../api/kinds/resource-names.ts'
import { compareQuantity } from '../../api/quantity.ts'
import { type Memory, type Observed, countEveryMs, isUrgent, namesOf } from './observe.ts'

/** What is used by the count; of what nobody counts, what was said before. */
const usedBy = ({ quota }: Observed, counted: ResourceList): ResourceList => pick({ ...quota.status?.used, ...counted }, namesOf(quota))

function isSame(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => b[name] !== undefined && compareQuantity(a[name]!, b[name]) === 0)
}

/** Since when the status has said something else than the count; undefined if it is right, as far as is known. */
function wrongSinceMs(seen: Observed): number | undefined {
  const { quota, nowMs, remembered, counted } = seen
  if (!counted) return remembered?.wrongSinceMs
  return isSame(quota.status?.used ?? {}, usedBy(seen, counted)) ? undefined : (remembered?.wrongSinceMs ?? nowMs)
}

/** What a look at the quota comes to. It is `doubtful` for a while that a status is wrong: the server charges an object before it makes it. */
export type Finding = 'not counted' | 'right' | 'doubtful' | 'wrong'

export function findingOf(seen: Observed): Finding {
  if (!seen.counted) return 'not counted'
  if (isUrgent(seen.quota)) return 'wrong'
  const sinceMs = wrongSinceMs(seen)
  if (sinceMs === undefined) return 'right'
  return seen.nowMs - sinceMs >= countEveryMs ? 'wrong' : 'doubtful'
}

/** What the next look is to know. */
export function remember(seen: Observed): Memory | undefined {
  const finding = findingOf(seen)
  if (finding === 'not counted') return seen.remembered
  return { countedAtMs: seen.nowMs, wrongSinceMs: finding === 'doubtful' ? wrongSinceMs(seen) : undefined }
}

/** What the quota holds and what is used of it. */
export function statusOf(seen: Observed): ResourceQuotaStatus {
  const { quota, counted } = seen
  if (findingOf(seen) !== 'wrong') return quota.status ?? {}
  return { hard: { ...quota.spec?.hard }, used: usedBy(seen, counted!) }
}
