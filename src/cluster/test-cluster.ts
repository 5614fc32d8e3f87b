import { parseAllDocuments } from 'yaml'
import { FeatureGates, type GateName } from '../api/feature-gates.ts'
import type { CustomResourceDefinition, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '../api/generated/types.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import { type Random, systemRandom } from '../base/random.ts'
import {
  Client, type Transport, customresourcedefinitions, mutatingwebhookconfigurations, validatingwebhookconfigurations,
} from '../client/index.ts'
import { type ManagedController, ControllerManager, type ControllerManagerOptions } from '../controllers/index.ts'
import { ApiServer, Authenticator, type AuthorizerChoice, type UserInfo, admissionPlugins } from '../server/index.ts'
import { type Store, openMemoryStore } from '../store/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { settled } from './passing-time.ts'
import { type TemporaryDoor, openDoor } from './temporary-door.ts'
import { controllerManagerUser } from './users.ts'

export interface TestClusterOptions {
  /** Default: the machine's. With a VirtualClock nothing happens in time until the test lets time pass: see `passTime`. */
  clock?: Clock
  /** Default: the machine's. With a SeededRandom names and uids come out the same each time. */
  random?: Random
  gates?: Partial<Record<GateName, boolean>>
  /**
   * Serves what a stock Kubernetes does: no CloneSets, none of the fields and conditions that we add to its kinds. Gates that
   * are not named stand as there.
   */
  stock?: boolean
  /** Default: a new one. One that is handed in stays open when the cluster stops: another may go on with it. */
  store?: Store
  /** Custom kinds that are served before controllers start: definitions, or YAML with some. */
  crds?: readonly (CustomResourceDefinition | string)[]
  /** Webhook configurations that are there before controllers start. */
  webhooks?: readonly WebhookConfiguration[]
  /** Run in the same process, over a transport of their own. */
  controllers?: readonly ManagedController[]
  /** More about how they run. */
  manager?: Partial<Pick<ControllerManagerOptions, 'informers' | 'namespace' | 'namespaces' | 'scopes' | 'waitsForKinds' | 'leaderElection' | 'gates' | 'audit'>>
  /** Puts itself between the controllers and the server, to make it slow or unreliable. */
  wrapTransport?(transport: Transport): Transport
  /** Also listens on a free port of the loopback interface, with a kubeconfig for kubectl. */
  listen?: boolean
  logger?: Logger
  /** Who decides what users may do. Default: every user may do everything. */
  authorization?: readonly AuthorizerChoice[]
}

export interface TestCluster {
  /** May do everything. */
  readonly client: Client
  readonly transport: Transport
  readonly server: ApiServer
  readonly clock: Clock
  readonly gates: FeatureGates
  /** Undefined without controllers. */
  readonly manager: ControllerManager | undefined
  /** Of the controllers. */
  readonly metrics: MetricsRegistry
  /** Where it listens, if it was to. */
  readonly url: string | undefined
  /** The path of a kubeconfig, if it listens. Gone when the cluster is. */
  readonly kubeconfig: string | undefined
  stop(): Promise<void>
}

export type WebhookConfiguration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration

/** Creates what the cluster is to have before controllers start, and waits until custom kinds are served. */
async function install(client: Client, { crds = [], webhooks = [] }: TestClusterOptions): Promise<void> {
  const definitions = crds.flatMap((crd) => (typeof crd === 'string' ? parseAllDocuments(crd).map((d) => ('toJS' in d ? d.toJS() : {}) as CustomResourceDefinition) : [crd]))
  for (const definition of definitions) await client.create(customresourcedefinitions, definition)
  for (const definition of definitions) await established(client, definition.metadata.name ?? '')
  for (const webhook of webhooks) {
    if (webhook.kind === 'MutatingWebhookConfiguration') await client.create(mutatingwebhookconfigurations, webhook)
    else await client.create(validatingwebhookconfigurations, webhook)
  }
}

/** How many turns of the event loop a definition may take until its kind is served. */
const patience = 1000

async function established(client: Client, name: string): Promise<void> {
  for (let turn = 0; turn < patience; turn++) {
    const { status } = await client.get(customresourcedefinitions, '', name)
    const conditions = status?.conditions ?? []
    if (conditions.some((c) => c.type === 'Established' && c.status === 'True')) return
    const refusal = conditions.find((c) => c.status === 'False' && c.type === 'NamesAccepted')
    if (refusal) throw new Error(`the kind of ${name} is not served: ${refusal.message}`)
    await settled()
  }
  throw new Error(`the kind of ${name} is not served`)
}

/** An error that nobody catches: test runners tell it. */
const failTest = (problem: Error): void => queueMicrotask(() => { throw problem })

/** Gates of what Kubernetes does not have. */
const stockGates = { StatefulSetConditions: false, DaemonSetConditions: false } as const

const admin: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/** Starts an API server in this process, in memory, with nothing in it but what every cluster has. Takes some tens of milliseconds. */
export async function startCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { clock = systemClock, random = systemRandom, logger = silentLogger, wrapTransport = (t) => t } = options
  const { stock = false } = options
  const gates = FeatureGates.of({ ...(stock ? stockGates : {}), ...options.gates })
  const store = options.store ?? openMemoryStore({ clock })
  const server = await ApiServer.open({
    store,
    gates,
    authenticator: new Authenticator(undefined),
    admission: admissionPlugins,
    clock,
    random,
    logger,
    release: 'testing',
    // Tests let hours pass and then look at what was told meanwhile.
    settings: { eventTtlMs: 0, isStock: stock },
    freezesObjects: true,
    ...(options.authorization ? { authorization: options.authorization, anonymous: 'user' } : {}),
    address: '127.0.0.1:6443',
  })
  const transport = new InProcessTransport(server, admin)
  const metrics = new MetricsRegistry()
  const controlling = options.controllers && wrapTransport(new InProcessTransport(server, controllerManagerUser))
  const running = { clock, random, logger, metrics, gates, audit: failTest, ...options.manager }
  const manager = controlling && new ControllerManager({ ...running, transport: controlling, controllers: options.controllers! })
  let door: TemporaryDoor | undefined
  const stop = async () => {
    await manager?.stop()
    server.beginStop()
    await door?.close()
    await controlling?.close()
    await transport.close()
    server.close()
    if (!options.store) await store.close()
  }
  try {
    if (options.listen) door = await openDoor(server)
    await install(new Client(transport, { clock, random }), options)
    await manager?.start()
  } catch (e) {
    await stop()
    throw e
  }
  const { url, kubeconfig } = door ?? { url: undefined, kubeconfig: undefined }
  return { client: new Client(transport, { clock, random }), transport, server, clock, gates, manager, metrics, url, kubeconfig, stop }
}
