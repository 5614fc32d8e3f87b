import type { FeatureGates } from '../api/feature-gates.ts'
import { type Clock, turnsOf } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import type { Store } from '../store/index.ts'
import type { Auditor } from './audit/index.ts'
import type { AdmissionPlugin } from './admission/admission.ts'
import { rbacEscalation } from './admission/rbac-escalation.ts'
import { AggregationDoor, Aggregator } from './aggregation/index.ts'
import { type Anonymous, ApiHandler } from './http/api-handler.ts'
import type { Authenticator, TokenReader } from './auth/authenticate.ts'
import { bootstrapTokens } from './auth/authenticators/bootstrap-tokens.ts'
import { LegacyTokens } from './auth/authenticators/legacy-tokens.ts'
import type { KeyPair } from './auth/certificates.ts'
import { OpenIdDiscovery } from './auth/openid.ts'
import { ServiceAccountTokens } from './auth/service-account-tokens.ts'
import { type Memory, MemoryGuard } from './memory/index.ts'
import { Fairness, type FairnessSettings, defaultFairness, followFlowObjects } from './fairness/index.ts'
import { bootstrap, keepBootstrapObjects } from './upkeep/bootstrap.ts'
import { type ComponentCheck, ComponentStatuses } from './status/component-statuses.ts'
import { CustomResources } from './custom-resources/index.ts'
import { Discovery, documented, servedBy } from './discovery/index.ts'
import { startExpiry } from './upkeep/expiry.ts'
import { Health } from './status/health.ts'
import { keepLocalApiServices } from './upkeep/local-api-services.ts'
import type { DocumentAnswer, DocumentRequest } from './http/document.ts'
import type { Exchange } from './http/exchange.ts'
import { NodeRelay } from './http/node-relay.ts'
import { jsonDocument, webService } from './http/web-service.ts'
import { MetricsApi, NodeScraper, askOverTls } from './metrics/index.ts'
import { ProxyDoor } from './proxy/proxy-door.ts'
import { ObjectAccess } from './objects/object-access.ts'
import { ObjectStore } from './objects/object-store.ts'
import { OpenApi } from './openapi/index.ts'
import { type Registered, Registry } from './registry/registry.ts'
import { LongTurns } from './requests/long-turns.ts'
import { RequestMetrics } from './requests/request-metrics.ts'
import type { ServerParts } from './requests/request.ts'
import { RequestPath } from './requests/serve.ts'
import { type AuthorizerChoice, makeAuthorization } from './auth/authorization/index.ts'
import { reconcilePolicy } from './auth/bootstrap-policy/reconcile.ts'
import { allActions, allResources } from './resources/index.ts'
import { ServiceAllocation } from './resources/core/service-allocation.ts'
import { type ResourceSettings, withSettings } from './resources/settings.ts'
import { ownBuild, storedReader, writerMark } from './objects/read-stored.ts'
import type { Resource } from './registry/resource.ts'
import { registerServerMetrics } from './status/server-metrics.ts'
import { bindings } from './subresources/pod-binding.ts'
import { reviewResources } from './reviews/index.ts'
import { type ClientAuthorities, keepAuthenticationConfig } from './upkeep/authentication-config.ts'
import { keepPolicyStatus } from './upkeep/policy-status.ts'
import { keepTokenSecrets } from './upkeep/token-secrets.ts'
import { AddressUpkeep } from './upkeep/service-addresses.ts'
import { versionInfo } from './status/version.ts'
import { WebhookClient } from './webhooks/client.ts'

