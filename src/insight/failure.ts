import { ApiError } from '../api/errors.ts'

/** The exit codes of the commands for users, as documented in docs/commands.md. */
export const exitCodes = {
  ok: 0,
  error: 1,
  /** The workload waits: for a person, a time, or a normal step of every pod. */
  waits: 2,
  /** A problem that does not resolve itself, or a failed end. */
  trouble: 3,
  /** The first `--or` of `wait`. The next ones count up. */
  firstAlternative: 10,
  timedOut: 124,
  interrupted: 130,
} as const

/** Ends a command with this message, after `error: `, and exit code. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.error) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** The message of kubectl for a kind that is not served. */
export const noResourceType = (text: string): CommandError =>
  new CommandError(`the server doesn't have a resource type ${JSON.stringify(text)}`)

/** Reports whether the server does not know the path, as opposed to the object. */
export const isUnknownPath = (e: unknown): boolean => e instanceof ApiError && e.code === 404 && !e.details?.name

/** Reports whether a read failed because the server does not serve it, or not to this user. */
export const isNotReadable = (e: unknown): e is ApiError =>
  e instanceof ApiError && (e.code === 403 || e.code === 404 || e.code === 405)
