/** Returns the minimum of the defined times; undefined if there is none. */
export const soonest = (...times: (number | undefined)[]): number | undefined => soonestOf(times)

/** The same for any number of times: beyond about 120,000 arguments a call fails. */
export function soonestOf(times: Iterable<number | undefined>): number | undefined {
  let least: number | undefined
  for (const ms of times) if (ms !== undefined && (least === undefined || ms < least)) least = ms
  return least
}
