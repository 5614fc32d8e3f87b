import type { Pod, ResourceQuota } from '../../api/generated/types.ts'
import { addTo } from '../../api/kinds/amounts.ts'
import type { ResourceList } from '../../api/kinds/resource-names.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type QuotaEvaluator, evaluatorOf, totalUsage, uncountedAtMs } from '../../api/quota/index.ts'
import { type ResourceType, builtInResources, pods } from '../../client/index.ts'
import { type ObserveContext, allIn } from '../kit/index.ts'

/** How long a count stands before the next: changes come in swarms, and a count costs as much as there is to count. */
export const countEveryMs = 100

/** A kind whose objects quotas can hold. */
export interface CountedKind {
  type: ResourceType
  evaluator: QuotaEvaluator
}

/** Every kind that can be counted, each under one of its versions. */
export const countedKinds: readonly CountedKind[] = builtInResources.flatMap((type, at) => {
  const isFirst = builtInResources.findIndex(({ group, plural }) => group === type.group && plural === type.plural) === at
  const evaluator = type.namespaced && isFirst ? evaluatorOf(type.group, type.plural) : undefined
  return evaluator ? [{ type, evaluator }] : []
})

export const namesOf = ({ spec }: ResourceQuota): string[] => Object.keys(spec?.hard ?? {})

/** What was found at an earlier look. */
export interface Memory {
  countedAtMs: number
  /** Set while the status says something else than the count. */
  doubt: Doubt | undefined
}

/** A difference between a status and a count. */
export interface Doubt {
  sinceMs: number
  /** The version of the quota that was looked at last, and since when. */
  version: string
  versionSinceMs: number
}

export interface Observed {
  quota: ResourceQuota
  nowMs: number
  remembered: Memory | undefined
  /** Undefined if the last count is too young. */
  counted: ResourceList | undefined
  /** What was counted in caches that are older than the quota: what was charged last may not be there yet. */
  countedEarly: ReadonlySet<string>
  /** When a pod that is being deleted stops to count. */
  nextEndMs: number | undefined
}

const isCounted = (name: string): boolean => countedKinds.some(({ evaluator }) => evaluator.uses(name))

/** A status that does not answer the spec keeps requests from being judged at all: it cannot wait. */
export function isUrgent({ spec, status }: ResourceQuota): boolean {
  const [wanted, told] = [spec?.hard ?? {}, status?.hard ?? {}]
  const names = Object.keys(wanted)
  if (names.length !== Object.keys(told).length) return true
  return names.some((name) => told[name] !== wanted[name] || (status?.used?.[name] === undefined && isCounted(name)))
}

/** Counts what is used of a quota in its namespace. */
export function observe({ caches, nowMs, remembered }: ObserveContext, quota: ResourceQuota): Observed {
  const memory = remembered as Memory | undefined
  const isDue = !memory || isUrgent(quota) || nowMs - memory.countedAtMs >= countEveryMs
  if (!isDue) return { quota, nowMs, remembered: memory, counted: undefined, countedEarly: new Set(), nextEndMs: undefined }
  const namespace = quota.metadata.namespace ?? ''
  const names = namesOf(quota)
  const counted: ResourceList = {}
  const countedEarly = new Set<string>()
  let ends: number[] = []
  for (const { type, evaluator } of countedKinds) {
    if (!names.some((name) => evaluator.uses(name)) || !caches.covers(type, namespace)) continue
    const objects = allIn(caches, type, namespace)
    const total = totalUsage(quota, names, evaluator, objects, nowMs)
    addTo(counted, total)
    const { hasSynced, lastSyncResourceVersion } = caches.of(type)
    const isEarly = hasSynced && compareResourceVersions(lastSyncResourceVersion, quota.metadata.resourceVersion ?? '') < 0
    if (isEarly) for (const name in total) countedEarly.add(name)
    if (type === pods) ends = (objects as Pod[]).flatMap((pod) => uncountedAtMs(pod) ?? []).filter((atMs) => atMs >= nowMs)
  }
  return { quota, nowMs, remembered: memory, counted, countedEarly, nextEndMs: ends.length ? Math.min(...ends) : undefined }
}
