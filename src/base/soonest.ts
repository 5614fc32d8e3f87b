/** The least of the times that are known; undefined if none is. */
export function soonest(...times: (number | undefined)[]): number | undefined {
  let least: number | undefined
  for (const ms of times) if (ms !== undefined && (least === undefined || ms < least)) least = ms
  return least
}
