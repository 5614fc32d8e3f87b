/** A time as the API writes it: whole seconds, rounded down. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** The milliseconds of a time that the API wrote; NaN for what is none. */
export const millisecondsOf = (time: string | null | undefined): number => (!time ? Number.NaN : Date.parse(time))
