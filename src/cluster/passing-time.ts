import type { VirtualClock } from '../base/virtual-clock.ts'

/** Resolves when everything has happened that needs no time to pass: a turn of the event loop comes after all microtasks. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Lets time pass timer by timer: what follows from one has happened before the next one runs. */
export async function passTime(clock: VirtualClock, ms: number): Promise<void> {
  const endMs = clock.now() + ms
  await settled()
  for (let at = clock.nextAtMs; at !== undefined && at <= endMs; at = clock.nextAtMs) {
    clock.advance(Math.max(0, at - clock.now()))
    await settled()
  }
  clock.advance(Math.max(0, endMs - clock.now()))
  await settled()
}
