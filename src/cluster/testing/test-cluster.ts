import { parseAllDocuments } from 'yaml'
import { FeatureGates, type GateName } from '../../api/feature-gates.ts'
import type {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/generated/types.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import { MetricsRegistry } from '../../base/metrics.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import {
  Client,
  type Transport,
  customresourcedefinitions,
  mutatingwebhookconfigurations,
  validatingwebhookconfigurations,
} from '../../client/index.ts'
import { type ManagedController, ControllerManager, type ControllerManagerOptions } from '../../controllers/index.ts'
import { ApiServer, Authenticator, type AuthorizerChoice, type UserInfo, admissionPlugins } from '../../server/index.ts'
import { type Store, openMemoryStore } from '../../store/index.ts'
import { InProcessTransport } from '../parts/in-process-transport.ts'
import { settled } from './passing-time.ts'
import { type TemporaryDoor, openDoor } from '../serving/temporary-door.ts'
import { controllerManagerUser } from '../parts/users.ts'

export interface TestClusterOptions {
  /** Default: the system clock. With a VirtualClock, time advances only with `passTime`. */
  clock?: Clock
  /** Default: the system's randomness. With a SeededRandom, names and uids are reproducible. */
  random?: Random
  gates?: Partial<Record<GateName, boolean>>
  /**
   * Serve only what Kubernetes serves: no CloneSets, and no added fields and conditions. Unnamed gates have the
   * defaults of Kubernetes.
   */
  stock?: boolean
  /** Default: a new store. A given store stays open when the cluster stops, so that another cluster can use it. */
  store?: Store
  /** Custom kinds to serve before controllers start: definitions, or YAML. */
  crds?: readonly (CustomResourceDefinition | string)[]
  /** Webhook configurations to create before controllers start. */
  webhooks?: readonly WebhookConfiguration[]
  /** Controllers to run in this process, over their own transport. */
  controllers?: readonly ManagedController[]
  /** Further options of the controller manager. */
  manager?: Partial<
    Pick<
      ControllerManagerOptions,
      'informers' | 'namespace' | 'namespaces' | 'scopes' | 'waitsForKinds' | 'leaderElection' | 'gates' | 'audit'
    >
  >
  /** Wraps the controllers' transport, for example to inject faults. */
  wrapTransport?(transport: Transport): Transport
  /** Also listen on a free loopback port, with a kubeconfig for kubectl. */
  listen?: boolean
  logger?: Logger
  /** Authorizers. Default: everything is allowed. */
  authorization?: readonly AuthorizerChoice[]
}

export interface TestCluster {
  /** A client with all permissions. */
  readonly client: Client
  readonly transport: Transport
  readonly server: ApiServer
  readonly clock: Clock
  readonly gates: FeatureGates
  /** The controller manager; undefined without controllers. */
  readonly manager: ControllerManager | undefined
  /** The metrics of the controllers. */
  readonly metrics: MetricsRegistry
  /** The URL, if it listens. */
  readonly url: string | undefined
  /** The path of the kubeconfig, if it listens. Removed on stop. */
  readonly kubeconfig: string | undefined
  stop(): Promise<void>
}

export type WebhookConfiguration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration

/** Creates custom kinds and webhooks before controllers start, and waits until the kinds are served. */
async function install(client: Client, { crds = [], webhooks = [] }: TestClusterOptions): Promise<void> {
  const definitions = crds.flatMap((crd) =>
    typeof crd === 'string'
      ? parseAllDocuments(crd).map((d) => ('toJS' in d ? d.toJS() : {}) as CustomResourceDefinition)
      : [crd],
  )
  for (const definition of definitions) await client.create(customresourcedefinitions, definition)
  for (const definition of definitions) await established(client, definition.metadata.name ?? '')
  for (const webhook of webhooks) {
    if (webhook.kind === 'MutatingWebhookConfiguration') await client.create(mutatingwebhookconfigurations, webhook)
    else await client.create(validatingwebhookconfigurations, webhook)
  }
}

/** Maximum number of turns of the event loop until a defined kind is served. */
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

/** Throws an uncaught error, which test runners report. */
const failTest = (problem: Error): void =>
  queueMicrotask(() => {
    throw problem
  })

/** Feature gates that Kubernetes does not have. */
const stockGates = { StatefulSetConditions: false, DaemonSetConditions: false } as const

const admin: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/**
 * Starts an in-memory API server in this process, with only the initial objects of every cluster. Takes some tens of
 * milliseconds.
 */
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
    // Events do not expire: tests advance the clock by hours and read events afterwards.
    settings: { eventTtlMs: 0, isStock: stock },
    freezesObjects: true,
    ...(options.authorization ? { authorization: options.authorization, anonymous: 'user' } : {}),
    address: '127.0.0.1:6443',
  })
  const transport = new InProcessTransport(server, admin)
  const metrics = new MetricsRegistry()
  const controlling = options.controllers && wrapTransport(new InProcessTransport(server, controllerManagerUser))
  const running = { clock, random, logger, metrics, gates, audit: failTest, ...options.manager }
  const manager =
    controlling && new ControllerManager({ ...running, transport: controlling, controllers: options.controllers! })
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
  return {
    client: new Client(transport, { clock, random }),
    transport,
    server,
    clock,
    gates,
    manager,
    metrics,
    url,
    kubeconfig,
    stop,
  }
}
