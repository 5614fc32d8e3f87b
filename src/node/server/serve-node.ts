import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { parseLogOptions } from '../logs/index.ts'
import { mayAsk } from './caller.ts'
import type { NodeServer } from './node-server.ts'
import { Refusal } from './pod-access.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { openStream } from './streams.ts'

export interface ServeNodeOptions {
  address: string
  /** 0 takes a free one. */
  port: number
  serving: { certificate: string; key: string }
  /** Certificates that vouch for who may ask, in PEM. */
  clientAuthority: string
  /** Whoever has the pod. */
  find(namespace: string, pod: string): NodeServer | undefined
  /** The node that is called so: several may share a door. Where there is one only, it answers to any name. */
  node(host: string): NodeServer | undefined
  clock: Clock
  logger: Logger
}

export interface NodeDoor {
  port: number
  /** Shows connections that are opened from now on another certificate. */
  renew(serving: ServeNodeOptions['serving']): void
  /** Stops listening, and ends what is open. */
  close(): Promise<void>
}

/** What a path asks for, in kubelet's form. */
export interface Asked {
  what: 'containerLogs' | 'exec' | 'attach' | 'portForward'
  server: NodeServer
  namespace: string
  pod: string
  /** Empty for a port. */
  container: string
  query: URLSearchParams
}

/** Serves logs, commands, ports and figures of pods over TLS, to the API server alone. */
export async function serveNode(options: ServeNodeOptions): Promise<NodeDoor> {
  const { serving, clientAuthority } = options
  const server = createServer({ cert: serving.certificate, key: serving.key, ca: clientAuthority, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2' })
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
      server.on('error', (error) => options.logger.warn('a connection to the node was not accepted', { error }))
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

async function upgrade(options: ServeNodeOptions, request: IncomingMessage, socket: TLSSocket, head: Buffer): Promise<void> {
  try {
    const asked = askedFor(options, request)
    if (asked.what === 'containerLogs') throw new Refusal(400, 'logs are read without an upgrade')
    await openStream(asked, request, socket, head)
  } catch (e) {
    const { code, message } = refusalOf(e)
    const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message)}\r\nconnection: close`
    socket.end(`HTTP/1.1 ${code} Refused\r\n${headers}\r\n\r\n${message}`)
  }
}

const refusalOf = (e: unknown): Refusal => (e instanceof Refusal ? e : new Refusal(500, e instanceof Error ? e.message : String(e)))

/** Nothing is looked at before it is clear who asks. */
function checkCaller({ socket }: IncomingMessage): void {
  const problem = mayAsk(socket as TLSSocket)
  if (problem) throw new Refusal(problem.code, problem.message)
}

function askedFor({ find }: ServeNodeOptions, request: IncomingMessage): Asked {
  checkCaller(request)
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://node')
  const [what = '', namespace = '', pod = '', container = '', ...more] = pathname.slice(1).split('/').map(decodeURIComponent)
  if (what !== 'containerLogs' && what !== 'exec' && what !== 'attach' && what !== 'portForward') throw new Refusal(404, '404 page not found')
  if (more.length > 0 || pod === '' || (container === '') !== (what === 'portForward')) throw new Refusal(404, '404 page not found')
  const server = find(namespace, pod)
  if (!server) throw new Refusal(404, `pod "${pod}" not found`)
  return { what, server, namespace, pod, container, query }
}

async function answer(options: ServeNodeOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  try {
    if (request.url === '/metrics/resource') return await answerFigures(options, request, response)
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

async function answerFigures(options: ServeNodeOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  checkCaller(request)
  const host = (request.headers.host ?? '').replace(/:\d+$/, '')
  const node = options.node(host)
  if (!node) throw new Refusal(404, `no node is called ${JSON.stringify(host)}`)
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(resourceMetrics(await node.figures()))
}

function optionsOf(query: URLSearchParams, nowMs: number) {
  try {
    return parseLogOptions(query, nowMs)
  } catch (e) {
    throw new Refusal(400, (e as Error).message)
  }
}
