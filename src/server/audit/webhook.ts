import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { AuditBackend } from './sink.ts'

/** Posts a JSON body. Resolves with the status code of the response; rejects if there is none. */
type Post = (body: Buffer) => Promise<number>

interface WebhookOptions {
  post: Post
  clock: Clock
  random: Random
  /** The delay before the first retry. Each further delay is 1.5 times the one before. */
  initialBackoffMs: number
}

/** The maximum number of attempts for a batch. */
const attempts = 5

/** Sends batches of events as an EventList to an HTTP server. */
export function webhookBackend({ post, clock, random, initialBackoffMs }: WebhookOptions): AuditBackend {
  let isClosing = false
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  return {
    name: 'webhook',
    async write(texts) {
      const body = Buffer.from(
        `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${texts.join(',')}]}`,
      )
      let delayMs = initialBackoffMs
      for (let attempt = 1; ; attempt++) {
        const problem = await problemOf(post, body)
        if (!problem) return
        if (!problem.isTransient || attempt === attempts || isClosing) throw problem.error
        await wait(delayMs * (1 + 0.2 * random.next()))
        delayMs *= 1.5
      }
    },
    async close() {
      isClosing = true
    },
  }
}

interface Problem {
  error: Error
  /** True if a retry may succeed. */
  isTransient: boolean
}

async function problemOf(post: Post, body: Buffer): Promise<Problem | undefined> {
  try {
    const code = await post(body)
    if (code >= 200 && code < 300) return undefined
    return { error: new Error(`the audit webhook answered with ${code}`), isTransient: code === 429 || code >= 500 }
  } catch (e) {
    return { error: e as Error, isTransient: true }
  }
}
