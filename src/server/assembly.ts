import { MetricsRegistry } from '../base/metrics.ts'
import { AdmissionMetrics } from './admission/admission-metrics.ts'
import { rbacEscalation } from './admission/rbac-escalation.ts'
import { makeAuthorization } from './auth/authorization/index.ts'
import { ServiceAccountTokens } from './auth/service-account-tokens.ts'
import { MetricsApi, NodeScraper, askOverTls } from './metrics/index.ts'
import { ObjectAccess } from './objects/object-access.ts'
import { ObjectStore } from './objects/object-store.ts'
import { ownBuild, storedReader, writerMark } from './objects/read-stored.ts'
import { Registry } from './registry/registry.ts'
import type { Resource } from './registry/resource.ts'
import type { ServerParts } from './requests/request.ts'
import { ServiceAllocation } from './resources/core/service/service-allocation.ts'
import { allActions, allResources } from './resources/index.ts'
import { withSettings } from './resources/settings.ts'
import { reviewResources } from './reviews/index.ts'
import type { ApiServerOptions } from './server-options.ts'
import { type ComponentCheck, ComponentStatuses } from './status/component-statuses.ts'
import { bindings } from './subresources/pod-binding.ts'
import { WebhookClient } from './webhooks/client.ts'

/** The parts of a server that exist before it does. */
export interface Assembly {
  parts: ServerParts
  tokens: ServiceAccountTokens
  allocation: ServiceAllocation
  authorization: ReturnType<typeof makeAuthorization>
  webhooks: WebhookClient
  metrics: MetricsRegistry
  /** Health checks of components in this process, by name. */
  components: Map<string, ComponentCheck>
  loss: StoreLoss
  /** Functions to call when the server ends. */
  ends: (() => void)[]
}

/** The loss of the store, once it can no longer be followed. The server sets both members. */
interface StoreLoss {
  current(): Error | undefined
  tell(why: Error): void
}

/** Builds the registry, loads stored objects, and builds authorization and admission on top of them. */
export async function assemble(options: ApiServerOptions): Promise<Assembly> {
  const { gates, clock, random, services } = options
  const tokens = new ServiceAccountTokens(clock, random, options.tokenKey, options.tokenIssuers)
  const allocation = new ServiceAllocation(random, services?.nodePorts ? { nodePorts: services.nodePorts } : {})
  const components = new Map<string, ComponentCheck>()
  const loss: StoreLoss = { current: () => undefined, tell: () => {} }
  const stored = allResources(random, allocation).filter(({ gate }) => !gate || gates.enabled(gate))
  const virtual = virtualResources(options, { parts: () => parts, components, loss })
  const registry = new Registry([...withSettings(stored, options.settings ?? {}), ...virtual], allActions(tokens))
  const objects = await openStore(options, registry, loss)
  const access: ObjectAccess = new ObjectAccess(registry, objects, () => parts)
  const metrics = new MetricsRegistry()
  const authorization = makeAuthorization(options.authorization ?? [{ type: 'AlwaysAllow' }], access, clock, metrics)
  const { authorizer } = authorization
  const parts: ServerParts = { registry, objects, gates, admission: [], authorizer, clock, random, access }
  const webhooks = new WebhookClient({ objects: access, random, clock })
  const assembly = { parts, tokens, allocation, authorization, webhooks, metrics, components, loss, ends: [] }
  addAdmission(options, assembly)
  return assembly
}

/** The kinds that are answered and never stored: reviews, bindings, metrics, component statuses. */
function virtualResources(
  { clock, authenticator, nodeClient }: ApiServerOptions,
  { parts, components, loss }: Pick<Assembly, 'components' | 'loss'> & { parts(): ServerParts },
): Resource[] {
  const objects = () => parts().access
  const scraper = new NodeScraper(clock, askOverTls(nodeClient, clock))
  const metrics = new MetricsApi({ objects, clock, scraper })
  const statuses = new ComponentStatuses({
    objects,
    now: () => clock.now(),
    checks: components,
    lost: () => loss.current(),
  })
  const reviews = reviewResources({
    authorizer: () => parts().authorizer,
    identify: (token, audiences) => authenticator.identify(token, audiences),
  })
  return [...reviews, bindings, ...metrics.resources(), statuses.resource()]
}

/** Loads all stored objects. If the store is lost later, the server ends. */
function openStore(options: ApiServerOptions, registry: Registry, loss: StoreLoss): Promise<ObjectStore> {
  const { gates, clock, logger } = options
  const onLost = (why: Error) => {
    logger.error('the watch of the store has failed', { error: why })
    loss.tell(why)
  }
  const reader = storedReader(() => ({ gates, now: clock.now() }), logger)
  const mark = writerMark(options.build ?? ownBuild, gates)
  return ObjectStore.open(options.store, registry, onLost, { reader, mark, freezes: options.freezesObjects })
}

/** Creates the admission plugins of this server, each measured. */
function addAdmission(options: ApiServerOptions, { parts, authorization, webhooks, metrics, ends }: Assembly): void {
  const { registry, authorizer, clock, random, access: objects } = parts
  ends.push(() => webhooks.close())
  const pluginServer = {
    objects,
    registry,
    authorizer,
    clock,
    random,
    webhooks,
    metrics,
    logger: options.logger,
    whenEnded: (fn: () => void) => void ends.push(fn),
  }
  const plugins = [
    ...options.admission.map((plugin) => plugin.forServer?.(pluginServer) ?? plugin),
    rbacEscalation(() => authorization),
  ]
  const admissionMetrics = new AdmissionMetrics(metrics)
  parts.admissionMetrics = admissionMetrics
  parts.admission = plugins.map((plugin) => admissionMetrics.measured(plugin))
}
