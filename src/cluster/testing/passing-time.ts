import type { VirtualClock } from '../../base/virtual-clock.ts'

/** Resolves in a later turn of the event loop, after all work that needs no time. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Advances the clock timer by timer, and completes the consequences of each timer before the next one runs. */
export const passTime = (clock: VirtualClock, ms: number): Promise<void> => clock.pass(ms, settled)
