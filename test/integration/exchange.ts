import { Readable } from 'node:stream'
import { readJson } from '../../src/api/json/index.ts'
import { type Body, type Exchange, isAsync, wholeBody } from '../../src/server/http/exchange/exchange.ts'
import type { Sink } from '../../src/server/http/watch/watch-chunks.ts'

export type Headers = Record<string, string | string[]>

export interface Sent {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Buffer
  /** The name and groups of the client's certificate; `null` is a client without one. */
  user?: { commonName: string; organizations: string[] } | null
}

/** A complete response. */
export interface Answer {
  code: number
  headers: Headers
  text: string
}

/** A request and its answer without a socket. The answer is `answered`, or goes on in `lines`. */
export class MemoryExchange implements Exchange {
  readonly method: string
  readonly url: string
  readonly certificate: Exchange['certificate']
  readonly upgrade = undefined
  readonly #headers: Record<string, string>
  readonly #body: Buffer
  readonly #abort = new AbortController()
  readonly answered: Promise<Answer>
  #answer!: (answer: Answer) => void
  readonly #received: Buffer[] = []
  #resume: () => void = () => {}
  /** Bytes the client has left unread; it reads everything at once unless told otherwise. */
  #unread = 0
  isReading = true
  isEnded = false
  isDestroyed = false

  constructor(sent: Sent) {
    this.method = sent.method
    this.url = sent.url
    this.#headers = sent.headers ?? {}
    this.#body = sent.body ?? Buffer.alloc(0)
    this.certificate = sent.user === null ? undefined : (sent.user ?? { commonName: 'tester', organizations: ['system:masters'] })
    this.answered = new Promise((resolve) => (this.#answer = resolve))
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    return this.#headers[name]
  }

  headersLike(prefix: string): string[] {
    return Object.keys(this.#headers).filter((name) => name.startsWith(prefix))
  }

  async readBody(): Promise<Buffer> {
    return this.#body
  }

  bodyStream(): Readable {
    return Readable.from([this.#body])
  }

  respond(code: number, headers: Headers, body: Body): void {
    const answer = (pieces: readonly Buffer[]) => {
      const bytes = Buffer.concat(pieces)
      const { length = bytes.length } = body
      if (bytes.length !== length) throw new Error(`a body of ${bytes.length} bytes was announced with ${length}`)
      this.#answer({ code, headers, text: bytes.toString() })
      this.isEnded = true
    }
    if (isAsync(body.pieces)) void collect(body.pieces).then((pieces) => answer(pieces))
    else answer([...body.pieces])
  }

  stream(code: number, headers: Headers): Sink {
    this.#answer({ code, headers, text: '' })
    return {
      write: ({ lines }) => {
        this.#received.push(lines)
        if (!this.isReading) this.#unread += lines.length
      },
      backlog: () => this.#unread,
      onDrain: (resume) => (this.#resume = resume),
      end: () => {
        this.isEnded = true
        this.#abort.abort()
      },
    }
  }

  forward(code: number, headers: Headers, source: Readable): void {
    void source.toArray().then((pieces: Buffer[]) => this.respond(code, headers, wholeBody(Buffer.concat(pieces))))
  }

  destroy(): void {
    this.isDestroyed = true
    this.#abort.abort()
    this.#answer({ code: 0, headers: {}, text: '' })
  }

  /** The client hangs up. */
  hangUp(): void {
    this.#abort.abort()
  }

  /** The client reads what it has left, and goes on reading. */
  readOn(): void {
    this.isReading = true
    this.#unread = 0
    this.#resume()
  }

  /** The lines of a stream so far; each is told once. */
  takeLines(): unknown[] {
    const text = Buffer.concat(this.#received.splice(0)).toString()
    return text.split('\n').filter((line) => line !== '').map(readJson)
  }
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}
