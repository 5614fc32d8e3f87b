/** The minimum level of messages that are logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

/** Writes one JSON object per line. Lines of a child logger contain the fields of the child. */
export class Logger {
  readonly #write: (line: string) => void
  readonly #level: number
  readonly #fields: Record<string, unknown>
  readonly #now: () => number

  constructor(
    write: (line: string) => void,
    level: LogLevel = 'info',
    fields: Record<string, unknown> = {},
    now: () => number = Date.now,
  ) {
    this.#write = write
    this.#level = order[level]
    this.#fields = fields
    this.#now = now
  }

  child(fields: Record<string, unknown>): Logger {
    const level = (Object.keys(order) as LogLevel[]).find((l) => order[l] === this.#level)!
    return new Logger(this.#write, level, { ...this.#fields, ...fields }, this.#now)
  }

  debug(message: string, fields?: Record<string, unknown>): void {
    this.#log('debug', message, fields)
  }

  info(message: string, fields?: Record<string, unknown>): void {
    this.#log('info', message, fields)
  }

  warn(message: string, fields?: Record<string, unknown>): void {
    this.#log('warn', message, fields)
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.#log('error', message, fields)
  }

  isEnabled(level: LogLevel): boolean {
    return order[level] >= this.#level
  }

  #log(level: LogLevel, message: string, fields: Record<string, unknown> | undefined): void {
    if (!this.isEnabled(level)) return
    this.#write(
      `${JSON.stringify({ time: new Date(this.#now()).toISOString(), level, msg: message, ...this.#fields, ...fields }, asText)}\n`,
    )
  }
}

/** Serializes errors and unsafe integers, which JSON cannot represent. */
const asText = (_key: string, value: unknown) =>
  value instanceof Error ? (value.stack ?? value.message) : typeof value === 'bigint' ? String(value) : value

/** Discards all messages. */
export const silentLogger = new Logger(() => {})
