import { FeatureGates, type GateName } from '../../src/api/feature-gates.ts'
import { jsonText, readJson } from '../../src/api/json/index.ts'
import { Logger } from '../../src/base/logger.ts'
import type { Turns } from '../../src/base/turns.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { ApiServer, type ApiServerOptions, type Auditor, type AuthorizerChoice, Authenticator, type FairnessSettings, type KeyPair, type ResourceSettings, admissionPlugins } from '../../src/server/index.ts'
import { type Store, openMemoryStore } from '../../src/store/index.ts'
import { SeededRandom } from '../seeded-random.ts'
import { type Headers, MemoryExchange, type Sent } from './exchange.ts'

export interface Options {
  gates?: Partial<Record<GateName, boolean>>
  settings?: ResourceSettings
  tokenIssuers?: readonly string[]
  /** Signs tokens, in PEM: servers of one cluster have the same. */
  tokenKey?: string
  /** When its clock begins. */
  startMs?: number
  seed?: number
  maxWatches?: number
  /** The turns of long work. Default: one turn that does not end. */
  turns?: Turns
  fairness?: FairnessSettings
  memory?: ApiServerOptions['memory']
  build?: string
  /** The range of cluster IPs that it is told to have. */
  serviceRange?: string
  authorization?: readonly AuthorizerChoice[]
  /** Shown to other API servers. */
  proxyClient?: KeyPair
  /** Records the requests of the server. */
  audit?(clock: VirtualClock): Auditor
  /** A store that earlier servers may have written to. Default: a new one in memory. */
  store?: Store
  /** Puts itself between the server and its store, to make it fail. */
  wrapStore?(store: Store): Store
}

/** An answer with its body read as JSON. */
export interface Reply<T = any> {
  code: number
  headers: Headers
  body: T
  text: string
  warnings: string[]
}

export interface Line {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: any
}

/** An API server in this process: no sockets, no timers but those of a clock that the test moves. */
export class TestServer {
  readonly clock: VirtualClock
  readonly store: Store
  readonly api: ApiServer
  /** Logged errors of the server itself. */
  readonly errors: string[]

  private constructor(clock: VirtualClock, store: Store, api: ApiServer, errors: string[]) {
    this.clock = clock
    this.store = store
    this.api = api
    this.errors = errors
  }

  static async start(options: Options = {}): Promise<TestServer> {
    const { gates, settings, tokenIssuers, tokenKey, startMs, seed = 1, maxWatches, fairness, memory, build, authorization, proxyClient, audit, store: given, wrapStore, serviceRange, turns } = options
    const clock = Object.assign(new VirtualClock(startMs), turns ? { turns } : {})
    const inner = given ?? openMemoryStore({ clock })
    const store = wrapStore?.(inner) ?? inner
    const errors: string[] = []
    const api = await ApiServer.open({
      store,
      gates: FeatureGates.of(gates),
      authenticator: new Authenticator(new Map([['sesame', { name: 'token-user', groups: [] }]])),
      admission: admissionPlugins,
      clock,
      random: new SeededRandom(seed),
      logger: new Logger((line) => errors.push(line), 'error'),
      release: '0.0.0-test',
      ...(build ? { build } : {}),
      ...(serviceRange ? { services: { range: () => serviceRange } } : {}),
      ...(authorization ? { authorization } : {}),
      ...(proxyClient ? { proxyClient } : {}),
      ...(settings ? { settings } : {}),
      ...(tokenKey ? { tokenKey } : {}),
      ...(tokenIssuers ? { tokenIssuers } : {}),
      ...(fairness ? { fairness } : {}),
      ...(memory ? { memory } : {}),
      freezesObjects: true,
      address: '127.0.0.1:6443',
      ...(audit ? { audit: audit(clock) } : {}),
      maxWatches,
    })
    return new TestServer(clock, store, api, errors)
  }

