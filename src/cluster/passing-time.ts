import type { VirtualClock } from '../base/virtual-clock.ts'

/** Resolves when everything has happened that needs no time to pass: a turn of the event loop comes after all microtasks. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets time pass timer by timer: what follows from one has happened before the next one runs. */
export const passTime = (clock: VirtualClock, ms: number): Promise<void> => clock.pass(ms, settled)
