import type { Pod } from '../api/generated/types.ts'
import { parseDuration } from '../base/duration.ts'

/**
 * The stages at which a fault can be injected. `csi` is the part of one volume's driver, `sandbox` that of the runtime
 * handler, `network` the network and address. `sandbox-crash` ends a ready sandbox.
 */
export type Stage =
  | 'volumes'
  | 'csi'
  | 'network'
  | 'sandbox'
  | 'sandbox-crash'
  | 'image'
  | 'container'
  | 'heartbeat'
  | 'memory-pressure'
  | 'disk-pressure'
  | 'pid-pressure'

/** The subject of a stage. */
export interface Subject {
  node: string
  /** Undefined if the stage concerns the node itself. */
  pod: Pod | undefined
  /** Undefined if the stage concerns the whole pod. */
  container: string | undefined
  /** The driver of the volume, at the stage `csi`. */
  driver?: string | undefined
}

/** An injected fault: a delay, then a failure if there is a message. */
export interface Fault {
  delayMs?: number
  fail?: string
}

/** Called for every stage, retries included. Returns undefined if there is no fault. */
export interface Faults {
  at(stage: Stage, subject: Subject): Fault | undefined
  /** Calls `listener` when faults may have begun that affect running pods, until the returned function is called. */
  watch?(listener: () => void): () => void
}

export const noFaults: Faults = { at: () => undefined }

/** Combines plans: delays add up, and the first failure wins. */
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

/**
 * The faults of a pod's annotations: `coxswain.dev/simulate-delay-STAGE: 9s` and `coxswain.dev/simulate-fail-STAGE:
 * message`.
 */
export const annotationFaults: Faults = {
  at(stage, { pod }) {
    const annotations = pod?.metadata.annotations
    if (!annotations) return undefined
    const delayMs = parseDuration(annotations[`coxswain.dev/simulate-delay-${stage}`])
    const fail = annotations[`coxswain.dev/simulate-fail-${stage}`]
    return delayMs === undefined && fail === undefined
      ? undefined
      : { delayMs: delayMs ?? 0, ...(fail ? { fail } : {}) }
  },
}
