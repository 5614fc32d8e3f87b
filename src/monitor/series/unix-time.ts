/** A time of the API as Prometheus has it; undefined where there is none. */
export function unixTime(text: string | null | undefined): number | undefined {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms / 1000
}
