import { deepEqual } from '../../api/deep-equal.ts'
import { soonest } from '../../base/soonest.ts'
import type { Outcome, Step } from '../kit/index.ts'
import { type Judgement, differenceOf, stockCondition } from './judge.ts'
import type { PublishedKind } from './kinds.ts'
import { type Published, type Workload, publishedIn } from './view.ts'
import type { WorkloadStatus } from './workload-status.ts'

/** State of a workload between two reconciles. After a restart it is derived from the stored objects. */
export interface Memory {
  last: Published
  /** Time of the last write to the workload's status. */
  writtenAtMs: number
  /** Number of times the owner has removed the published conditions since their content last changed. */
  losses: number
  /** Set once another manager was found for conditions of the same types: the status is left alone. */
  contested: Contest | undefined
  /** True once conditions of the same types were taken from another manager. */
  wasForced: boolean
  /** State of the evaluating controller. */
  inner: unknown
}

/** A refused apply, because conditions of the same types have another manager. */
interface Contest {
  /** The published types that the status had. */
  types: readonly string[]
  atMs: number
}

export interface Observed {
  kind: PublishedKind
  workload: Workload
  judgement: Judgement
  /** Undefined if companions are disabled or not served. */
  companion: { stored: WorkloadStatus | undefined; name: string | undefined } | undefined
  memory: Memory | undefined
  nowMs: number
}

export type Action =
  | { kind: 'PublishStatus'; conditions: Published['conditions']; wasForced: boolean; wasContested: boolean }
  | { kind: 'PublishCompanion'; name: string; published: Published }

/** Minimum interval between writes that only change messages of a workload. */
const wordsEveryMs = 1000
/** Delay before publishing again what the owner removed. It doubles with each loss, up to five minutes. */
const lossMs = 100
const maxLossMs = 300_000
/** The time after which a status that had another manager is tried again. */
const contestMs = 3_600_000

/** Decides what to write; nothing if everything is up to date. Pure. */
export function plan(seen: Observed): Step<Action> {
  const { kind, judgement, companion } = seen
  const status = statusDue(seen)
  const actions: Action[] =
    status?.waitMs === 0
      ? [
          {
            kind: 'PublishStatus',
            conditions: judgement.conditions,
            wasForced: seen.memory?.wasForced ?? false,
            wasContested: seen.memory?.contested !== undefined,
          },
        ]
      : []
  const published = { conditions: judgement.conditions, state: judgement.state }
  const isKept = companion && deepEqual(publishedIn(companion.stored, kind), published)
  let companionWaitMs: number | undefined
  if (companion && !isKept) {
    if (companion.name === undefined) companionWaitMs = wordsEveryMs
    else actions.push({ kind: 'PublishCompanion', name: companion.name, published })
  }
  const waitMs = status && status.waitMs > 0 ? status.waitMs : undefined
  return { actions, ...requeue(soonest(judgement.changesInMs, waitMs, companionWaitMs)) }
}

const requeue = (ms: number | undefined): { requeueAfterMs?: number } =>
  ms === undefined ? {} : { requeueAfterMs: ms }

/** Returns the time until the workload's status must be written; undefined if it is up to date or not ours to write. */
function statusDue({ kind, workload, judgement, memory, nowMs }: Observed): { waitMs: number } | undefined {
  if (kind.way === 'companion') return undefined
  const difference = differenceOf(workload.status?.conditions, judgement.conditions.map(stockCondition))
  if (difference === 'none') return undefined
  if (!memory) return { waitMs: 0 }
  if (memory.contested) return { waitMs: contestLeftMs(memory.contested, workload, nowMs) }
  const agoMs = Math.max(0, nowMs - memory.writtenAtMs)
  if (isLost(memory, judgement)) return { waitMs: Math.max(0, lossDelayMs(memory.losses) - agoMs) }
  return { waitMs: difference === 'state' ? 0 : Math.max(0, wordsEveryMs - agoMs) }
}

/** The time until a contested status is tried again: at once if the other manager has removed one of its conditions. */
function contestLeftMs({ types, atMs }: Contest, { status }: Workload, nowMs: number): number {
  const isThere = (type: string) => status?.conditions?.some((condition) => condition.type === type)
  return types.every(isThere) ? Math.max(0, atMs + contestMs - nowMs) : 0
}

/** Returns true if the missing conditions were already published, without newer content. */
const isLost = ({ last }: Memory, { conditions }: Judgement): boolean => deepEqual(last.conditions, conditions)

const lossDelayMs = (losses: number): number => (losses === 0 ? 0 : Math.min(maxLossMs, lossMs * 2 ** (losses - 1)))

/** Returns the state for the next reconcile. */
export function remember({ judgement, memory, workload, nowMs }: Observed, { done, answers }: Outcome<Action>): Memory {
  const written = done.find(({ kind }) => kind === 'PublishStatus')
  const answer = written && answers?.get(written)
  const isRepeated = written !== undefined && memory !== undefined && isLost(memory, judgement)
  const losses = written
    ? isRepeated && nowMs - memory.writtenAtMs < 2 * maxLossMs
      ? memory.losses + 1
      : 0
    : (memory?.losses ?? 0)
  return {
    last: { conditions: judgement.conditions, state: judgement.state },
    writtenAtMs: written ? nowMs : (memory?.writtenAtMs ?? Number.NEGATIVE_INFINITY),
    losses,
    contested:
      answer === 'contested'
        ? { types: typesIn(workload, judgement), atMs: nowMs }
        : written
          ? undefined
          : memory?.contested,
    wasForced: memory?.wasForced || answer === 'forced',
    inner: judgement.memory,
  }
}

/** The types of a judgement's conditions that the stored status has as well. */
const typesIn = ({ status }: Workload, { conditions }: Judgement): string[] =>
  conditions.map(({ type }) => type).filter((type) => status?.conditions?.some((stored) => stored.type === type))
