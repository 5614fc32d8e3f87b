import type { Clock } from '../base/clock.ts'
import { type Client, type ResourceType, apiVersionOf, isNotFound } from '../client/index.ts'

/** A kind may be added to a cluster at any time. */
const askAgainMs = 5 * 60_000
const retryMs = 5000

/**
 * Calls `found` for each kind as soon as the server serves it. Discovery is by group and version, which every server
 * supports. Ends when the returned function is called.
 */
export function followServed(
  client: Client,
  kinds: readonly ResourceType[],
  clock: Clock,
  found: (kind: ResourceType) => void,
): () => void {
  const stopping = new AbortController()
  const cancels = new Set<() => void>()
  const versions = new Set(kinds.map(apiVersionOf))
  const later = (delayMs: number, ask: () => void) => {
    const cancel = clock.after(delayMs, () => {
      cancels.delete(cancel)
      ask()
    })
    cancels.add(cancel)
  }
  const ask = async (version: string, wanted: readonly ResourceType[]): Promise<void> => {
    let missing = wanted
    let delayMs = askAgainMs
    try {
      const path = version.includes('/') ? `/apis/${version}` : `/api/${version}`
      const { resources = [] } = await client.transport.send<{ resources?: { name: string }[] }>({
        method: 'GET',
        path,
        signal: stopping.signal,
      })
      const names = new Set(resources.map(({ name }) => name))
      missing = wanted.filter(({ plural }) => !names.has(plural))
      if (!stopping.signal.aborted) for (const kind of wanted) if (!missing.includes(kind)) found(kind)
    } catch (e) {
      if (!isNotFound(e)) delayMs = retryMs
    }
    if (missing.length > 0 && !stopping.signal.aborted) later(delayMs, () => void ask(version, missing))
  }
  for (const version of versions)
    void ask(
      version,
      kinds.filter((kind) => apiVersionOf(kind) === version),
    )
  return () => {
    stopping.abort()
    for (const cancel of cancels) cancel()
  }
}
