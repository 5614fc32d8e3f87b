import { type Clock, turnsOf } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { Auditor } from './audit/index.ts'
import { AggregationDoor, Aggregator } from './aggregation/index.ts'
import { ApiHandler } from './http/api-handler.ts'
import type { TokenReader } from './auth/authenticate.ts'
import { bootstrapTokens } from './auth/authenticators/bootstrap-tokens.ts'
import { LegacyTokens } from './auth/authenticators/legacy-tokens.ts'
import { OpenIdDiscovery } from './auth/openid.ts'
import type { ServiceAccountTokens } from './auth/service-account-tokens.ts'
import { MemoryGuard } from './memory/index.ts'
import { Fairness, defaultFairness, followFlowObjects } from './fairness/index.ts'
import { bootstrap, keepBootstrapObjects } from './upkeep/bootstrap.ts'
import type { ComponentCheck } from './status/component-statuses.ts'
import { CustomResources } from './custom-resources/index.ts'
import { Discovery, documented, servedBy } from './discovery/index.ts'
import { startExpiry } from './upkeep/expiry.ts'
import { Health, storeChecks } from './status/health.ts'
import { keepLocalApiServices } from './upkeep/local-api-services.ts'
import { type DocumentAnswer, type DocumentRequest, jsonDocument, webService } from './http/answer/document.ts'
import type { Exchange } from './http/exchange/exchange.ts'
import { NodeRelay } from './http/node/node-relay.ts'
import { ProxyDoor } from './proxy/proxy-door.ts'
import { OpenApi } from './openapi/index.ts'
import { ParserPool } from './parsing/parser-pool.ts'
import type { Registered } from './registry/registry.ts'
import { LongTurns } from './requests/long-turns.ts'
import { RequestMetrics } from './requests/request-metrics.ts'
import type { ServerParts } from './requests/request.ts'
import { RequestPath } from './requests/serve.ts'
import { reconcilePolicy } from './auth/bootstrap-policy/reconcile.ts'
import type { ServiceAllocation } from './resources/core/service/service-allocation.ts'
import type { Resource } from './registry/resource.ts'
import { registerServerMetrics } from './status/server-metrics.ts'
import { keepAuthenticationConfig } from './upkeep/authentication-config.ts'
import { keepPolicyStatus } from './upkeep/policy-status.ts'
import { keepTokenSecrets } from './upkeep/token-secrets.ts'
import { NodePortClaims } from './resources/core/service/node-port-claims.ts'
import { NodePortUpkeep } from './upkeep/node-ports.ts'
import { AddressUpkeep } from './upkeep/service-addresses.ts'
import { settleServiceRange, storedServiceRange } from './upkeep/service-range.ts'
import { type Assembly, assemble } from './assembly.ts'
import type { ApiServerOptions } from './server-options.ts'
import { versionInfo } from './status/version.ts'

/** The API of one cluster over one store. It has no sockets: a listener passes each exchange to `handle`. */
export class ApiServer {
  readonly metrics: MetricsRegistry
  readonly parts: ServerParts
  /** Handles requests for resources, without HTTP. */
  readonly requests: RequestPath
  readonly requestMetrics: RequestMetrics
  readonly audit: Auditor | undefined
  /** The API groups that extension API servers serve. */
  readonly aggregator: Aggregator
  /** Additional documents by path, added by other components of the process. */
  readonly pages = new Map<string, () => { type: string; body: string }>()
  /** Health checks of other components in this process, by the name in `kubectl get componentstatuses`. */
  readonly components: Map<string, ComponentCheck>
  readonly #handler: ApiHandler
  readonly #fairness: Fairness
  readonly health: Health
  readonly openId: OpenIdDiscovery
  readonly #address: string
  /** Discovery and OpenAPI documents, and the generation of the served kinds that they describe. */
  #served: { generation: string; discovery: Discovery; openApi: OpenApi }
  readonly release: string
  /** Callbacks for the end of the server. */
  readonly #ends = new Set<(why: Error) => void>()
  #lost: Error | undefined
  #custom: CustomResources | undefined
  #isStopping = false

