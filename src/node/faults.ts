import type { Pod } from '../api/generated/types.ts'
import { parseDuration } from '../base/duration.ts'

/**
 * Where something can go wrong on a node. `csi` is the part of one volume's driver, `sandbox` that of the runtime handler,
 * `network` that of network and address. `sandbox-crash` ends a sandbox that is ready.
 */
export type Stage = 'volumes' | 'csi' | 'network' | 'sandbox' | 'sandbox-crash' | 'image' | 'container' | 'heartbeat' | 'memory-pressure' | 'disk-pressure' | 'pid-pressure'

/** Who is at a stage. */
export interface Subject {
  node: string
  /** Undefined for the node itself. */
  pod: Pod | undefined
  /** Undefined where it is about the whole pod. */
  container: string | undefined
  /** The driver of a volume, at the stage `csi`. */
  driver?: string | undefined
}

/** What happens at a stage: it takes so much longer, and then fails, where there is a message. */
export interface Fault {
  delayMs?: number
  fail?: string
}

/** Asked each time a stage is entered, retries included; undefined where nothing is wrong. */
export interface Faults {
  at(stage: Stage, subject: Subject): Fault | undefined
  /** Tells when faults may have begun that meet what is there already, until the answered function is called. */
  watch?(listener: () => void): () => void
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
    watch(listener) {
      const ends = plans.map((plan) => plan.watch?.(listener))
      return () => ends.forEach((end) => end?.())
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
