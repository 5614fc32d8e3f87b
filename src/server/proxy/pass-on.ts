import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ClientGone } from '../http/client-gone.ts'
import type { Exchange } from '../http/exchange.ts'
import { join } from '../http/node-relay.ts'

/** How long another server may take to accept a connection. It may answer as late as it wants. */
const connectMs = 10_000

/** The beginning of another server's answer. */
export interface Answered {
  response: IncomingMessage
  /** The connection, where the other side has agreed to another protocol. */
  socket?: Duplex
}

/** Requests that were handed on, and whose answers have not ended. */
export class PassedOn {
  /** What ends those that are open. */
  readonly #open = new Set<() => void>()

  /** Sends the body of a request on, and waits for the answer to begin. `failed` words what went wrong. */
  ask(exchange: Exchange, request: ClientRequest, failed: (error: NodeJS.ErrnoException) => Error): Promise<Answered> {
    return new Promise((resolve, reject) => {
      limitConnecting(request)
      request.once('response', (response) => resolve({ response }))
      request.once('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ response, socket })
      })
      request.on('error', (error: NodeJS.ErrnoException) => reject(exchange.signal.aborted ? new ClientGone() : failed(error)))
      if (exchange.upgrade) return void request.end()
      const body = exchange.bodyStream()
      body.on('error', () => request.destroy())
      body.pipe(request)
    })
  }

  /** Hands an answer to the client, as it comes. Answers its code. */
  answer(exchange: Exchange, { response, socket }: Answered, headers: Record<string, string | string[]>): number {
    if (socket) {
      join(exchange, response, socket, this.#remember(() => socket.destroy()))
      return 101
    }
    response.once('close', this.#remember(() => response.destroy()))
    const code = response.statusCode ?? 502
    exchange.forward(code, headers, response)
    return code
  }

  /** Ends all that is open. */
  end(): void {
    for (const end of this.#open) end()
  }

  #remember(end: () => void): () => void {
    this.#open.add(end)
    return () => void this.#open.delete(end)
  }
}

function limitConnecting(request: ClientRequest): void {
  const timer = setTimeout(() => request.destroy(Object.assign(new Error('i/o timeout'), { syscall: 'connect' })), connectMs)
  request.once('socket', (socket) => socket.once('connect', () => clearTimeout(timer)))
  request.once('close', () => clearTimeout(timer))
}
