import { Agent, type ClientRequest, type ClientRequestArgs, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { unanswered, unsent } from './failure.ts'
import type { Answer, Wire, WireRequest } from './wire.ts'

/** An agent whose connections are opened by `open`: with TLS and proxies, which Node's agent does not support. */
class DialingAgent extends Agent {
  readonly #open: () => Promise<Socket>

  constructor(open: () => Promise<Socket>, maxSockets: number) {
    super({ keepAlive: true, maxSockets })
    this.#open = open
  }

  override createConnection(
    _options: ClientRequestArgs,
    opened?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    this.#open().then(
      (socket) => opened!(null, socket),
      (error: Error) => opened!(error, undefined as never),
    )
  }

  /** Stops keeping connections for further requests. */
  retire(): void {
    this.maxFreeSockets = 0
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}

/** Maximum number of connections for short requests; each watch has its own. */
const maxShortConnections = 32

/** HTTP/1.1: one connection per pending request, reused by later ones. */
export class Http1Wire implements Wire {
  readonly #short: DialingAgent
  readonly #long: DialingAgent
  /** Host and port. */
  readonly #host: string

  constructor(host: string, open: () => Promise<Socket>) {
    this.#host = host
    this.#short = new DialingAgent(open, maxShortConnections)
    this.#long = new DialingAgent(open, Number.POSITIVE_INFINITY)
  }

  start({ method, path, headers, body, isLong }: WireRequest, answer: Answer): () => void {
    let isOver = false
    let isSent = false
    let request: ClientRequest
    const fail = (error: Error) => {
      if (isOver) return
      isOver = true
      answer.fail(isSent ? unanswered(error) : unsent(error))
    }
    try {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      request = sendRequest({
        agent: isLong ? this.#long : this.#short,
        method,
        path,
        headers: { ...headers, host: this.#host, ...length },
      })
    } catch (e) {
      // An invalid header. Deferred until the caller has the function to cancel.
      queueMicrotask(() => fail(e as Error))
      return () => (isOver = true)
    }
    request.on('socket', () => (isSent = true))
    request.on('error', fail)
    request.on('response', (response) => {
      if (!isOver) answer.head(response.statusCode ?? 0, response.headers)
      response.on('data', (chunk: Buffer) => {
        if (!isOver) answer.data(chunk)
      })
      response.on('end', () => {
        if (isOver) return
        isOver = true
        answer.end()
      })
      response.on('error', fail)
      response.on('close', () => fail(new Error('the connection was closed before the answer was complete')))
    })
    request.end(body)
    return () => {
      if (isOver) return
      isOver = true
      request.destroy()
    }
  }

  /** Lets pending requests finish. */
  retire(): void {
    this.#short.retire()
    this.#long.retire()
  }

  close(): void {
    this.#short.destroy()
    this.#long.destroy()
  }
}
