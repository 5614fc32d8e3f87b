import type { Pod, ResourceQuota } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { addTo } from '../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../api/kinds/quantities/resource-names.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type QuotaEvaluator, evaluatorOf, totalUsage, uncountedAtMs } from '../../api/quota/index.ts'
import { type ResourceType, type SharedInformer, builtInResources, pods } from '../../client/index.ts'
import { type ObserveContext, allIn } from '../kit/index.ts'

/** The shortest time between two counts. Changes arrive in bursts, and a count traverses all objects. */
export const countEveryMs = 100
const mostEveryMs = 5000
/** A count of 10,000 pods takes about 10 ms: at most once a second that is 1 % of a core. */
const perMs = 10

/** The time from a count of so many objects to the next one. */
const pauseAfter = (objects: number): number => Math.min(mostEveryMs, Math.max(countEveryMs, objects / perMs))

/** A kind that quotas can limit. */
export interface CountedKind {
  type: ResourceType
  evaluator: QuotaEvaluator
}

/** All countable kinds, each in one version. */
export const countedKinds: readonly CountedKind[] = builtInResources.flatMap((type, at) => {
  const isFirst =
    builtInResources.findIndex(({ group, plural }) => group === type.group && plural === type.plural) === at
  const evaluator = type.namespaced && isFirst ? evaluatorOf(type.group, type.plural) : undefined
  return evaluator ? [{ type, evaluator }] : []
})

export const namesOf = ({ spec }: ResourceQuota): string[] => Object.keys(spec?.hard ?? {})

/** The result of an earlier reconcile. */
export interface Memory {
  countedAtMs: number
  /** The shortest time until the next count. */
  pauseMs: number
  /** Set while the status differs from the count. */
  doubt: Doubt | undefined
}

/** A difference between a status and a count. */
export interface Doubt {
  sinceMs: number
  /** The version of the quota at the last reconcile, and its first observation. */
  version: string
  versionSinceMs: number
}

export interface Observed {
  quota: ResourceQuota
  nowMs: number
  remembered: Memory | undefined
  /**
   * True if the status does not match the spec, which prevents all requests from being checked: it is updated at once.
   */
  isUrgent: boolean
  /** Undefined if the last count is too recent. */
  counted: ResourceList | undefined
  /** Names that were counted in caches older than the quota, which may lack the last charge. */
  countedEarly: ReadonlySet<string>
  /** The shortest time until the next count, by the number of counted objects. */
  pauseMs: number
  /** The time at which a terminating pod stops to count. */
  nextEndMs: number | undefined
}

/**
 * Reports whether requests wait for the status, because its limits differ from the spec, or it lacks the usage of these
 * kinds.
 */
export function isUrgent({ spec, status }: ResourceQuota, kinds: readonly CountedKind[]): boolean {
  const [wanted, told] = [spec?.hard ?? {}, status?.hard ?? {}]
  const names = Object.keys(wanted)
  if (names.length !== Object.keys(told).length) return true
  const isCounted = (name: string) => kinds.some(({ evaluator }) => evaluator.uses(name))
  return names.some((name) => told[name] !== wanted[name] || (status?.used?.[name] === undefined && isCounted(name)))
}

/** The objects of one kind in a quota's namespace, and the cache that has them. */
export interface CachedObjects {
  objects: readonly KubeObject[]
  informer: Pick<SharedInformer, 'hasSynced' | 'lastSyncResourceVersion'>
}

/** Counts the usage of a quota in its namespace, for `kinds`. `cached` returns undefined for a kind without a cache. */
export function count(
  { quota, nowMs, remembered }: Pick<Observed, 'quota' | 'nowMs' | 'remembered'>,
  kinds: readonly CountedKind[],
  cached: (kind: CountedKind, namespace: string) => CachedObjects | undefined,
): Observed {
  const urgent = isUrgent(quota, kinds)
  const isDue = !remembered || urgent || nowMs - remembered.countedAtMs >= remembered.pauseMs
  const seen = { quota, nowMs, remembered, isUrgent: urgent }
  if (!isDue) {
    const { pauseMs } = remembered
    return { ...seen, counted: undefined, countedEarly: new Set(), pauseMs, nextEndMs: undefined }
  }
  const names = namesOf(quota)
  const counted: ResourceList = {}
  const countedEarly = new Set<string>()
  let nextEndMs: number | undefined
  let read = 0
  for (const kind of kinds) {
    if (!names.some((name) => kind.evaluator.uses(name))) continue
    const found = cached(kind, quota.metadata.namespace ?? '')
    if (!found) continue
    const {
      objects,
      informer: { hasSynced, lastSyncResourceVersion },
    } = found
    read += objects.length
    const total = totalUsage(quota, names, kind.evaluator, objects, nowMs)
    addTo(counted, total)
    const isEarly =
      hasSynced && compareResourceVersions(lastSyncResourceVersion, quota.metadata.resourceVersion ?? '') < 0
    if (isEarly) for (const name in total) countedEarly.add(name)
    if (kind.type === pods) nextEndMs = firstEndMs(objects as readonly Pod[], nowMs)
  }
  return { ...seen, counted, countedEarly, pauseMs: pauseAfter(read), nextEndMs }
}

function firstEndMs(pods: readonly Pod[], nowMs: number): number | undefined {
  let firstMs: number | undefined
  for (const pod of pods) {
    const atMs = uncountedAtMs(pod)
    if (atMs !== undefined && atMs >= nowMs && atMs < (firstMs ?? Infinity)) firstMs = atMs
  }
  return firstMs
}

/** Counts the usage of built-in kinds. */
export const observe = ({ caches, nowMs, remembered }: ObserveContext, quota: ResourceQuota): Observed =>
  count({ quota, nowMs, remembered: remembered as Memory | undefined }, countedKinds, ({ type }, namespace) =>
    caches.covers(type, namespace) ? { objects: allIn(caches, type, namespace), informer: caches.of(type) } : undefined,
  )
