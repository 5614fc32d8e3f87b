import { ApiError } from '../../api/errors.ts'
import { type Exchange, wholeBody } from '../http/exchange/exchange.ts'
import { requestFailure } from '../http/listener/network-errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import { PassedOn } from '../proxy/pass-on.ts'
import { passedHeaders, requestHeaders } from '../proxy/proxy-headers.ts'
import { type RemoteAccess, remoteRequest } from './remote-request.ts'
import type { Remote } from './remote.ts'

/** Forwards requests to extension API servers on behalf of users, by streaming requests and responses. */
export class AggregationDoor {
  readonly #access: RemoteAccess
  readonly #passed = new PassedOn()

  constructor(access: RemoteAccess) {
    this.#access = access
  }

  /**
   * Resolves with the status code once the response has started. `headers` are added to every response of this server.
   */
  async serve(exchange: Exchange, remote: Remote, user: UserInfo, headers: Record<string, string>): Promise<number> {
    const unavailable = (text: string) => {
      const all = { ...headers, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
      exchange.respond(503, all, wholeBody(Buffer.from(`${text}\n`)))
      return 503
    }
    if (!remote.isAvailable) return unavailable('service unavailable')
    let asked: ReturnType<typeof remoteRequest>
    try {
      asked = remoteRequest(this.#access, remote, {
        method: exchange.method,
        path: exchange.url,
        headers: requestHeaders(exchange, ''),
        user,
        signal: exchange.signal,
        isUpgrade: exchange.upgrade !== undefined,
      })
    } catch (e) {
      if (e instanceof ApiError) return unavailable('service unavailable')
      throw e
    }
    const { request, address } = asked
    try {
      const answered = await this.#passed.ask(
        exchange,
        request,
        (error) => new Unreachable(requestFailure(error, address)),
      )
      return this.#passed.answer(exchange, answered, { ...headers, ...passedHeaders(answered.response.headers) })
    } catch (e) {
      if (e instanceof Unreachable) return unavailable(`error trying to reach service: ${e.message}`)
      throw e
    }
  }

  /** Ends all open requests. */
  end(): void {
    this.#passed.end()
  }
}

class Unreachable extends Error {}
