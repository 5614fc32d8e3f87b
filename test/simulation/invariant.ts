import type { Call, CallListener } from './call.ts'
import type { Change } from './truth.ts'
import type { World } from './world.ts'

/** A rule that was broken. */
export interface Violation {
  invariant: string
  text: string
}

/** Says what is wrong, if something is. */
export type Verdict = string | undefined

/** Something that must hold all the time, and something that must hold in the end. A fresh one watches each run. */
export interface Invariant {
  readonly name: string
  /** A write leaves its sender, reaches the server, has happened, was answered. */
  sent?(call: Call, world: World): Verdict
  arrived?(call: Call, world: World): Verdict
  happened?(call: Call, world: World): Verdict
  answered?(call: Call, world: World): Verdict
  /** Something was committed. */
  changed?(change: Change, world: World): Verdict
  /** After every step. */
  afterStep?(world: World): Verdict
  /** Asked when faults have stopped: what the world still lacks to be as it should. Once nothing is lacking, it must stay so. */
  unfinished?(world: World): Verdict
  /** When all is done. */
  atEnd?(world: World): Verdict
}

/** Passes what calls do on to the invariants. */
export const listening = (world: World, invariants: readonly Invariant[]): CallListener => {
  const tell = (event: 'sent' | 'arrived' | 'happened' | 'answered') => {
    const concerned = invariants.filter((i) => i[event])
    return (call: Call) => {
      for (const invariant of concerned) world.judge(invariant.name, invariant[event]!(call, world))
    }
  }
  return { sent: tell('sent'), arrived: tell('arrived'), happened: tell('happened'), answered: tell('answered') }
}
