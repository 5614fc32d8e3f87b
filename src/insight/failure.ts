import { ApiError } from '../api/errors.ts'

/** The exit codes of the commands for users, as docs/commands.md has them. */
export const exitCodes = {
  ok: 0,
  error: 1,
  /** It waits: for a person, a time or what every pod goes through. */
  waits: 2,
  /** Something is wrong that does not end by itself, or has ended badly. */
  trouble: 3,
  /** The first --or of `wait`; the next ones count on. */
  firstAlternative: 10,
  timedOut: 124,
  interrupted: 130,
} as const

/** A command ends with this error and exit code. The message stands behind `error: `. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.error) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** What kubectl says where a kind is not served. */
export const noResourceType = (text: string): CommandError =>
  new CommandError(`the server doesn't have a resource type ${JSON.stringify(text)}`)

/** Whether the server does not know the path, as opposed to the object. */
export const isUnknownPath = (e: unknown): boolean => e instanceof ApiError && e.code === 404 && !e.details?.name

/** Whether a read failed because the server does not serve it, or not to this user. */
export const isNotReadable = (e: unknown): e is ApiError =>
  e instanceof ApiError && (e.code === 403 || e.code === 404 || e.code === 405)
