/** Returns the minimum of the defined times; undefined if there is none. */
export function soonest(...times: (number | undefined)[]): number | undefined {
  let least: number | undefined
  for (const ms of times) if (ms !== undefined && (least === undefined || ms < least)) least = ms
  return least
}
