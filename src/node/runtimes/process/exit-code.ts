import { constants } from 'node:os'

/**
 * The exit code of a process. A process ended by a signal has 128 plus its number, as in shells and container runtimes.
 */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