export interface ApiServerOptions {
  store: Store
  gates: FeatureGates
  authenticator: Authenticator
  admission: readonly AdmissionPlugin[]
  /** The authorizers, in the order in which they are asked. Default: every user who is let in may do everything. */
  authorization?: readonly AuthorizerChoice[]
  /** What requests without credentials are. Default: allowed on paths of health and version only. */
  anonymous?: Anonymous
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
  /** The front proxy's certificate, by which other API servers know who passes requests on to them. */
  proxyClient?: KeyPair
  /** Signs the tokens of service accounts, in PEM; without it they are worth nothing after the server has ended. */
  tokenKey?: string
  /** The certificate that vouches for the server, in PEM: `ca.crt` of token Secrets. */
  rootCa?: string
  /** The certificates that vouch for clients, which extension API servers are told of. */
  clientAuthorities?: ClientAuthorities
  /** --service-account-issuer; the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  /** --enable-bootstrap-token-auth. Default: true. */
  acceptsBootstrapTokens?: boolean
  /** --service-account-jwks-uri: where OpenID discovery says the keys are. */
  jwksUri?: string
  /** Flags that change the rules of kinds. */
  settings?: ResourceSettings
  maxWatches?: number
  /** How requests that come from outside share the server. */
  fairness?: FairnessSettings
  /** The memory that there is: requests that take much of it are refused before it ends. Default: nobody looks after it. */
  memory?: Memory
  /** Records requests. Whoever made it closes it after the server. */
  audit?: Auditor | undefined
  /** Freezes every object that is written, so that whoever changes what is stored fails at it. Tests want that; for others it costs too much. */
  freezesObjects?: boolean
}

/** The API of one cluster over one store. It knows no sockets: exchanges are handed to it. */
export class ApiServer {
  readonly metrics: MetricsRegistry
  readonly parts: ServerParts
  /** Requests for resources without HTTP. */
  readonly requests: RequestPath
  readonly requestMetrics: RequestMetrics
  readonly audit: Auditor | undefined
  /** The groups and versions that other API servers serve. */
  readonly aggregator: Aggregator
  /** What else is served, by path: whoever runs beside the server puts it here. */
  readonly pages = new Map<string, () => { type: string; body: string }>()
  /** Other parts of the control plane in this process, by the name that `kubectl get componentstatuses` has for them. */
  readonly components: Map<string, ComponentCheck>
  readonly #handler: ApiHandler
  readonly #fairness: Fairness
  readonly health: Health
  readonly openId: OpenIdDiscovery
  readonly #address: string
  /** What is told of the kinds that are served, and of which generation of them. */
  #served: { generation: string; discovery: Discovery; openApi: OpenApi }
  readonly release: string
  /** What is to be told that the server can serve no more. */
  readonly #ends = new Set<(why: Error) => void>()
  #lost: Error | undefined
  #isStopping = false

