import { setFlagsFromString } from 'node:v8'

/** Waits for SIGTERM or SIGINT, then stops cleanly; a second signal ends at once. */
export async function runUntilStopped(running: { stop(): Promise<void> }): Promise<void> {
  // V8's default, which `start.ts` has changed for as long as the start took.
  setFlagsFromString('--semi-space-growth-factor=2')
  await new Promise<void>((resolve) => {
    const stop = () => {
      process.once('SIGTERM', () => process.exit(1))
      process.once('SIGINT', () => process.exit(1))
      resolve()
    }
    process.once('SIGTERM', stop)
    process.once('SIGINT', stop)
  })
  await running.stop()
  process.exit(0)
}

/** Says in one line why a start failed, in words that tell what to do. */
export function explainStartError(e: unknown, port: number, flag = '--secure-port'): Error {
  const error = e instanceof Error ? e : new Error(String(e))
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') return new Error(`port ${port} is already in use: choose another with ${flag}, or 0 for a free one`)
  if (code === 'EACCES' && (error as NodeJS.ErrnoException).syscall === 'listen') return new Error(`port ${port} may not be used: choose another with ${flag}`)
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL') return new Error(`--bind-address: ${error.message}`)
  return error
}
