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
}

/** Where a process that serves nothing else says how it is. */
export interface MonitoringDoor {
  url: string
  close(): Promise<void>
}

/** Serves /livez, /readyz, /healthz and /metrics to whoever reaches it, over TLS, with a certificate of its own that nobody vouches for. */
export async function openMonitoringDoor({ address, port, health, metrics, nowMs }: MonitoringDoorOptions): Promise<MonitoringDoor> {
  const authority = createAuthority(nowMs)
  const listener = await listen({
    address,
    port,
    serving: issueServerCertificate(authority, ['localhost', '127.0.0.1', address], nowMs),
    clientAuthorities: [],
    handle: async (exchange) => answer(exchange, health, metrics),
  })
  return { url: `https://${reachable(address)}:${listener.port}`, close: () => listener.close(0) }
}

function answer(exchange: Exchange, health: Health, metrics: MetricsRegistry): void {
  const { pathname: path, searchParams: query } = new URL(exchange.url, 'https://localhost')
  const say = (code: number, text: string, type = 'text/plain; charset=utf-8') => exchange.respond(code, { 'content-type': type }, wholeBody(Buffer.from(text)))
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return say(405, 'method not allowed\n')
  if (path === '/metrics') return say(200, metrics.text(), 'text/plain; version=0.0.4; charset=utf-8')
  const told = health.answer({ method: 'GET', path, query })
  if (!told) return say(404, 'not found\n')
  exchange.respond(told.code, told.headers, wholeBody(told.body))
}
