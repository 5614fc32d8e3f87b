import { Readable } from 'node:stream'
import type { MetricsRegistry } from '../base/metrics.ts'
import { type Exchange, type Health, createAuthority, issueServerCertificate, listen, wholeBody } from '../server/index.ts'
import { reachable } from './reachable.ts'

export interface MonitoringDoorOptions {
  address: string
  /** 0 takes a free one. */
  port: number
  health: Health
  metrics: MetricsRegistry
  nowMs: number
  /** What else is served, by path. */
  pages?: Pages
}

/** What is served besides, by path. */
export type Pages = Readonly<Record<string, () => { type: string; body: string }>>

/** Where a process that serves nothing else says how it is. */
export interface MonitoringDoor {
  url: string
  close(): Promise<void>
}

/** Serves /livez, /readyz, /healthz, /metrics and pages to whoever reaches it, over TLS, with a certificate of its own that nobody vouches for. */
export async function openMonitoringDoor({ address, port, health, metrics, nowMs, pages = {} }: MonitoringDoorOptions): Promise<MonitoringDoor> {
  const authority = createAuthority(nowMs)
  const listener = await listen({
    address,
    port,
    serving: issueServerCertificate(authority, ['localhost', '127.0.0.1', address], nowMs),
    clientAuthorities: [],
    handle: async (exchange) => answer(exchange, health, metrics, pages),
  })
  return { url: `https://${reachable(address)}:${listener.port}`, close: () => listener.close(0) }
}

function answer(exchange: Exchange, health: Health, metrics: MetricsRegistry, pages: Pages): void {
  const { pathname: path, searchParams: query } = new URL(exchange.url, 'https://localhost')
  const say = (code: number, text: string, type = 'text/plain; charset=utf-8') => exchange.respond(code, { 'content-type': type }, wholeBody(Buffer.from(text)))
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return say(405, 'method not allowed\n')
  if (path === '/metrics') return exchange.forward(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, Readable.from(encoded(metrics.pieces())))
  const page = Object.hasOwn(pages, path) ? pages[path]!() : undefined
  if (page) return say(200, page.body, page.type)
  const told = health.answer({ method: 'GET', path, query })
  if (!told) return say(404, 'not found\n')
  exchange.respond(told.code, told.headers, wholeBody(told.body))
}

function* encoded(pieces: Iterable<string>): Iterable<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece)
}
