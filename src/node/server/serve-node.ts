import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { parseLogOptions } from '../logs/index.ts'
import { cadvisorMetrics } from './cadvisor-metrics.ts'
import { mayAsk } from './caller.ts'
import type { NodeFigures, NodeServer } from './node-server.ts'
import { Refusal } from './pod-access.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { type StreamRequest, openStream } from './streams.ts'

export interface ServeNodeOptions {
  address: string
  /** 0 selects a free port. */
  port: number
  serving: { certificate: string; key: string }
  /** The certificate authorities of clients, as PEM. */
  clientAuthority: string
  /** The node that runs the pod. */
  find(namespace: string, pod: string): NodeServer | undefined
  /** The node with this host name, because several nodes may share a port. A single node has any name. */
  node(host: string): NodeServer | undefined
  clock: Clock
  logger: Logger
}

export interface NodeDoor {
  port: number
  /** Uses another certificate for new connections. */
  renew(serving: ServeNodeOptions['serving']): void
  /** Stops listening and closes all connections. */
  close(): Promise<void>
}

/** The time that a client has to read a refusal and to close the connection. */
const lingerMs = 10_000

/** Serves the kubelet API (logs, exec, attach, port-forward, metrics) over TLS to authorized clients only. */
export async function serveNode(options: ServeNodeOptions): Promise<NodeDoor> {
  const { serving, clientAuthority } = options
  const server = createServer({
    cert: serving.certificate,
    key: serving.key,
    ca: clientAuthority,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  server.on('request', (request, response) => void answer(options, request, response))
  server.on('upgrade', (request, socket: TLSSocket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    void upgrade(options, request, socket, head)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.address, () => {
      server.off('error', reject)
      server.on('error', (error) =>
        options.logger.warn('failed to accept a connection to the server of the node', { error }),
      )
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    renew: ({ certificate, key }) =>
      server.setSecureContext({ cert: certificate, key, ca: clientAuthority, minVersion: 'TLSv1.2' }),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function upgrade(
  options: ServeNodeOptions,
  request: IncomingMessage,
  socket: TLSSocket,
  head: Buffer,
): Promise<void> {
  try {
    const asked = askedFor(options, request)
    if (asked.what === 'containerLogs') throw new Refusal(400, 'logs do not support an upgrade')
    await openStream(asked, request, socket, head)
  } catch (e) {
    const { code, message } = refusalOf(e)
    const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`
    socket.end(`HTTP/1.1 ${code} Refused\r\n${headers}\r\n\r\n${message}`)
    // A client that does not close the connection would keep it.
    const stop = options.clock.after(lingerMs, () => socket.destroy())
    socket.once('close', stop)
  }
}

const refusalOf = (e: unknown): Refusal =>
  e instanceof Refusal ? e : new Refusal(500, e instanceof Error ? e.message : String(e))

/** Handles a request. The client is authorized before anything else is read. */
function checkCaller({ socket }: IncomingMessage): void {
  const problem = mayAsk(socket as TLSSocket)
  if (problem) throw new Refusal(problem.code, problem.message)
}

function askedFor({ find }: ServeNodeOptions, request: IncomingMessage): StreamRequest {
  checkCaller(request)
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://node')
  const [what = '', namespace = '', pod = '', container = '', ...more] = pathname
    .slice(1)
    .split('/')
    .map(decodeURIComponent)
  if (what !== 'containerLogs' && what !== 'exec' && what !== 'attach' && what !== 'portForward')
    throw new Refusal(404, '404 page not found')
  if (more.length > 0 || pod === '' || (container === '') !== (what === 'portForward'))
    throw new Refusal(404, '404 page not found')
  const server = find(namespace, pod)
  if (!server) throw new Refusal(404, `pod "${pod}" not found`)
  return { what, server, namespace, pod, container, query }
}

async function answer(options: ServeNodeOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  try {
    const metrics = metricsPages[request.url ?? '']
    if (metrics) return await answerFigures(options, request, response, metrics)
    const { what, server, namespace, pod, container, query } = askedFor(options, request)
    if (what !== 'containerLogs') throw new Refusal(400, 'Upgrade request required')
    if (request.method !== 'GET') throw new Refusal(405, 'method not allowed')
    const log = await server.logs(namespace, pod, container, optionsOf(query, options.clock.now()), abort.signal)
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
    pipeline(log, response, () => abort.abort())
  } catch (e) {
    const { code, message } = refusalOf(e)
    response.writeHead(code, { 'content-type': 'text/plain' }).end(message)
  }
}

/** The metrics pages of kubelet. */
const metricsPages: Readonly<Record<string, (figures: NodeFigures) => string>> = {
  '/metrics/resource': resourceMetrics,
  '/metrics/cadvisor': cadvisorMetrics,
}

async function answerFigures(
  options: ServeNodeOptions,
  request: IncomingMessage,
  response: ServerResponse,
  page: (figures: NodeFigures) => string,
): Promise<void> {
  checkCaller(request)
  const host = (request.headers.host ?? '').replace(/:\d+$/, '')
  const node = options.node(host)
  if (!node) throw new Refusal(404, `no node is called ${JSON.stringify(host)}`)
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(page(await node.figures()))
}

function optionsOf(query: URLSearchParams, nowMs: number) {
  try {
    return parseLogOptions(query, nowMs)
  } catch (e) {
    throw new Refusal(400, (e as Error).message)
  }
}
