import { Readable } from 'node:stream'
import { type Clock, turnsOf } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Turns } from '../../base/turns.ts'
import {
  type Exchange,
  type Health,
  type KeyPair,
  type Listener,
  createAuthority,
  isKeyOf,
  issueServerCertificate,
  listen,
  listenPlain,
  wholeBody,
} from '../../server/index.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { loadAuthority } from '../keys/pki.ts'
import { isLoopback, reachable } from './reachable.ts'
import type { ScrapeGate } from './scrape-gate.ts'

export interface MonitoringDoorOptions {
  address: string
  /** 0 chooses a free port. */
  port: number
  health: Health
  metrics: MetricsRegistry
  clock: Clock
  logger?: Logger
  /** Default: a self-signed certificate. */
  serving?: Serving | undefined
  /** CA certificates for client certificates, in PEM. */
  clientAuthorities?: readonly string[]
  /** Undefined allows everyone. */
  gate?: ScrapeGate | undefined
  /** Further pages by path. */
  pages?: Pages
}

/** Pages by path. */
export type Pages = Readonly<Record<string, () => { type: string; body: string }>>

/** The health and metrics endpoint of a process without another server. */
export interface MonitoringDoor {
  url: string
  close(): Promise<void>
}

/** The serving certificate. */
export type Serving =
  | { kind: 'plain' }
  /** Files, reread every minute for renewals. */
  | { kind: 'files'; certificate: string; key: string }
  /** Certificates for these names, signed by a CA that is kept in `dir` and created if missing. */
  | { kind: 'authority'; dir: string; names: readonly string[] }

/** Serves /livez, /readyz, /healthz, /metrics and pages to clients that the gate allows; without a gate, to all. */
export async function openMonitoringDoor(options: MonitoringDoorOptions): Promise<MonitoringDoor> {
  const { address, port, health, metrics, pages = {}, gate, serving, clientAuthorities = [], clock } = options
  const handle = async (exchange: Exchange) => {
    const refusal = await gate?.refusalOf(exchange)
    if (refusal)
      return exchange.respond(
        refusal.code,
        { 'content-type': 'text/plain; charset=utf-8' },
        wholeBody(Buffer.from(`${refusal.message}\n`)),
      )
    answer(exchange, health, metrics, pages, turnsOf(clock))
  }
  if (serving?.kind === 'plain') {
    if (!isLoopback(address))
      throw new Error(`--insecure-http: ${address} is not a loopback address: others could read the traffic`)
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
/** Renewal interval of self-signed certificates, which are valid for a year. */
const leafMs = 30 * 24 * 3_600_000

/** Returns a function of time that returns the certificate; the same object while it is unchanged. */
function certificatesOf(
  serving: Exclude<Serving, { kind: 'plain' }> | undefined,
  address: string,
): (nowMs: number) => KeyPair {
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
  const pair = {
    certificate: readCertificates('--tls-cert-file', files.certificate),
    key: readFlagFile('--tls-private-key-file', files.key),
  }
  let fits = false
  try {
    fits = isKeyOf(pair)
  } catch {
    // Unparseable files are reported below with their names.
  }
  if (!fits) throw new Error(`--tls-private-key-file: ${files.key} is not the key of ${files.certificate}`)
  return pair
}

/** Switches to new certificates. Unreadable files leave the old one in use. */
function keepRenewing(
  listener: Listener,
  certificates: (nowMs: number) => KeyPair,
  { clock, logger }: MonitoringDoorOptions,
): () => void {
  let shown = certificates(clock.now()).certificate
  let cancel = () => {}
  const again = () => {
    try {
      const pair = certificates(clock.now())
      if (pair.certificate !== shown) listener.renew(pair)
      shown = pair.certificate
    } catch (error) {
      logger?.warn('failed to renew the certificate', { error })
    }
    cancel = clock.after(renewMs, again)
  }
  cancel = clock.after(renewMs, again)
  return () => cancel()
}

function answer(exchange: Exchange, health: Health, metrics: MetricsRegistry, pages: Pages, turns: Turns): void {
  const { pathname: path, searchParams: query } = new URL(exchange.url, 'https://localhost')
  const say = (code: number, text: string, type = 'text/plain; charset=utf-8') =>
    exchange.respond(code, { 'content-type': type }, wholeBody(Buffer.from(text)))
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') return say(405, 'method not allowed\n')
  if (path === '/metrics')
    return exchange.forward(
      200,
      { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      Readable.from(metrics.bytes(turns)),
    )
  const page = Object.hasOwn(pages, path) ? pages[path]!() : undefined
  if (page) return say(200, page.body, page.type)
  const told = health.answer({ method: 'GET', path, query })
  if (!told) return say(404, 'not found\n')
  exchange.respond(told.code, told.headers, wholeBody(told.body))
}
