import { constants } from 'node:os'

/** 128 and the signal's number for a process that a signal has ended, as shells and container runtimes have it. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
