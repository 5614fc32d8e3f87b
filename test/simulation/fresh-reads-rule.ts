import { type Call, describe, keyOfCall } from './call.ts'
import type { Invariant } from './invariant.ts'
import type { Change, Truth } from './truth.ts'

/**
 * Whoever asks for no version in particular is answered with one that is at least as new as everything that was
 * committed when the request arrived, whichever server has committed it.
 */
export const readsAreFresh = (): Invariant => ({
  name: 'a read shows what was committed before it',
  happened({ outcome, ...call }, { truth }) {
    if (!call.asksNewest || call.subresource || call.arrivedAtRevision === undefined || !outcome) return undefined
    const missed = newestBefore(truth, call, call.arrivedAtRevision)
    if (!missed) return undefined
    const seen = Number(outcome.object?.metadata?.resourceVersion ?? 0)
    // What is gone is gone in the answer, too: who comes later may have made it anew.
    const isShown = outcome.error ? !call.name || isGoneSince(truth, call, missed) : seen >= missed.revision || (call.name !== '' && !missed.after)
    return isShown ? undefined : `${describe({ ...call, outcome })} arrives at revision ${call.arrivedAtRevision}, and is answered with ${outcome.error?.message ?? seen}, before ${missed.revision}`
  },
})

/** The newest change that a request must have seen that has arrived at a revision. */
function newestBefore(truth: Truth, call: Omit<Call, 'outcome'>, revision: number): Change | undefined {
  const keys = call.name ? [keyOfCall(call)] : [...truth.keys(call.plural)].filter((key) => call.namespace === '' || key.startsWith(`${call.namespace}/`))
  let newest: Change | undefined
  for (const key of keys) {
    const last = truth.changesOf(call.plural, key).findLast((change) => change.revision <= revision)
    if (last && last.revision > (newest?.revision ?? 0)) newest = last
  }
  return newest
}

/** An error says that something is not there, or that nobody knows: only the former can be wrong. */
function isGoneSince(truth: Truth, call: Omit<Call, 'outcome'>, { after, revision }: Change): boolean {
  return !after || truth.changesOf(call.plural, keyOfCall(call)).some((change) => change.revision > revision && !change.after)
}
