import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { ApiError } from '../api/errors.ts'
import { readJson } from '../api/json/index.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import { type ClusterAccess, type Transport, TransportError } from '../client/index.ts'
import { CommandError } from '../insight/failure.ts'
import { loadAssets } from './assets.ts'
import { type Handler, isFromOurPage } from './door.ts'
import { Live, type Running } from './live.ts'
import type { Sessions } from './login/sessions.ts'
import { type Viewer, accessByToken } from './login/viewer.ts'
import { type Ask, type Reply, routes } from './routes.ts'
import { relayExec } from './pages/exec.ts'
import { StreamConnection } from './stream/connection.ts'

const bodyLimit = 64 * 1024

export interface DashboardOptions {
  /** Returns the identity of users who open the printed link; called on first use. */
  access(): Promise<ClusterAccess>
  /** Reads for all viewers. Each viewer's own permissions decide what is shown. */
  transport: Transport
  /** The namespace to show; '' for all. */
  namespace: string
  /** The preferred port. Any free port is used if it is 0 or taken. */
  port: number
  clock: Clock
  random: Random
  logger: Logger
  release: string
}

/** Handles the page's requests. */
export class App implements Handler {
  readonly #options: DashboardOptions
  readonly #sessions: Sessions
  readonly #cookie: string
  readonly #live: Live
  readonly #assets = loadAssets()
  #sockets: Promise<WebSocketServer> | undefined

  constructor(options: DashboardOptions, sessions: Sessions, cookie: string) {
    this.#options = options
    this.#sessions = sessions
    this.#cookie = cookie
    this.#live = new Live(options)
  }

