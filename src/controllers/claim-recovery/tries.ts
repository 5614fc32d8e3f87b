import type { StatefulSet } from '../../api/generated/types.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

/** On a set: how often its pods were made anew without success, and when last. Whoever removes it lets it begin again. */
export const triesAnnotation = 'coxswain.dev/claim-recovery-tries'

/** By the pod's name. */
export type Tries = Readonly<Record<string, { count: number; at: string }>>

const longestWaitMs = 3_600_000
/** A pod that was well for so many times its wait begins anew. */
const forgivenAfterWaits = 10

/** The tries that are written on a set. Nonsense is undefined: nobody knows how often its pods were made anew. */
export function triesOf({ metadata }: Pick<StatefulSet, 'metadata'>): Tries | undefined {
  try {
    const tries: unknown = JSON.parse(metadata.annotations?.[triesAnnotation] || '{}')
    const isReadable = typeof tries === 'object' && tries !== null && !Array.isArray(tries) && Object.values(tries).every(isTried)
    return isReadable ? (tries as Tries) : undefined
  } catch {
    return undefined // it was written by somebody else
  }
}

function isTried(one: Partial<Tries[string]> | null): boolean {
  return Number.isSafeInteger(one?.count) && one!.count! > 0 && !Number.isNaN(millisecondsOf(String(one!.at)))
}

/** How long a pod has before it is made anew for the next time: 5m, 10m, 20m, 40m, 1h, 1h … */
export const waitMs = (afterMs: number, count: number): number => Math.min(afterMs * 2 ** Math.min(count, 30), Math.max(afterMs, longestWaitMs))

/** How often a pod was made anew, the last time not long before `wellUntilMs`, until when it was well. */
export function countOf(tries: Tries, pod: string, wellUntilMs: number, afterMs: number): number {
  const { count, at } = tries[pod] ?? { count: 0, at: '' }
  return count > 0 && wellUntilMs - millisecondsOf(at) >= forgivenAfterWaits * waitMs(afterMs, count) ? 0 : count
}
