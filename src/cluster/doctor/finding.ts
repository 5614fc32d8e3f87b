import type { LocalServer, LocalStatus } from '../serving/local-door.ts'
import type { StoreOptions } from '../serving/open-store.ts'

/** The result of a check. A `warning` works now; a `problem` does not, or is about to stop working. */
export interface Finding {
  check: string
  level: 'ok' | 'warning' | 'problem'
  message: string
  /** A remedy, in one sentence. */
  help?: string
}

/** Flags of the server to examine, running or not. */
export interface DoctorOptions extends StoreOptions {
  bindAddress: string
  securePort: number
  nowMs: number
}

/** The input of every check. */
export interface Patient extends DoctorOptions {
  /** The server that uses the data directory, and its status. */
  running: { server: LocalServer; status: LocalStatus } | undefined
}

/** One check, which may return any number of findings. Never throws for the state of the system that it examines. */
export type Check = (patient: Patient) => Promise<Finding[]> | Finding[]

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message })
export const warning = (check: string, message: string, help: string): Finding => ({
  check,
  level: 'warning',
  message,
  help,
})
export const problem = (check: string, message: string, help: string): Finding => ({
  check,
  level: 'problem',
  message,
  help,
})

export const dayMs = 24 * 3_600_000

/** Formats a number of bytes. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toPrecision(3))} ${units[power]}`
}
