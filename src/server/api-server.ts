import type { FeatureGates } from '../api/feature-gates.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import type { Store } from '../store/index.ts'
import type { AdmissionPlugin } from './admission/admission.ts'
import { ApiHandler } from './api-handler.ts'
import type { Authenticator } from './auth/authenticate.ts'
import type { KeyPair } from './auth/certificates.ts'
import { OpenIdDiscovery } from './auth/openid.ts'
import { ServiceAccountTokens } from './auth/service-account-tokens.ts'
import { bootstrap } from './bootstrap.ts'
import { Discovery, reviewKinds } from './discovery/index.ts'
import { startExpiry } from './expiry.ts'
import { Health } from './health.ts'
import type { DocumentAnswer, DocumentRequest } from './http/document.ts'
import type { Exchange } from './http/exchange.ts'
import { NodeRelay } from './http/node-relay.ts'
import { jsonDocument, webService } from './http/web-service.ts'
import { MetricsApi, NodeScraper, askOverTls, nodeMetrics, podMetrics } from './metrics/index.ts'
import { ProxyDoor } from './proxy/proxy-door.ts'
import { ObjectAccess } from './object-access.ts'
import { ObjectStore } from './object-store.ts'
import { OpenApi } from './openapi/index.ts'
import { Registry } from './registry.ts'
import { RequestMetrics } from './request-metrics.ts'
import type { ServerParts } from './request.ts'
import { ResourceCalls } from './resource-calls.ts'
import { allActions, allResources } from './resources/index.ts'
import { type ResourceSettings, withSettings } from './resources/settings.ts'
import { ownBuild, storedReader, writerMark } from './read-stored.ts'
import { registerServerMetrics } from './server-metrics.ts'
import type { Action } from './subresources/action.ts'
import { versionInfo } from './version.ts'
import { Virtual } from './virtual-resources.ts'

export interface ApiServerOptions {
  store: Store
  gates: FeatureGates
  authenticator: Authenticator
  admission: readonly AdmissionPlugin[]
  clock: Clock
  random: Random
  logger: Logger
  /** Ours, for /version. */
  release: string
  /** Names the sources of the program: what the same build has stored with the same gates is served as it is. */
  build?: string
  /** `127.0.0.1:6443`: what discovery tells clients. */
  address: string
  /** What nodes are shown when they are asked for logs and the like. */
  nodeClient?: KeyPair
  /** Signs the tokens of service accounts, in PEM; without it they are worth nothing after the server has ended. */
  tokenKey?: string
  /** --service-account-issuer; the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  /** --service-account-jwks-uri: where OpenID discovery says the keys are. */
  jwksUri?: string
  /** Flags that change the rules of kinds. */
  settings?: ResourceSettings
  maxWatches?: number
  /** Freezes every object that is written, so that whoever changes what is stored fails at it. Tests want that; for others it costs too much. */
  freezesObjects?: boolean
}

/** The API of one cluster over one store. It knows no sockets: exchanges are handed to it. */
export class ApiServer {
  readonly metrics = new MetricsRegistry()
  readonly parts: ServerParts
  /** Requests for resources without HTTP. */
  readonly calls: ResourceCalls
  readonly requestMetrics: RequestMetrics
  /** What else is served, by path: whoever runs beside the server puts it here. */
  readonly pages = new Map<string, () => { type: string; body: string }>()
  readonly #handler: ApiHandler
  readonly health: Health
  readonly openId: OpenIdDiscovery
  readonly #discovery: Discovery
  readonly #openApi: OpenApi
  readonly #release: string
  /** What is to be told that the server can serve no more. */
  readonly #ends = new Set<(why: Error) => void>()
  #lost: Error | undefined
  #isStopping = false
  #endExpiry: () => void = () => {}

