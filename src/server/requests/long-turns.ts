import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { RequestKind } from './request-metrics.ts'

/** A part of a request that blocks the event loop for longer is logged and counted. */
const longTurnMs = 50

/** The parts of a request that run without yielding. Each stage of a long write is a part of its own. */
type TurnPart = 'parse' | 'decode' | 'read' | 'write' | 'answer' | 'document' | `write: ${string}`

/** The longest part of a request that blocked the event loop for more than the limit. */
export interface LongTurn {
  part: TurnPart
  ms: number
}

/** Records the longest turn of a request. It is undefined for nearly all requests. */
export interface NotesTurns {
  longTurn?: LongTurn | undefined
}

/** Runs a part of a request and records it if it blocked the event loop for too long. */
export function inOneTurn<T>(notes: NotesTurns, part: TurnPart, run: () => T): T {
  const started = performance.now()
  try {
    return run()
  } finally {
    const ms = performance.now() - started
    if (ms > longTurnMs && ms > (notes.longTurn?.ms ?? 0)) notes.longTurn = { part, ms }
  }
}

/** Reports requests that blocked the event loop, in the log and in a metric. */
export class LongTurns {
  readonly #logger: Logger
  readonly #total

  constructor(metrics: MetricsRegistry, logger: Logger) {
    this.#logger = logger
    this.#total = metrics.counter(
      'coxswain_long_turns_total',
      `Counter of requests that blocked the event loop for more than ${longTurnMs} ms, by verb, resource and part.`,
    )
  }

  tell({ part, ms }: LongTurn, kind: RequestKind, user: UserInfo | undefined, bytes: number, path?: string): void {
    const { verb, group, resource, subresource } = kind
    this.#total.with({ verb, group, resource, subresource, part }).inc()
    const names = { verb, group, resource, ...(subresource ? { subresource } : {}) }
    // A user name may be as long as a header, and a path as a URL, so the log truncates them.
    this.#logger.warn('a request blocked the event loop', {
      ...names,
      ...(path ? { path: path.slice(0, 256) } : {}),
      user: user?.name.slice(0, 256),
      bytes,
      part,
      ms: Math.round(ms),
    })
  }
}
