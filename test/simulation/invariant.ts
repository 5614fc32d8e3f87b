import type { Call, CallListener } from './call.ts'
import type { Change } from './truth.ts'
import type { World } from './world.ts'

/** A broken rule. */
export interface Violation {
  invariant: string
  text: string
}

/** The description of a violation. Undefined if there is none. */
export type Verdict = string | undefined

/** A rule that must always hold, and a state that must be reached in the end. Each run has a new instance. */
export interface Invariant {
  readonly name: string
  /** A write is sent, arrives, has taken effect, was answered. */
  sent?(call: Call, world: World): Verdict
  arrived?(call: Call, world: World): Verdict
  happened?(call: Call, world: World): Verdict
  answered?(call: Call, world: World): Verdict
  /** A change was committed. */
  changed?(change: Change, world: World): Verdict
  /** Called after every step. */
  afterStep?(world: World): Verdict
  /** Called after the faults: returns what is still missing. Once nothing is missing, that must not change. */
  unfinished?(world: World): Verdict
  /** Called at the end of the run. */
  atEnd?(world: World): Verdict
}

/** Forwards the events of calls to the invariants. */
export const listening = (world: World, invariants: readonly Invariant[]): CallListener => {
  const tell = (event: 'sent' | 'arrived' | 'happened' | 'answered') => {
    const concerned = invariants.filter((i) => i[event])
    return (call: Call) => {
      for (const invariant of concerned) world.judge(invariant.name, invariant[event]!(call, world))
    }
  }
  return { sent: tell('sent'), arrived: tell('arrived'), happened: tell('happened'), answered: tell('answered') }
}