  private constructor(options: ApiServerOptions, parts: ServerParts, tokens: ServiceAccountTokens, actions: readonly Action[]) {
    this.parts = parts
    this.#release = options.release
    const served = { resources: parts.registry.all().map((r) => r.resource), actions, virtual: reviewKinds }
    this.#discovery = new Discovery({ ...served, virtual: [...reviewKinds, nodeMetrics, podMetrics] }, options.address)
    this.#openApi = new OpenApi(served, options.release)
    this.openId = new OpenIdDiscovery(tokens, options.address, options.jwksUri)
    this.health = new Health(
      [{ name: 'store', check: () => this.#lost?.message }],
      [{ name: 'shutdown', check: () => (this.#isStopping ? 'process is shutting down' : undefined) }],
    )
    options.authenticator.setTokenReader((token, audiences) => tokens.identify(token, parts.access, audiences), tokens.audiences)
    registerServerMetrics(this.metrics, parts, options.gates)
    this.requestMetrics = new RequestMetrics(this.metrics)
    const scraper = new NodeScraper(options.clock, askOverTls(options.nodeClient, options.clock))
    const metrics = new MetricsApi({ objects: parts.access, clock: options.clock, scraper })
    this.calls = new ResourceCalls({
      parts,
      virtual: new Virtual(parts, options.authenticator, metrics),
      hasGroup: async (group) => group === '' || (await this.document({ method: 'GET', path: `/apis/${group}` })) !== undefined,
      lost: () => this.#lost,
    })
    this.#handler = new ApiHandler({
      parts,
      authenticator: options.authenticator,
      documents: { answer: (request) => this.document(request) },
      calls: this.calls,
      metrics: this.requestMetrics,
      logger: options.logger,
      relay: new NodeRelay(options.nodeClient),
      proxy: new ProxyDoor({ objects: parts.access, random: options.random, identity: options.nodeClient }),
      maxWatches: options.maxWatches ?? 10_000,
    })
  }

  /** Loads what is stored and makes the objects that every cluster has. */
  static async open(options: ApiServerOptions): Promise<ApiServer> {
    const tokens = new ServiceAccountTokens(options.clock, options.random, options.tokenKey, options.tokenIssuers)
    const actions = allActions(tokens)
    const registry = new Registry(withSettings(allResources(options.random), options.settings ?? {}), actions)
    const { gates, admission, clock, random, logger } = options
    let server: ApiServer | undefined
    const onLost = (why: Error) => {
      logger.error('the store can no longer be followed', { error: why })
      if (server) server.#lose(why)
    }
    const reader = storedReader(() => ({ gates, now: clock.now() }), logger)
    const mark = writerMark(options.build ?? ownBuild, gates)
    const freezes = options.freezesObjects
    const objects = await ObjectStore.open(options.store, registry, onLost, { reader, mark, freezes })
    const parts: ServerParts = { registry, objects, gates, admission, clock, random, access: new ObjectAccess(registry, objects, () => parts) }
    server = new ApiServer(options, parts, tokens, actions)
    await bootstrap(parts)
    server.#endExpiry = startExpiry(registry.storages(), { objects, clock, logger })
    return server
  }

  handle(exchange: Exchange): Promise<void> {
    return this.#handler.handle(exchange)
  }

  /** From now on /readyz fails, so that clients go elsewhere, and watches end, so that nobody has to be cut off. */
  beginStop(): void {
    this.#isStopping = true
    this.#handler.endWatches()
  }

  close(): void {
    this.#endExpiry()
    this.parts.objects.close()
    this.#lose(new Error('the server is closed'))
  }

  /** Calls `fn` once when the server can serve no more: at once if that is so already. The returned function takes that back. */
  whenEnded(fn: (why: Error) => void): () => void {
    if (this.#lost) fn(this.#lost)
    else this.#ends.add(fn)
    return () => this.#ends.delete(fn)
  }

  #lose(why: Error): void {
    if (this.#lost) return
    this.#lost = why
    this.#endExpiry()
    this.#handler.cutWatches()
    for (const end of this.#ends) end(why)
    this.#ends.clear()
  }

  /** What can be asked for besides objects, for people who start at the root. */
  #paths(): string[] {
    const versions = new Set(this.parts.registry.all().map((r) => r.apiVersion))
    const groups = [...versions].filter((v) => v.includes('/')).flatMap((v) => [`/apis/${v.split('/')[0]}`, `/apis/${v}`])
    const openId = ['/.well-known/openid-configuration', '/openid/v1/jwks']
    const documents = ['/api', '/api/v1', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version']
    const others = [...documents, ...openId, ...this.pages.keys()]
    return [...new Set([...groups, ...others])].sort()
  }

  /** What is not about objects: discovery, OpenAPI, health, metrics, pages. Nothing where the path is none of these. */
  async document(request: DocumentRequest): Promise<DocumentAnswer | undefined> {
    const { path, method } = request
    const own = webService('/version', request, () => jsonDocument(versionInfo(this.#release))) ?? this.openId.answer(request)
    if (own) return own
    if (path === '/' && method === 'GET') return jsonDocument({ paths: this.#paths() })
    if (path === '/metrics' && method === 'GET') {
      return { code: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: Buffer.from(this.metrics.text()) }
    }
    const page = method === 'GET' ? this.pages.get(path)?.() : undefined
    if (page) return { code: 200, headers: { 'content-type': page.type }, body: Buffer.from(page.body) }
    return this.health.answer(request) ?? (await this.#discovery.answer(request)) ?? this.#openApi.answer(request)
  }
}
