import { Readable } from 'node:stream'
import { type Clock, turnsOf } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { Turns } from '../base/turns.ts'
import {
  type Exchange, type Health, type KeyPair, type Listener, createAuthority, isKeyOf, issueServerCertificate, listen, listenPlain, wholeBody,
} from '../server/index.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { loadAuthority } from './pki.ts'
import { isLoopback, reachable } from './reachable.ts'
import type { ScrapeGate } from './scrape-gate.ts'

export interface MonitoringDoorOptions {
  address: string
  /** 0 takes a free one. */
  port: number
  health: Health
  metrics: MetricsRegistry
  clock: Clock
  logger?: Logger
  /** Undefined: with a certificate of its own that nobody vouches for. */
  serving?: Serving | undefined
  /** Certificates that client certificates may be signed by, in PEM. */
  clientAuthorities?: readonly string[]
  /** Undefined: whoever reaches it is answered. */
  gate?: ScrapeGate | undefined
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

/** How what is served is kept from others: with a certificate that nobody vouches for, unless said otherwise. */
export type Serving =
  | { kind: 'plain' }
  /** Read anew every minute: whoever renews them need not restart anything. */
  | { kind: 'files'; certificate: string; key: string }
  /** Certificates for these names, by an authority that is kept in a directory and made if there is none. */
  | { kind: 'authority'; dir: string; names: readonly string[] }

/** Serves /livez, /readyz, /healthz, /metrics and pages to those whom the gate lets in; without one, to whoever reaches it. */
export async function openMonitoringDoor(options: MonitoringDoorOptions): Promise<MonitoringDoor> {
  const { address, port, health, metrics, pages = {}, gate, serving, clientAuthorities = [], clock } = options
  const handle = async (exchange: Exchange) => {
    const refusal = await gate?.refusalOf(exchange)
    if (refusal) return exchange.respond(refusal.code, { 'content-type': 'text/plain; charset=utf-8' }, wholeBody(Buffer.from(`${refusal.message}\n`)))
    answer(exchange, health, metrics, pages, turnsOf(clock))
  }
  if (serving?.kind === 'plain') {
    if (!isLoopback(address)) throw new Error(`--insecure-http: ${address} is no loopback address: others could read what is sent`)
    const listener = await listenPlain({ address, port, handle })
    return { url: `http://${reachable(address)}:${listener.port}`, close: () => listener.close(0) }
  }
  const certificates = certificatesOf(serving, address)
  const listener = await listen({ address, port, serving: certificates(clock.now()), clientAuthorities, handle })
  const stopRenewing = serving ? keepRenewing(listener, certificates, options) : () => {}
  return {
    url: `https://${reachable(address)}:${listener.port}`,
    close() {
      stopRenewing()
      return listener.close(0)
    },
  }
}

const renewMs = 60_000
/** A certificate of our own is good for a year, and replaced long before. */
const leafMs = 30 * 24 * 3_600_000

/** The certificate to show at a time; the same object for as long as it is the same one. */
function certificatesOf(serving: Exclude<Serving, { kind: 'plain' }> | undefined, address: string): (nowMs: number) => KeyPair {
  if (serving?.kind === 'files') return () => readPair(serving)
  const hosts = [...new Set(['localhost', '127.0.0.1', address, ...(serving?.names ?? [])])]
  let made: { atMs: number; pair: KeyPair } | undefined
  return (nowMs) => {
    if (!made || nowMs > made.atMs + leafMs) {
      const authority = serving ? loadAuthority(serving.dir, nowMs) : createAuthority(nowMs)
      made = { atMs: nowMs, pair: issueServerCertificate(authority, hosts, nowMs) }
    }
    return made.pair
  }
}

function readPair(files: { certificate: string; key: string }): KeyPair {
  const pair = { certificate: readCertificates('--tls-cert-file', files.certificate), key: readFlagFile('--tls-private-key-file', files.key) }
  let fits = false
  try {
    fits = isKeyOf(pair)
  } catch {
    // Not even a key: said below, in words that name the files.
  }
  if (!fits) throw new Error(`--tls-private-key-file: ${files.key} is not the key of ${files.certificate}`)
  return pair
}

/** Shows a new certificate when there is one. Files that cannot be read leave the old one in place. */
function keepRenewing(listener: Listener, certificates: (nowMs: number) => KeyPair, { clock, logger }: MonitoringDoorOptions): () => void {
  let shown = certificates(clock.now()).certificate
  let cancel = () => {}
  const again = () => {
    try {
      const pair = certificates(clock.now())
      if (pair.certificate !== shown) listener.renew(pair)
      shown = pair.certificate
    } catch (error) {
      logger?.warn('the certificate cannot be renewed', { error })
    }
    cancel = clock.after(renewMs, again)
  }
  cancel = clock.after(renewMs, again)
  return () => cancel()
}

function answer(exchange: Exchange, health: Health, metrics: MetricsRegistry, pages: Pages, turns: Turns): void {
  const { pathname: path, searchParams: query } = new URL(exchange.url, 'https://localhost')
  const say = (code: number, text: string, type = 'text/plain; charset=utf-8') => exchange.respond(code, { 'content-type': type }, wholeBody(Buffer.from(text)))
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return say(405, 'method not allowed\n')
  if (path === '/metrics') return exchange.forward(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, Readable.from(metrics.bytes(turns)))
  const page = Object.hasOwn(pages, path) ? pages[path]!() : undefined
  if (page) return say(200, page.body, page.type)
  const told = health.answer({ method: 'GET', path, query })
  if (!told) return say(404, 'not found\n')
  exchange.respond(told.code, told.headers, wholeBody(told.body))
}
