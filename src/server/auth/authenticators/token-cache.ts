import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Identified, TokenReader } from '../authenticate.ts'

export interface TokenCacheOptions {
  clock: Clock
  /** How long an accepted token is not asked about again. */
  acceptedMs: number
  /** The same for a refused one. */
  refusedMs: number
  /** Default: 4096. */
  most?: number
}

interface Entry {
  found: Identified | undefined
  untilMs: number
}

/**
 * Remembers the answers of a reader that is expensive. Requests with the same token at the same time share one answer.
 * Tokens are kept as keyed hashes, never themselves.
 */
export function cachedTokens(reader: TokenReader, options: TokenCacheOptions): TokenReader {
  const { clock, acceptedMs, refusedMs, most = 4096 } = options
  const key = randomBytes(32)
  const known = new Map<string, Entry>()
  const asking = new Map<string, Promise<Identified | undefined>>()
  const remember = (id: string, found: Identified | undefined) => {
    const keepMs = found ? acceptedMs : refusedMs
    if (keepMs <= 0) return
    // The oldest goes first: entries are in the order of their making.
    if (known.size >= most) known.delete(known.keys().next().value!)
    known.set(id, { found, untilMs: clock.now() + keepMs })
  }
  return (token, wanted) => {
    const id = createHmac('sha256', key).update(JSON.stringify([token, ...wanted])).digest('base64')
    const entry = known.get(id)
    if (entry && clock.now() < entry.untilMs) return entry.found
    if (entry) known.delete(id)
    const under = asking.get(id)
    if (under) return under
    const found = reader(token, wanted)
    // A reader that answers at once has said that the token is not its own, which costs nothing to find out again.
    if (!(found instanceof Promise)) return found
    const asked = found.then(
      (answer) => {
        remember(id, answer)
        return answer
      },
    ).finally(() => asking.delete(id))
    asking.set(id, asked)
    return asked
  }
}
