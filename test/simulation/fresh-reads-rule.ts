import { type Call, describe, keyOfCall } from './call.ts'
import type { Invariant } from './invariant.ts'
import type { Change, Truth } from './truth.ts'

/**
 * A read without a version has a version at least as new as everything that was committed when the request arrived, at
 * every server.
 */
export const readsAreFresh = (): Invariant => ({
  name: 'a read shows what was committed before it',
  happened({ outcome, ...call }, { truth }) {
    if (!call.asksNewest || call.subresource || call.arrivedAtRevision === undefined || !outcome) return undefined
    const missed = newestBefore(truth, call, call.arrivedAtRevision)
    if (!missed) return undefined
    const seen = Number(outcome.object?.metadata?.resourceVersion ?? 0)
    // A removed object is missing in the response too. It may have been created again meanwhile.
    const isShown = outcome.error ? !call.name || isGoneSince(truth, call, missed) : seen >= missed.revision || (call.name !== '' && !missed.after)
    return isShown ? undefined : `${describe({ ...call, outcome })} arrives at revision ${call.arrivedAtRevision}, and is answered with ${outcome.error?.message ?? seen}, before ${missed.revision}`
  },
})

/** The newest change at a revision that the response must include. */
function newestBefore(truth: Truth, call: Omit<Call, 'outcome'>, revision: number): Change | undefined {
  const keys = call.name ? [keyOfCall(call)] : [...truth.keys(call.plural)].filter((key) => call.namespace === '' || key.startsWith(`${call.namespace}/`))
  let newest: Change | undefined
  for (const key of keys) {
    const last = truth.changesOf(call.plural, key).findLast((change) => change.revision <= revision)
    if (last && last.revision > (newest?.revision ?? 0)) newest = last
  }
  return newest
}

/** An error may report a missing object or an unknown outcome. Only the former can be wrong. */
function isGoneSince(truth: Truth, call: Omit<Call, 'outcome'>, { after, revision }: Change): boolean {
  return !after || truth.changesOf(call.plural, keyOfCall(call)).some((change) => change.revision > revision && !change.after)
}
