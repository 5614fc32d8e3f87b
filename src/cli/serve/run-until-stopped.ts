import { setFlagsFromString } from 'node:v8'

interface Stoppable {
  stop(): Promise<void>
  isSmall?: boolean
  /** Resolves if it cannot go on. */
  failed?: Promise<unknown>
}

/** Time for a clean stop after a failure. */
const failureGraceMs = 10_000

/**
 * Waits for SIGTERM or SIGINT, then stops cleanly; a second signal exits immediately. After a failure it stops, too,
 * with exit code 1, so that a supervisor starts it again. V8's space for new objects may grow from now on, unless
 * `isSmall`.
 */
export async function runUntilStopped(running: Stoppable): Promise<void> {
  // Restores V8's default, which `start.ts` changed for the duration of the start.
  if (!running.isSmall) setFlagsFromString('--semi-space-growth-factor=2')
  const hasFailed = await new Promise<boolean>((resolve) => {
    void running.failed?.then(() => resolve(true))
    const stop = () => {
      process.once('SIGTERM', () => process.exit(1))
      process.once('SIGINT', () => process.exit(1))
      resolve(false)
    }
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
  })
  const deadline = hasFailed ? setTimeout(() => process.exit(1), failureGraceMs) : undefined
  await running.stop()
  clearTimeout(deadline)
  process.exit(hasFailed ? 1 : 0)
}

/** Converts a start error to one line with a remedy. */
export function explainStartError(e: unknown, port: number, flag = '--secure-port'): Error {
  const error = e instanceof Error ? e : new Error(String(e))
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE')
    return new Error(`port ${port} is already in use: choose another with ${flag}, or 0 for a free one`)
  if (code === 'EACCES' && (error as NodeJS.ErrnoException).syscall === 'listen')
    return new Error(`port ${port} may not be used: choose another with ${flag}`)
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL') return new Error(`--bind-address: ${error.message}`)
  return error
}