  /** Sends anything. */
  async send<T = any>(sent: Sent): Promise<Reply<T>> {
    const exchange = new MemoryExchange(sent)
    await this.api.handle(exchange)
    const { code, headers, text } = await exchange.answered
    const isJson = String(headers['content-type'] ?? '').startsWith('application/json')
    const warnings = [headers.warning ?? []].flat().map((w) => Buffer.from(w, 'latin1').toString())
    return { code, headers, text, body: (isJson && text ? readJson(text) : undefined) as T, warnings }
  }

  get<T = any>(url: string, headers?: Record<string, string>): Promise<Reply<T>> {
    return this.send({ method: 'GET', url, headers })
  }

  create<T = any>(url: string, object: object): Promise<Reply<T>> {
    return this.send({ method: 'POST', url, headers: { 'content-type': 'application/json' }, body: Buffer.from(jsonText(object)) })
  }

  update<T = any>(url: string, object: object): Promise<Reply<T>> {
    return this.send({ method: 'PUT', url, headers: { 'content-type': 'application/json' }, body: Buffer.from(jsonText(object)) })
  }

  patch<T = any>(url: string, patch: object, type: 'merge' | 'json' | 'strategic' = 'merge'): Promise<Reply<T>> {
    const names = { merge: 'merge-patch', json: 'json-patch', strategic: 'strategic-merge-patch' }
    const headers = { 'content-type': `application/${names[type]}+json` }
    return this.send({ method: 'PATCH', url, headers, body: Buffer.from(jsonText(patch)) })
  }

  delete<T = any>(url: string, options?: object): Promise<Reply<T>> {
    const body = options && Buffer.from(jsonText(options))
    return this.send({ method: 'DELETE', url, ...(body ? { headers: { 'content-type': 'application/json' }, body } : {}) })
  }

  /** Opens a watch; `url` has no `watch=true` of its own. */
  async watch(url: string, headers?: Record<string, string>): Promise<TestWatch> {
    const exchange = new MemoryExchange({ method: 'GET', url: `${url}${url.includes('?') ? '&' : '?'}watch=true`, headers })
    await this.api.handle(exchange)
    const { code, text } = await exchange.answered
    if (code !== 200) throw new Error(`the watch was answered with ${code}: ${text}`)
    return new TestWatch(exchange, this.clock)
  }

  /** The value of a series of /metrics; `labels` must all be there. Undefined if there is none. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
    const { text } = await this.get('/metrics')
    const line = text.split('\n').find((l) => {
      const rest = l.slice(name.length)
      return l.startsWith(name) && /^[{ ]/.test(rest) && Object.entries(labels).every(([k, v]) => rest.includes(`${k}="${v}"`))
    })
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1))
  }

  /** Ends this server, and starts another on what it has stored. */
  async restart(options: Options = {}): Promise<TestServer> {
    this.api.close()
    return TestServer.start({ ...options, store: this.store })
  }

  async close(): Promise<void> {
    this.api.close()
    await this.store.close()
  }
}

/** The client's end of a watch. */
export class TestWatch {
  readonly exchange: MemoryExchange
  readonly #clock: VirtualClock

  constructor(exchange: MemoryExchange, clock: VirtualClock) {
    this.exchange = exchange
    this.#clock = clock
  }

  /** Returns the lines since the last call. */
  async take(): Promise<Line[]> {
    await settle()
    // Under load lines are gathered for a few milliseconds.
    this.#clock.advance(10)
    await settle()
    return this.exchange.takeLines() as Line[]
  }

  /** As `take`, but only type and name: `ADDED a`. */
  async takeNames(): Promise<string[]> {
    return (await this.take()).map(({ type, object }) => `${type} ${object.metadata.name}`)
  }
}

/** Lets everything that is under way come to rest: a memory store takes microtasks and nothing else. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Lets one turn of the event loop after the other pass until something is so: for ten seconds of real time at most. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it did not come to pass: ${what}`)
    await settle()
  }
}

/** A ConfigMap: the plainest object there is. */
export const configMap = (name: string, data: Record<string, string> = {}, labels?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels ? { labels } : {}) },
  data,
})

export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
})

export const configMaps = '/api/v1/namespaces/default/configmaps'
export const pods = '/api/v1/namespaces/default/pods'
export const services = '/api/v1/namespaces/default/services'
