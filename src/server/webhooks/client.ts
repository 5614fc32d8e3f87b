import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { ApiError } from '../../api/errors.ts'
import type { AdmissionregistrationV1WebhookClientConfig as ClientConfig } from '../../api/generated/types.ts'
import { jsonText } from '../../api/json/index.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { requestFailure } from '../http/listener/network-errors.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { resolveService } from '../proxy/service-endpoints.ts'
import { WebhookCallError, answerText, parseAnswer, readAnswer } from './answers.ts'

export { WebhookCallError } from './answers.ts'

/** The maximum number of idle connections to one webhook. */
const idleConnections = 10

/** The destination of a call and the expected certificate. */
interface Destination {
  /** The Host header: the name of the service, if there is one. */
  authority: string
  path: string
  host: string
  port: number
  /** The expected name in the certificate. */
  serverName: string
}

interface WebhookClientOptions {
  objects: ObjectReader
  random: Random
  clock: Clock
}

interface CallOptions {
  timeoutMs: number
  /** Adds the time limit to the query, as `timeout=10s`. */
  tellsTimeout?: boolean
  signal?: AbortSignal | undefined
}

/**
 * Calls webhooks: sends and receives JSON over HTTPS. Connections are reused. Redirects and proxies are not followed.
 */
export class WebhookClient {
  readonly #o: WebhookClientOptions
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: idleConnections, scheduling: 'lifo' })

  constructor(options: WebhookClientOptions) {
    this.#o = options
  }

  /** Resolves with the object in the response. Rejects with a WebhookCallError. */
  async call(config: ClientConfig, body: object, options: CallOptions): Promise<Record<string, unknown>> {
    const { code, text } = await this.#post(config, Buffer.from(jsonText(body)), options)
    // client-go treats these codes as success.
    if (code < 200 || code > 206) throw new WebhookCallError(answerText(code, text), code)
    return parseAnswer(text)
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy()
  }

  async #post(config: ClientConfig, body: Buffer, options: CallOptions): Promise<{ code: number; text: string }> {
    const url = urlText(config) + (options.tellsTimeout ? `?timeout=${Math.ceil(options.timeoutMs / 1000)}s` : '')
    const fail = (why: string, cause?: unknown) => new WebhookCallError(`Post ${JSON.stringify(url)}: ${why}`, 0, cause)
    let to: Destination
    try {
      to = this.#destination(config, new URL(url))
    } catch (e) {
      throw fail(e instanceof ApiError ? e.message.replace(/^services "/, 'service "') : (e as Error).message, e)
    }
    const deadline = new AbortController()
    const cancel = this.#o.clock.after(options.timeoutMs, () => deadline.abort())
    const signal = options.signal ? AbortSignal.any([deadline.signal, options.signal]) : deadline.signal
    try {
      const answer = await this.#sendAgain(to, config.caBundle, body, signal)
      return { code: answer.statusCode ?? 0, text: await readAnswer(answer) }
    } catch (e) {
      if (deadline.signal.aborted) throw fail('context deadline exceeded', e)
      if (options.signal?.aborted) throw fail('context canceled', e)
      throw fail(requestFailure(e as NodeJS.ErrnoException, `${to.host}:${to.port}`), e)
    } finally {
      cancel()
    }
  }

  #destination({ service }: ClientConfig, url: URL): Destination {
    const path = url.pathname + url.search
    const port = Number(url.port || 443)
    if (!service) {
      const host = url.hostname.replace(/^\[|\]$/g, '')
      return { authority: url.host, path, host, port, serverName: isIP(host) ? '' : host }
    }
    const { namespace, name } = service
    const found = resolveService({ namespace, name, port }, this.#o.objects, this.#o.random)
    return { authority: `${url.hostname}:${port}`, path, ...found, serverName: url.hostname }
  }

  /** Retries on a new connection if the server has closed a reused one. */
  async #sendAgain(
    to: Destination,
    caBundle: string | undefined,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    try {
      return await this.#send(to, caBundle, body, signal)
    } catch (e) {
      if (!(e as { onKept?: boolean }).onKept || (e as NodeJS.ErrnoException).code !== 'ECONNRESET') throw e
      return this.#send(to, caBundle, body, signal)
    }
  }

  #send(
    { authority, path, host, port, serverName }: Destination,
    caBundle: string | undefined,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        method: 'POST',
        host,
        port,
        path,
        headers: {
          host: authority,
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'content-length': body.length,
          'user-agent': 'kube-apiserver-admission',
        },
        agent: this.#agent,
        signal,
        servername: serverName,
        ...(caBundle ? { ca: Buffer.from(caBundle, 'base64').toString() } : {}),
      })
      request.once('response', resolve)
      request.on('error', (error) => reject(Object.assign(error, { onKept: request.reusedSocket })))
      request.end(body)
    })
  }
}

/** The URL of a webhook in error messages. */
function urlText({ url = '', service }: ClientConfig): string {
  if (!service) return url
  const { name, namespace, port = 443, path = '' } = service
  return `https://${name}.${namespace}.svc:${port}${path}`
}
