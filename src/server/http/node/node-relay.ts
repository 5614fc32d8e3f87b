import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, badRequest } from '../../../api/errors.ts'
import type { KeyPair } from '../../auth/certificates.ts'
import type { NodePlace } from '../../registry/resource.ts'
import { ClientGone, type Exchange } from '../exchange/exchange.ts'
import { nodeRequest, unreachable } from './node-request.ts'

/** The time limit for a response from a node. */
const connectMs = 10_000

/** The maximum length of a node's error message. */
const mostErrorBytes = 2048

/** Relays requests to kubelets: logs, and connections into pods. It forwards bytes without interpreting them. */
export class NodeRelay {
  readonly #identity: KeyPair | undefined
  /** Functions that end open relays. */
  readonly #open = new Set<() => void>()

  /** Kubelets reject requests without this certificate. */
  constructor(identity: KeyPair | undefined) {
    this.#identity = identity
  }

  /** Resolves with the status code once the response has started. */
  async answer(exchange: Exchange, place: NodePlace, headers: Record<string, string>): Promise<number> {
    if (place.isConnection && !exchange.upgrade) throw badRequest('Upgrade request required')
    const { request, response, socket } = await this.#ask(exchange, place)
    if (socket) {
      join(
        exchange,
        response,
        socket,
        this.#remember(() => socket.destroy()),
      )
      return 101
    }
    if (response.statusCode! >= 400) throw await refusalOf(response)
    const forget = this.#remember(() => request.destroy())
    response.once('close', forget)
    exchange.forward(
      response.statusCode!,
      { ...headers, 'content-type': response.headers['content-type'] ?? 'text/plain' },
      response,
    )
    return response.statusCode!
  }

  /** Ends all open relays. */
  end(): void {
    for (const end of this.#open) end()
  }

  #remember(end: () => void): () => void {
    this.#open.add(end)
    return () => void this.#open.delete(end)
  }

  #ask(
    exchange: Exchange,
    { host, port, path, isConnection }: NodePlace,
  ): Promise<{ request: ClientRequest; response: IncomingMessage; socket?: Duplex }> {
    const { signal } = exchange
    return new Promise((resolve, reject) => {
      const headers = isConnection ? exchange.upgrade!.headers : {}
      const request = nodeRequest(this.#identity, {
        host,
        port,
        path,
        signal,
        headers,
        method: isConnection ? exchange.method : 'GET',
        timeoutMs: connectMs,
      })
      const done = () => request.setTimeout(0)
      request.once('response', (response) => {
        done()
        resolve({ request, response })
      })
      request.once('upgrade', (response, socket, head) => {
        done()
        if (head.length > 0) socket.unshift(head)
        resolve({ request, response, socket })
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(new ClientGone())
        reject(
          unreachable(
            `https://${host}:${port}${path}`,
            `${host}:${port}`,
            error.code === 'ECONNREFUSED' ? 'connect: connection refused' : error.message,
          ),
        )
      })
      request.end()
    })
  }
}

/** Connects the client's connection with the node's. */
export function join(exchange: Exchange, response: IncomingMessage, node: Duplex, forget: () => void): void {
  const client = exchange.upgrade!.take()
  const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}`)
  client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
  client.pipe(node)
  node.pipe(client)
  node.on('error', () => node.destroy())
  // The last data of the node is still on its way to the client.
  node.once('close', () => {
    forget()
    client.destroySoon()
  })
  client.once('close', () => node.destroy())
}

async function refusalOf(response: IncomingMessage): Promise<ApiError> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) {
    text += piece as string
    if (text.length >= mostErrorBytes) break
  }
  const message = text.slice(0, mostErrorBytes).trim()
  const code = response.statusCode!
  if (code === 400) return badRequest(message)
  if (code === 404) return new ApiError(404, 'NotFound', message || 'the server could not find the requested resource')
  return new ApiError(
    code === 401 || code === 403 ? 500 : code,
    'InternalError',
    `the node refused: ${message || response.statusMessage}`,
  )
}