  private constructor(options: ApiServerOptions, assembly: Assembly) {
    const { parts, tokens } = assembly
    this.parts = parts
    this.components = assembly.components
    this.metrics = assembly.metrics
    this.release = options.release
    this.audit = options.audit
    this.audit?.register(this.metrics)
    const { clock, random, logger, proxyClient } = options
    this.aggregator = new Aggregator({
      objects: parts.access,
      clock,
      random,
      logger,
      proxyClient,
      metrics: this.metrics,
    })
    this.#address = options.address
    this.#served = this.#describe()
    this.openId = new OpenIdDiscovery(tokens, options.address, options.jwksUri)
    this.health = new Health(
      [{ name: 'store', check: () => this.#lost?.message }],
      [
        ...storeChecks(parts.objects.store),
        { name: 'shutdown', check: () => (this.#isStopping ? 'process is shutting down' : undefined) },
      ],
    )
    options.authenticator.setTokenReaders(ownTokens(tokens, parts, options), tokens.audiences)
    registerServerMetrics(this.metrics, parts, options.gates)
    this.requestMetrics = new RequestMetrics(this.metrics)
    this.#fairness = new Fairness({
      clock: options.clock,
      metrics: this.metrics,
      settings: options.fairness ?? defaultFairness,
    })
    const longTurns = new LongTurns(this.metrics, options.logger)
    this.requests = new RequestPath({
      parts,
      hasGroup: async (group) =>
        group === '' ||
        (!isCustomGroup(parts, group) &&
          (await this.document({ method: 'GET', path: `/apis/${group}` })) !== undefined),
      lost: () => this.#lost,
      longTurns,
      kindsSettled: () => this.#custom?.settled() ?? Promise.resolve(),
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
      memory:
        options.memory &&
        new MemoryGuard({
          memory: options.memory,
          clock: options.clock,
          metrics: this.metrics,
          logger: options.logger,
        }),
      parser: options.parserProgram === undefined ? undefined : this.#openParser(options.clock, options.parserProgram),
      maxWatches: options.maxWatches ?? 10_000,
      anonymous: options.anonymous ?? 'health',
      audit: options.audit,
    })
    assembly.loss.current = () => this.#lost
    assembly.loss.tell = (why) => this.#lose(why)
    for (const end of assembly.ends) this.whenEnded(end)
  }

  /** Assembles the parts, creates the objects of every cluster and starts the loops that maintain them. */
  static async open(options: ApiServerOptions): Promise<ApiServer> {
    const assembly = await assemble(options)
    const server = new ApiServer(options, assembly)
    await server.#makeOwnObjects(options, assembly)
    await server.#followObjects(options, assembly)
    await server.#startUpkeep(options, assembly)
    return server
  }

  /** Creates the objects that every cluster has: namespaces, default Services, flow schemas, RBAC policy. */
  async #makeOwnObjects(
    { services, logger }: ApiServerOptions,
    { allocation, authorization }: Assembly,
  ): Promise<void> {
    const { access: objects, registry } = this.parts
    const range = await services?.range?.(storedServiceRange(objects))
    if (range !== undefined) {
      const { resource } = registry.find('v1', 'services')!
      await settleServiceRange({ objects, services: resource, addresses: allocation.addresses, logger }, range)
    }
    await bootstrap(this.parts, range)
    this.whenEnded(keepBootstrapObjects(this.parts, logger))
    if (authorization.usesRbac) await reconcilePolicy(this.parts)
  }

  /** Follows the objects that configure the server: flow schemas, custom resources, policies, APIServices. */
  async #followObjects({ logger }: ApiServerOptions, { webhooks }: Assembly): Promise<void> {
    await followFlowObjects(this.parts, this.#fairness, logger)
    const custom = new CustomResources(this.parts, webhooks, this.metrics, logger)
    this.#custom = custom
    this.whenEnded(() => custom.end())
    await custom.start()
    this.whenEnded(keepPolicyStatus(this.parts, logger))
    this.whenEnded(await keepLocalApiServices(this.parts, logger))
    this.whenEnded(() => this.aggregator.end())
    this.aggregator.start()
  }

  /** Starts the loops that repair allocations, publish credentials and expire objects. */
  async #startUpkeep(options: ApiServerOptions, { allocation, tokens }: Assembly): Promise<void> {
    const { access, registry, objects, clock } = this.parts
    const { rootCa, clientAuthorities, logger } = options
    for (const upkeep of serviceUpkeep(this.parts, allocation, logger)) {
      this.whenEnded(() => upkeep.stop())
      await upkeep.start()
    }
    this.whenEnded(keepTokenSecrets({ objects: access, tokens, rootCa, logger }))
    if (clientAuthorities) await keepAuthenticationConfig(access, clientAuthorities, logger)
    this.whenEnded(startExpiry(registry, { objects, clock, logger }))
  }

  /** Serves more kinds, with their stored objects. The returned function stops serving them and keeps their objects. */
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

  /** Makes /readyz fail, so that load balancers choose another server, and ends watches. */
  beginStop(): void {
    this.#isStopping = true
    this.#handler.endWatches()
  }

  close(): void {
    this.parts.objects.close()
    this.#lose(new Error('the server is closed'))
  }

