import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ClientGone, type Exchange } from '../http/exchange/exchange.ts'
import { join } from '../http/node/node-relay.ts'

/** The connection timeout. There is no timeout for the response. */
const connectMs = 10_000

/** The start of a response. */
export interface Answered {
  response: IncomingMessage
  /** The connection, if the server has agreed to an upgrade. */
  socket?: Duplex
}

/** Forwarded requests that have not completed. */
export class PassedOn {
  /** Functions that end open requests. */
  readonly #open = new Set<() => void>()

  /** Sends the body of a request and waits for the response to start. `failed` formats a connection error. */
  ask(exchange: Exchange, request: ClientRequest, failed: (error: NodeJS.ErrnoException) => Error): Promise<Answered> {
    return new Promise((resolve, reject) => {
      limitConnecting(request)
      request.once('response', (response) => resolve({ response }))
      request.once('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ response, socket })
      })
      request.on('error', (error: NodeJS.ErrnoException) =>
        reject(exchange.signal.aborted ? new ClientGone() : failed(error)),
      )
      if (exchange.upgrade) return void request.end()
      const body = exchange.bodyStream()
      body.on('error', () => request.destroy())
      body.pipe(request)
    })
  }

  /** Streams a response to the client. Returns its status code. */
  answer(exchange: Exchange, { response, socket }: Answered, headers: Record<string, string | string[]>): number {
    if (socket) {
      join(
        exchange,
        response,
        socket,
        this.#remember(() => socket.destroy()),
      )
      return 101
    }
    response.once(
      'close',
      this.#remember(() => response.destroy()),
    )
    const code = response.statusCode ?? 502
    exchange.forward(code, headers, response)
    return code
  }

  /** Ends all open requests. */
  end(): void {
    for (const end of this.#open) end()
  }

  #remember(end: () => void): () => void {
    this.#open.add(end)
    return () => void this.#open.delete(end)
  }
}

function limitConnecting(request: ClientRequest): void {
  const timer = setTimeout(
    () => request.destroy(Object.assign(new Error('i/o timeout'), { syscall: 'connect' })),
    connectMs,
  )
  request.once('socket', (socket) => socket.once('connect', () => clearTimeout(timer)))
  request.once('close', () => clearTimeout(timer))
}