  async request(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      if (url.pathname.startsWith('/api/')) await this.#api(request, response, url)
      else if (request.method !== 'GET' && (request.method !== 'HEAD' || url.pathname === '/open'))
        send(response, 405, { message: 'method not allowed' })
      else if (url.pathname === '/open') await this.#open(response, url)
      else this.#file(request, response, url.pathname)
    } catch (e) {
      this.#refuse(request, response, e)
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, url: URL): Promise<void> {
    const viewer = this.#sessions.viewer(this.#sessionId(request))
    if (!viewer) return void socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n')
    const server = await (this.#sockets ??= import('ws').then(
      ({ WebSocketServer }) => new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: bodyLimit }),
    ))
    server.handleUpgrade(request, socket, head, (client) => {
      if (url.pathname === '/api/exec') return void relayExec(client, viewer, url.searchParams)
      if (url.pathname !== '/api/stream') return client.close(1008, 'not found')
      this.#stream(client, viewer).catch((error: unknown) => {
        this.#options.logger.error('a stream of the dashboard cannot be started', { error })
        client.close(1011, 'the stream cannot be started')
      })
    })
  }

  /** Serves a stream. The client reconnects if the caches cannot be started. */
  async #stream(client: WebSocket, viewer: Viewer): Promise<void> {
    client.on('error', () => client.terminate())
    client.pause()
    const { topics } = await this.#live.acquire()
    if (client.readyState !== client.OPEN) return this.#live.release()
    client.once('close', () => this.#live.release())
    new StreamConnection(client, topics, viewer, this.#options.clock).start()
    client.resume()
  }

  async close(): Promise<void> {
    for (const client of (await this.#sockets)?.clients ?? []) client.terminate()
    await this.#live.stop()
  }

  #sessionId({ headers }: IncomingMessage): string {
    const cookies = (headers.cookie ?? '').split(/;\s*/)
    return cookies.find((one) => one.startsWith(`${this.#cookie}=`))?.slice(this.#cookie.length + 1) ?? ''
  }

  #loggedIn(response: ServerResponse, id: string): void {
    response.setHeader('set-cookie', `${this.#cookie}=${id}; Path=/; HttpOnly; SameSite=Strict`)
  }

  /**
   * Opens a session with the printed link. The response is a page that redirects by script: browsers do not send a
   * SameSite=Strict cookie along an HTTP redirect that began at another site.
   */
  async #open(response: ServerResponse, url: URL): Promise<void> {
    const id = await this.#sessions.openByKey(url.searchParams.get('key') ?? '')
    if (id) this.#loggedIn(response, id)
    const target = id ? '/' : '/login?used'
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    response.end(
      `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${target}"><title>Coxswain</title>`,
    )
  }

  #file(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    const isFile = pathname.startsWith('/assets/')
    // Every other path is a view; the page itself selects it.
    const asset = this.#assets.get(isFile ? pathname.slice(8) : 'index.html')
    if (!asset)
      return send(response, 404, {
        message: this.#assets.size === 0 ? 'the dashboard has not been built: run npm run build' : 'not found',
      })
    const zips = asset.zipped !== undefined && (request.headers['accept-encoding'] ?? '').includes('gzip')
    response.writeHead(200, {
      'content-type': asset.type,
      'cache-control': isFile ? 'public, max-age=31536000, immutable' : 'no-cache',
      ...(zips ? { 'content-encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : zips ? asset.zipped : asset.bytes)
  }

  async #api(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (!isFromOurPage(request, url))
      return send(response, 403, { message: 'this request does not come from the dashboard' })
    const isWrite = request.method === 'POST'
    // A form on another site cannot send JSON without a CORS permission, which is never granted.
    if (isWrite && request.headers['content-type'] !== 'application/json')
      return send(response, 415, { message: 'the body must be application/json' })
    const body = isWrite ? await readBody(request) : {}
    if (isWrite && url.pathname === '/api/login') return this.#login(response, body)
    const id = this.#sessionId(request)
    const viewer = this.#sessions.viewer(id)
    if (!viewer) return send(response, 401, { message: 'You must be logged in to the server (Unauthorized)' })
    if (isWrite && url.pathname === '/api/logout') {
      await this.#sessions.close(id)
      response.setHeader('set-cookie', `${this.#cookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`)
      return send(response, 200, {})
    }
    const route = routes[`${request.method} ${url.pathname.slice(5)}`]
    if (!route) return send(response, 404, { message: 'not found' })
    const running = await this.#live.acquire()
    try {
      const reply = await route(this.#ask(viewer, running, url.searchParams, body, response))
      if (reply !== undefined) send(response, 200, reply)
    } finally {
      this.#live.release()
    }
  }

  #ask(
    viewer: Viewer,
    { caches, explanations }: Running,
    query: URLSearchParams,
    body: unknown,
    response: ServerResponse,
  ): Ask {
    const { clock, release, namespace } = this.#options
    return {
      viewer,
      caches,
      explanations,
      clock,
      query,
      body: (body ?? {}) as Record<string, unknown>,
      response,
      about: { release, cluster: viewer.access.server.host, namespace },
    }
  }

  async #login(response: ServerResponse, body: unknown): Promise<void> {
    const { token } = (body ?? {}) as { token?: unknown }
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token.trim()))
      return send(response, 400, { message: 'token: Required value' })
    this.#loggedIn(response, await this.#sessions.open(accessByToken(await this.#options.access(), token.trim())))
    send(response, 200, {})
  }

  /** Sends the error in the API server's words. A user that the API server no longer knows must log in again. */
  #refuse(request: IncomingMessage, response: ServerResponse, e: unknown): void {
    const isKnown = e instanceof ApiError || e instanceof TransportError || e instanceof CommandError
    if (!isKnown) this.#options.logger.error('a dashboard request failed', { url: request.url, error: e })
    if (response.headersSent) return void response.destroy()
    const code =
      e instanceof ApiError ? e.code : e instanceof TransportError ? 503 : e instanceof CommandError ? 400 : 500
    const message = e instanceof Error ? e.message : String(e)
    send(response, code, {
      message: e instanceof TransportError ? `Unable to connect to the server: ${message}` : message,
    })
  }
}

function send(response: ServerResponse, code: number, value: Reply): void {
  response.writeHead(code, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(value))
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyLimit) throw new CommandError('the body is too long')
    chunks.push(chunk)
  }
  try {
    return readJson(Buffer.concat(chunks).toString())
  } catch {
    throw new CommandError('the body is not JSON')
  }
}
