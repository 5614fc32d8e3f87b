import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { Identified, TokenReader } from '../authenticate.ts'

interface TokenCacheOptions {
  clock: Clock
  /** Cache lifetime of an accepted token. */
  acceptedMs: number
  /** Cache lifetime of a rejected token. */
  refusedMs: number
  /** Maximum number of entries. Default: 4096. */
  most?: number
}

interface Entry {
  found: Identified | undefined
  untilMs: number
}

/**
 * Caches the results of an expensive token reader. Concurrent requests with the same token share one call. Tokens are
 * stored as keyed hashes only.
 */
export function cachedTokens(reader: TokenReader, options: TokenCacheOptions): TokenReader {
  const { clock, acceptedMs, refusedMs, most = 4096 } = options
  const key = randomBytes(32)
  const known = new Map<string, Entry>()
  const asking = new Map<string, Promise<Identified | undefined>>()
  const remember = (id: string, found: Identified | undefined) => {
    const keepMs = found ? acceptedMs : refusedMs
    if (keepMs <= 0) return
    // Evicts the oldest entry: a Map iterates in insertion order.
    if (known.size >= most) known.delete(known.keys().next().value!)
    known.set(id, { found, untilMs: clock.now() + keepMs })
  }
  return (token, wanted) => {
    const id = createHmac('sha256', key)
      .update(JSON.stringify([token, ...wanted]))
      .digest('base64')
    const entry = known.get(id)
    if (entry && clock.now() < entry.untilMs) return entry.found
    if (entry) known.delete(id)
    const under = asking.get(id)
    if (under) return under
    const found = reader(token, wanted)
    // A synchronous result means that the token is not this reader's. Computing it again costs nothing.
    if (!(found instanceof Promise)) return found
    const asked = found
      .then((answer) => {
        remember(id, answer)
        return answer
      })
      .finally(() => asking.delete(id))
    asking.set(id, asked)
    return asked
  }
}
