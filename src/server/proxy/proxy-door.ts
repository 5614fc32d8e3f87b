import { type ClientRequest, type RequestOptions, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { methodNotAllowed } from '../../api/errors.ts'
import type { Random } from '../../base/random.ts'
import type { KeyPair } from '../auth/certificates.ts'
import { type Exchange, wholeBody } from '../http/exchange/exchange.ts'
import { reasonOf } from '../http/listener/network-errors.ts'
import { isLocalName } from '../http/node/node-request.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { type Location, locate, unreachableService } from './location.ts'
import { type Answered, PassedOn } from './pass-on.ts'
import { answerHeaders, requestHeaders } from './proxy-headers.ts'
import type { ProxyPath } from './proxy-path.ts'

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

interface ProxyOptions {
  objects: ObjectReader
  random: Random
  /** The client certificate for kubelets. */
  identity: KeyPair | undefined
}

/** Serves pods/proxy, services/proxy and nodes/proxy by streaming requests and responses. */
export class ProxyDoor {
  readonly #o: ProxyOptions
  readonly #passed = new PassedOn()

  constructor(options: ProxyOptions) {
    this.#o = options
  }

  /**
   * Resolves with the status code once the response has started. `headers` are added to every response of this server.
   */
  async serve(exchange: Exchange, path: ProxyPath, headers: Record<string, string>): Promise<number> {
    if (!methods.has(exchange.method)) throw methodNotAllowed()
    const location = locate(path, this.#o.objects, this.#o.random)
    const at = exchange.url.indexOf('?')
    const query = at < 0 ? '' : exchange.url.slice(at)
    // Relative links of a page need a path with a trailing slash.
    if (path.rest === '' && !exchange.upgrade && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
      exchange.respond(301, { ...headers, location: `${path.root}/${query}` }, wholeBody(Buffer.alloc(0)))
      return 301
    }
    const answered = await this.#ask(exchange, path, location, `${path.rest || '/'}${query}`)
    const passed = answerHeaders(answered.response.headers, path.root, location, exchange.header('host'))
    return this.#passed.answer(exchange, answered, { ...headers, ...passed })
  }

  /** Ends all open requests. */
  end(): void {
    this.#passed.end()
  }

  #ask(exchange: Exchange, path: ProxyPath, location: Location, url: string): Promise<Answered> {
    const { host, port, isAgent } = location
    const headers = requestHeaders(exchange, path.root)
    // Several nodes may share an address; the header names the node.
    const request = this.#request(location, {
      path: url,
      method: exchange.method,
      headers: isAgent ? { ...headers, host: `${host}:${port}` } : headers,
      signal: exchange.signal,
    })
    return this.#passed.ask(exchange, request, (error) =>
      unreachableService(`${isConnecting(error) ? `dial tcp ${host}:${port}: ` : ''}${reasonOf(error)}`),
    )
  }

  #request({ scheme, host, port, isAgent }: Location, options: RequestOptions): ClientRequest {
    const target = {
      ...options,
      host: isLocalName(host) ? '127.0.0.1' : host,
      port,
      agent: false as const,
      setHost: false,
    }
    if (scheme === 'http') return httpRequest(target)
    // Certificates do not name pod addresses, so they are not verified, as in Kubernetes.
    const { identity } = this.#o
    return httpsRequest({
      ...target,
      rejectUnauthorized: false,
      servername: '',
      ...(isAgent && identity ? { cert: identity.certificate, key: identity.key } : {}),
    })
  }
}

const isConnecting = (error: NodeJS.ErrnoException): boolean => error.syscall === 'connect'