  /**
   * Calls `fn` once when the server ends, or immediately if it has ended. The returned function removes the callback.
   */
  whenEnded(fn: (why: Error) => void): () => void {
    if (this.#lost) fn(this.#lost)
    else this.#ends.add(fn)
    return () => this.#ends.delete(fn)
  }

  #openParser(clock: Clock, program: string): ParserPool {
    const parser = new ParserPool({ clock, program })
    this.whenEnded(() => void parser.close())
    return parser
  }

  #lose(why: Error): void {
    if (this.#lost) return
    this.#lost = why
    this.#handler.cutWatches()
    for (const end of this.#ends) end(why)
    this.#ends.clear()
  }

  /** The paths that `GET /` lists. */
  #paths(): string[] {
    const remotes = this.aggregator.remotes().map(({ group, version }) => `${group}/${version}`)
    const versions = new Set([...this.parts.registry.all().map((r) => r.apiVersion), ...remotes])
    const groups = [...versions]
      .filter((v) => v.includes('/'))
      .flatMap((v) => [`/apis/${v.split('/')[0]}`, `/apis/${v}`])
    const openId = ['/.well-known/openid-configuration', '/openid/v1/jwks']
    const documents = [
      '/api',
      '/api/v1',
      '/apis',
      '/healthz',
      '/livez',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/readyz',
      '/version',
    ]
    const others = [...documents, ...openId, ...this.pages.keys()]
    return [...new Set([...groups, ...others])].sort()
  }

  #describe() {
    const { aggregator } = this
    const remotes = aggregator.remotes()
    const own = this.parts.registry.all().filter(({ resource }) => !aggregator.has(resource.group, resource.version))
    const served = servedBy(own)
    const discovery = new Discovery(served, this.#address, remotes)
    return {
      generation: this.#generation(),
      discovery,
      openApi: new OpenApi(documented(served), this.release, remotes),
    }
  }

  async #metricsText(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.metrics.bytes(turnsOf(this.parts.clock))) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  /** Discovery and OpenAPI of the currently served kinds. */
  #documents() {
    if (this.#served.generation !== this.#generation()) this.#served = this.#describe()
    return this.#served
  }

  #generation(): string {
    return `${this.parts.registry.generation} ${this.aggregator.generation}`
  }

  /** Answers non-resource paths: discovery, OpenAPI, health, metrics, pages. Undefined for an unknown path. */
  async document(request: DocumentRequest): Promise<DocumentAnswer | undefined> {
    const { path, method } = request
    const own =
      webService('/version', request, () => jsonDocument(versionInfo(this.release))) ?? this.openId.answer(request)
    if (own) return own
    if (path === '/' && method === 'GET') return jsonDocument({ paths: this.#paths() })
    if (path === '/metrics' && method === 'GET') {
      return {
        code: 200,
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        body: await this.#metricsText(),
      }
    }
    const page = method === 'GET' ? this.pages.get(path)?.() : undefined
    if (page) return { code: 200, headers: { 'content-type': page.type }, body: Buffer.from(page.body) }
    return (
      this.health.answer(request) ??
      (await this.#documents().discovery.answer(request)) ??
      this.#documents().openApi.answer(request)
    )
  }
}

/**
 * The loops that keep allocated addresses and ports consistent with Services. Node ports are claimed in the store if
 * other servers share it.
 */
function serviceUpkeep(
  { access: objects, objects: store, clock }: ServerParts,
  allocation: ServiceAllocation,
  logger: Logger,
): (AddressUpkeep | NodePortUpkeep)[] {
  const common = { objects, clock, logger, releasing: (done: Promise<void>) => allocation.releasing(done) }
  const addresses = new AddressUpkeep({ ...common, addresses: allocation.addresses })
  if (!store.isShared) return [addresses]
  const claims = new NodePortClaims(store.store)
  allocation.sharePorts(claims)
  return [addresses, new NodePortUpkeep({ ...common, store, claims })]
}

/** The readers of service account and bootstrap tokens, in Kubernetes' order. */
function ownTokens(tokens: ServiceAccountTokens, { access }: ServerParts, options: ApiServerOptions): TokenReader[] {
  const { clock, logger, acceptsBootstrapTokens = true } = options
  const legacy = new LegacyTokens({ tokens, objects: access, clock, logger })
  return [
    (token, audiences) => tokens.identify(token, access, audiences),
    (token, audiences) => legacy.identify(token, audiences),
    ...(acceptsBootstrapTokens ? [bootstrapTokens(access, clock, tokens.audiences)] : []),
  ]
}

/** True if the group has custom resources. */
const isCustomGroup = ({ registry }: ServerParts, group: string): boolean =>
  registry.all().some(({ resource }) => resource.isCustom && resource.group === group)
