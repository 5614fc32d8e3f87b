/** One piece of a window, as `/slo` tells it. */
export interface Piece {
  events: number
  bad: number
}

/** A line of a plot. Times are in seconds since the epoch. */
export interface Series {
  times: number[]
  values: (number | null)[]
}

/** The end of each piece of a window that ends now, in seconds since the epoch. */
const ends = (count: number, windowMs: number, atMs: number): number[] =>
  Array.from({ length: count }, (_, i) => (atMs - (windowMs * (count - 1 - i)) / count) / 1000)

/**
 * The rate at which the error budget was spent in each piece: 1 spends it in exactly the objective's window. Null where
 * nothing happened.
 */
export const burnRates = (pieces: readonly Piece[], windowMs: number, atMs: number, objective: number): Series => ({
  times: ends(pieces.length, windowMs, atMs),
  values: pieces.map(({ events, bad }) => (events === 0 ? null : bad / events / (1 - objective))),
})

/** The share of the error budget that was left after each piece. The budget is that of all events of the window. */
export function budgetLeft(pieces: readonly Piece[], windowMs: number, atMs: number, objective: number): Series {
  const allowed = pieces.reduce((sum, { events }) => sum + events, 0) * (1 - objective)
  let spent = 0
  const values = pieces.map(({ bad }) => (allowed === 0 ? 1 : 1 - (spent += bad) / allowed))
  return { times: ends(pieces.length, windowMs, atMs), values }
}