  private constructor(options: ApiServerOptions, parts: ServerParts, tokens: ServiceAccountTokens, components: Map<string, ComponentCheck>, metrics: MetricsRegistry) {
    this.parts = parts
    this.components = components
    this.metrics = metrics
    this.release = options.release
    this.audit = options.audit
    this.audit?.register(this.metrics)
    const { clock, random, logger, proxyClient } = options
    this.aggregator = new Aggregator({ objects: parts.access, clock, random, logger, proxyClient })
    this.#address = options.address
    this.#served = this.#describe()
    this.openId = new OpenIdDiscovery(tokens, options.address, options.jwksUri)
    this.health = new Health(
      [{ name: 'store', check: () => this.#lost?.message }],
      [{ name: 'shutdown', check: () => (this.#isStopping ? 'process is shutting down' : undefined) }],
    )
    options.authenticator.setTokenReaders(ownTokens(tokens, parts, options), tokens.audiences)
    registerServerMetrics(this.metrics, parts, options.gates)
    this.requestMetrics = new RequestMetrics(this.metrics)
    this.#fairness = new Fairness({ clock: options.clock, metrics: this.metrics, settings: options.fairness ?? defaultFairness })
    const longTurns = new LongTurns(this.metrics, options.logger)
    this.requests = new RequestPath({
      parts,
      hasGroup: async (group) =>
        group === '' || (!isCustomGroup(parts, group) && (await this.document({ method: 'GET', path: `/apis/${group}` })) !== undefined),
      lost: () => this.#lost,
      longTurns,
    })
    this.#handler = new ApiHandler({
      parts,
      authenticator: options.authenticator,
      documents: { answer: (request) => this.document(request) },
      requests: this.requests,
      metrics: this.requestMetrics,
      logger: options.logger,
      longTurns,
      relay: new NodeRelay(options.nodeClient),
      aggregator: this.aggregator,
      aggregation: new AggregationDoor(this.aggregator.access),
      proxy: new ProxyDoor({ objects: parts.access, random: options.random, identity: options.nodeClient }),
      fairness: this.#fairness,
      memory: options.memory && new MemoryGuard({ memory: options.memory, clock: options.clock, metrics: this.metrics, logger: options.logger }),
      maxWatches: options.maxWatches ?? 10_000,
      anonymous: options.anonymous ?? 'health',
      audit: options.audit,
    })
  }

  /** Loads what is stored and makes the objects that every cluster has. */
  static async open(options: ApiServerOptions): Promise<ApiServer> {
    const tokens = new ServiceAccountTokens(options.clock, options.random, options.tokenKey, options.tokenIssuers)
    const { gates, admission, clock, random, logger, authenticator } = options
    const scraper = new NodeScraper(clock, askOverTls(options.nodeClient, clock))
    const metrics = new MetricsApi({ objects: () => parts.access, clock, scraper })
    const checks = new Map<string, ComponentCheck>()
    const statuses = new ComponentStatuses({ objects: () => parts.access, now: () => clock.now(), checks, lost: () => (server ? server.#lost : undefined) })
    const reviews = reviewResources({ authorizer: () => parts.authorizer, identify: (token, audiences) => authenticator.identify(token, audiences) })
    const answered = [...reviews, bindings, ...metrics.resources(), statuses.resource()]
    const allocation = new ServiceAllocation(random)
    const stored = allResources(random, allocation).filter(({ gate }) => !gate || gates.enabled(gate))
    const registry = new Registry([...withSettings(stored, options.settings ?? {}), ...answered], allActions(tokens))
    let server: ApiServer | undefined
    const onLost = (why: Error) => {
      logger.error('the store can no longer be followed', { error: why })
      if (server) server.#lose(why)
    }
    const reader = storedReader(() => ({ gates, now: clock.now() }), logger)
    const mark = writerMark(options.build ?? ownBuild, gates)
    const freezes = options.freezesObjects
    const objects = await ObjectStore.open(options.store, registry, onLost, { reader, mark, freezes })
    const access: ObjectAccess = new ObjectAccess(registry, objects, () => parts)
    const measured = new MetricsRegistry()
    const authorization = makeAuthorization(options.authorization ?? [{ type: 'AlwaysAllow' }], access, clock, measured)
    const { authorizer } = authorization
    const webhooks = new WebhookClient({ objects: access, random, clock })
    const ends: (() => void)[] = [() => webhooks.close()]
    const pluginServer = { objects: access, registry, authorizer, clock, random, webhooks, metrics: measured, logger, whenEnded: (fn: () => void) => void ends.push(fn) }
    const parts: ServerParts = { registry, objects, gates, admission: [], authorizer, clock, random, access }
    parts.admission = [...admission.map((plugin) => plugin.forServer?.(pluginServer) ?? plugin), rbacEscalation(() => authorization)]
    server = new ApiServer(options, parts, tokens, checks, measured)
    for (const end of ends) server.whenEnded(end)
    await bootstrap(parts)
    server.whenEnded(keepBootstrapObjects(parts, logger))
    if (authorization.usesRbac) await reconcilePolicy(parts)
    await followFlowObjects(parts, server.#fairness, logger)
    const custom = new CustomResources(parts, webhooks, logger)
    server.whenEnded(() => custom.end())
    await custom.start()
    server.whenEnded(keepPolicyStatus(parts, logger))
    server.whenEnded(await keepLocalApiServices(parts, logger))
    const { aggregator } = server
    server.whenEnded(() => aggregator.end())
    aggregator.start()
    const upkeep = new AddressUpkeep({ objects: parts.access, addresses: allocation.addresses, clock, logger })
    server.whenEnded(() => upkeep.stop())
    await upkeep.start()
    server.whenEnded(keepTokenSecrets({ objects: parts.access, tokens, rootCa: options.rootCa, logger }))
    if (options.clientAuthorities) await keepAuthenticationConfig(parts.access, options.clientAuthorities, logger)
    server.whenEnded(startExpiry(registry, { objects, clock, logger }))
    return server
  }

  /** Serves further kinds from now on, with all that is stored of them. The function that comes back takes them away, and leaves their objects. */
  async serve(resources: readonly Resource[]): Promise<() => void> {
    const { registry, objects } = this.parts
    const declared = registry.declare(resources)
    const opened: Registered[] = []
    const close = () => {
      for (const place of opened.splice(0)) objects.closeKind(place)
    }
    try {
      for (const place of declared) {
        if (place.storage !== place || place.resource.virtual) continue
        await objects.openKind(place)
        opened.push(place)
      }
      registry.publish(declared)
    } catch (e) {
      close()
      throw e
    }
    return () => {
      registry.remove(declared)
      close()
    }
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
    this.#handler.cutWatches()
    for (const end of this.#ends) end(why)
    this.#ends.clear()
  }

  /** What can be asked for besides objects, for people who start at the root. */
  #paths(): string[] {
    const remotes = this.aggregator.remotes().map(({ group, version }) => `${group}/${version}`)
    const versions = new Set([...this.parts.registry.all().map((r) => r.apiVersion), ...remotes])
    const groups = [...versions].filter((v) => v.includes('/')).flatMap((v) => [`/apis/${v.split('/')[0]}`, `/apis/${v}`])
    const openId = ['/.well-known/openid-configuration', '/openid/v1/jwks']
    const documents = ['/api', '/api/v1', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version']
    const others = [...documents, ...openId, ...this.pages.keys()]
    return [...new Set([...groups, ...others])].sort()
  }

  #describe() {
    const { aggregator } = this
    const remotes = aggregator.remotes()
    const own = this.parts.registry.all().filter(({ resource }) => !aggregator.has(resource.group, resource.version))
    const served = servedBy(own)
    const discovery = new Discovery(served, this.#address, remotes)
    return { generation: this.#generation(), discovery, openApi: new OpenApi(documented(served), this.release, remotes) }
  }

  async #metricsText(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.metrics.bytes(turnsOf(this.parts.clock))) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Discovery and OpenAPI of the kinds that are served now. */
  #documents() {
    if (this.#served.generation !== this.#generation()) this.#served = this.#describe()
    return this.#served
  }

  #generation(): string {
    return `${this.parts.registry.generation} ${this.aggregator.generation}`
  }

  /** What is not about objects: discovery, OpenAPI, health, metrics, pages. Nothing where the path is none of these. */
  async document(request: DocumentRequest): Promise<DocumentAnswer | undefined> {
    const { path, method } = request
    const own = webService('/version', request, () => jsonDocument(versionInfo(this.release))) ?? this.openId.answer(request)
    if (own) return own
    if (path === '/' && method === 'GET') return jsonDocument({ paths: this.#paths() })
    if (path === '/metrics' && method === 'GET') {
      return { code: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: await this.#metricsText() }
    }
    const page = method === 'GET' ? this.pages.get(path)?.() : undefined
    if (page) return { code: 200, headers: { 'content-type': page.type }, body: Buffer.from(page.body) }
    return this.health.answer(request) ?? (await this.#documents().discovery.answer(request)) ?? this.#documents().openApi.answer(request)
  }
}

/** The readers of tokens that the server issues, or that stand in its Secrets, in Kubernetes' order. */
function ownTokens(tokens: ServiceAccountTokens, { access }: ServerParts, options: ApiServerOptions): TokenReader[] {
  const { clock, logger, acceptsBootstrapTokens = true } = options
  const legacy = new LegacyTokens({ tokens, objects: access, clock, logger })
  return [
    (token, audiences) => tokens.identify(token, access, audiences),
    (token, audiences) => legacy.identify(token, audiences),
    ...(acceptsBootstrapTokens ? [bootstrapTokens(access, clock, tokens.audiences)] : []),
  ]
}

/** True if a group has kinds that users bring. */
const isCustomGroup = ({ registry }: ServerParts, group: string): boolean =>
  registry.all().some(({ resource }) => resource.isCustom && resource.group === group)
