const initialMs = 1000
const maxMs = 10_000

/** How long a pod waits that has been tried so often: one second, then twice as long each time, ten at most. */
export const backoffMs = (attempts: number): number => (attempts <= 0 ? 0 : Math.min(maxMs, initialMs * 2 ** Math.min(attempts - 1, 10)))
