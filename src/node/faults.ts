import type { Pod } from '../api/generated/types.ts'
import { parseDuration } from '../base/duration.ts'

/** Where something can go wrong on a node. `sandbox` is the runtime handler's part, `network` that of network and address. */
export type Stage = 'volumes' | 'network' | 'sandbox' | 'image' | 'container' | 'heartbeat' | 'memory-pressure' | 'disk-pressure' | 'pid-pressure'

/** Who is at a stage. */
export interface Subject {
  node: string
  /** Undefined for the node itself. */
  pod: Pod | undefined
  /** Undefined where it is about the whole pod. */
  container: string | undefined
}

/** What happens at a stage: it takes so much longer, and then fails, where there is a message. */
export interface Fault {
  delayMs?: number
  fail?: string
}

/** Asked each time a stage is entered, retries included; undefined where nothing is wrong. */
export interface Faults {
  at(stage: Stage, subject: Subject): Fault | undefined
}

export const noFaults: Faults = { at: () => undefined }

/** Several plans at once: delays add up, the first failure is the one that is told. */
export function allOf(...plans: readonly Faults[]): Faults {
  return {
    at(stage, subject) {
      let fault: Fault | undefined
      for (const plan of plans) {
        const next = plan.at(stage, subject)
        if (next) fault = { delayMs: (fault?.delayMs ?? 0) + (next.delayMs ?? 0), fail: fault?.fail ?? next.fail }
      }
      return fault
    },
  }
}

/** What pods ask for themselves: `coxswain.dev/simulate-delay-STAGE: 9s` and `coxswain.dev/simulate-fail-STAGE: message`. */
export const annotationFaults: Faults = {
  at(stage, { pod }) {
    const annotations = pod?.metadata.annotations
    if (!annotations) return undefined
    const delayMs = parseDuration(annotations[`coxswain.dev/simulate-delay-${stage}`])
    const fail = annotations[`coxswain.dev/simulate-fail-${stage}`]
    return delayMs === undefined && fail === undefined ? undefined : { delayMs: delayMs ?? 0, ...(fail ? { fail } : {}) }
  },
}
