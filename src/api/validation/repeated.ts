/** The places of a list whose value stands before them already. It goes through the list once. */
export function repeatedPlaces(list: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const places = new Set<number>()
  for (const [i, value] of list.entries()) {
    if (seen.has(value)) places.add(i)
    else seen.add(value)
  }
  return places
}
