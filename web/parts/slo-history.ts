/** One part of a window, from `/slo`. */
export interface Piece {
  events: number
  bad: number
}

/** A line of a plot. Times are in seconds since the epoch. */
export interface Series {
  times: number[]
  values: (number | null)[]
}

/** The end of each part of a window that ends now, in seconds since the epoch. */
const ends = (count: number, windowMs: number, atMs: number): number[] =>
  Array.from({ length: count }, (_, i) => (atMs - (windowMs * (count - 1 - i)) / count) / 1000)

/**
 * The burn rate in each part: 1 spends the error budget in exactly the objective's window. Null if a part has no
 * events.
 */
export const burnRates = (pieces: readonly Piece[], windowMs: number, atMs: number, objective: number): Series => ({
  times: ends(pieces.length, windowMs, atMs),
  values: pieces.map(({ events, bad }) => (events === 0 ? null : bad / events / (1 - objective))),
})

/** The remaining share of the error budget after each part. The budget is computed from all events of the window. */
export function budgetLeft(pieces: readonly Piece[], windowMs: number, atMs: number, objective: number): Series {
  const allowed = pieces.reduce((sum, { events }) => sum + events, 0) * (1 - objective)
  let spent = 0
  const values = pieces.map(({ bad }) => (allowed === 0 ? 1 : 1 - (spent += bad) / allowed))
  return { times: ends(pieces.length, windowMs, atMs), values }
}
