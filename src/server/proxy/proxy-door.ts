import { type ClientRequest, type IncomingMessage, type RequestOptions, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { methodNotAllowed } from '../../api/errors.ts'
import type { Random } from '../../base/random.ts'
import type { KeyPair } from '../auth/certificates.ts'
import { ClientGone } from '../http/client-gone.ts'
import { type Exchange, wholeBody } from '../http/exchange.ts'
import { reasonOf } from '../http/network-errors.ts'
import { join } from '../http/node-relay.ts'
import { isLocalName } from '../http/node-request.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { type Location, locate, unreachableService } from './location.ts'
import { answerHeaders, requestHeaders } from './proxy-headers.ts'
import type { ProxyPath } from './proxy-path.ts'

/** How long another server may take to accept a connection. It may answer as late as it wants. */
const connectMs = 10_000

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export interface ProxyOptions {
  objects: ObjectReader
  random: Random
  /** Shown to the agents of nodes. */
  identity: KeyPair | undefined
}

interface Answered {
  response: IncomingMessage
  /** The connection, where the other side has agreed to another protocol. */
  socket?: Duplex
}

/** Serves pods/proxy, services/proxy and nodes/proxy: hands requests to other servers, and their answers back, as they come. */
export class ProxyDoor {
  readonly #o: ProxyOptions
  /** What ends those that are open. */
  readonly #open = new Set<() => void>()

  constructor(options: ProxyOptions) {
    this.#o = options
  }

  /** Resolves with the code once the answer has begun. `headers` are those of all answers of this server. */
  async serve(exchange: Exchange, path: ProxyPath, headers: Record<string, string>): Promise<number> {
    if (!methods.has(exchange.method)) throw methodNotAllowed()
    const location = locate(path, this.#o.objects, this.#o.random)
    const at = exchange.url.indexOf('?')
    const query = at < 0 ? '' : exchange.url.slice(at)
    // Relative links of a page only lead to the right place from a path with a slash at its end.
    if (path.rest === '' && !exchange.upgrade && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
      exchange.respond(301, { ...headers, location: `${path.root}/${query}` }, wholeBody(Buffer.alloc(0)))
      return 301
    }
    const { response, socket } = await this.#ask(exchange, path, location, `${path.rest || '/'}${query}`)
    if (socket) {
      join(exchange, response, socket, this.#remember(() => socket.destroy()))
      return 101
    }
    const forget = this.#remember(() => response.destroy())
    response.once('close', forget)
    const code = response.statusCode ?? 502
    exchange.forward(code, { ...headers, ...answerHeaders(response.headers, path.root, location, exchange.header('host')) }, response)
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

  #ask(exchange: Exchange, path: ProxyPath, location: Location, url: string): Promise<Answered> {
    const { host, port, isAgent } = location
    return new Promise((resolve, reject) => {
      const headers = requestHeaders(exchange, path.root)
      // Several nodes may share a door: the header says which of them is meant.
      const request = this.#request(location, { path: url, method: exchange.method, headers: isAgent ? { ...headers, host: `${host}:${port}` } : headers, signal: exchange.signal })
      limitConnecting(request)
      request.once('response', (response) => resolve({ response }))
      request.once('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ response, socket })
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        reject(exchange.signal.aborted ? new ClientGone() : unreachableService(`${isConnecting(error) ? `dial tcp ${host}:${port}: ` : ''}${reasonOf(error)}`))
      })
      if (exchange.upgrade) return void request.end()
      const body = exchange.bodyStream()
      body.on('error', () => request.destroy())
      body.pipe(request)
    })
  }

  #request({ scheme, host, port, isAgent }: Location, options: RequestOptions): ClientRequest {
    const target = { ...options, host: isLocalName(host) ? '127.0.0.1' : host, port, agent: false as const, setHost: false }
    if (scheme === 'http') return httpRequest(target)
    // As Kubernetes: addresses are no names that a certificate could vouch for.
    const { identity } = this.#o
    return httpsRequest({ ...target, rejectUnauthorized: false, servername: '', ...(isAgent && identity ? { cert: identity.certificate, key: identity.key } : {}) })
  }
}

function limitConnecting(request: ClientRequest): void {
  const timer = setTimeout(() => request.destroy(Object.assign(new Error('i/o timeout'), { syscall: 'connect' })), connectMs)
  request.once('socket', (socket) => socket.once('connect', () => clearTimeout(timer)))
  request.once('close', () => clearTimeout(timer))
}

const isConnecting = (error: NodeJS.ErrnoException): boolean => error.syscall === 'connect'
