import { ApiError } from '../api/errors.ts'
import { TransportError } from '../client/index.ts'
import { CommandError, exitCodes } from '../insight/failure.ts'

/** Formats an error for stderr in kubectl's words. */
export function failureText(e: unknown): string {
  if (e instanceof ApiError) {
    if (e.code === 401) return 'error: You must be logged in to the server (Unauthorized)'
    return `Error from server${e.reason ? ` (${e.reason})` : ''}: ${e.message}`
  }
  const message = e instanceof Error ? e.message : String(e)
  return e instanceof TransportError ? `Unable to connect to the server: ${message}` : `error: ${message}`
}

export const exitCodeOf = (e: unknown): number => (e instanceof CommandError ? e.exitCode : exitCodes.error)
