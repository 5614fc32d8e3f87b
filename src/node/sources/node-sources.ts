import type { Service } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import {
  Client,
  InformerFactory,
  type SharedInformer,
  type Transport,
  asIdentity,
  nodes,
  pods,
  services,
} from '../../client/index.ts'
import { NodeFeed } from './node-feed.ts'
import { OneAtATime } from './one-at-a-time.ts'
import { PodFeed, podsByNode } from './pod-feed.ts'
import { ReferencedObjects } from './referenced-objects.ts'

export interface NodeSourcesOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
  /** The only node whose pods are read. Undefined reads the pods of all nodes, for a process with many nodes. */
  nodeName?: string
}

/** The API objects that the nodes of one process read. Each object is read once for all nodes. */
export class NodeSources {
  readonly feed: PodFeed
  readonly nodes: NodeFeed
  readonly objects: ReferencedObjects
  readonly #services: SharedInformer<Service>
  readonly #informers: InformerFactory
  readonly #options: NodeSourcesOptions
  readonly #eventTransport: OneAtATime

  constructor(options: NodeSourcesOptions) {
    const { transport, nodeName } = options
    this.#options = options
    this.#eventTransport = new OneAtATime(transport)
    this.#informers = new InformerFactory({ ...options, name: nodeName ?? 'nodes' })
    const informer = this.#informers.informer(pods, {
      indexes: podsByNode,
      ...(nodeName ? { fieldSelector: `spec.nodeName=${nodeName}` } : {}),
    })
    this.feed = new PodFeed(informer)
    const onlyThis = nodeName ? { fieldSelector: `metadata.name=${nodeName}` } : {}
    this.nodes = new NodeFeed(this.#informers.informer(nodes, onlyThis))
    this.#services = this.#informers.informer(services)
    this.objects = new ReferencedObjects(options)
  }

  /**
   * The client by which a node writes with its own identity. It does not retry, because its callers back off
   * themselves.
   */
  clientOf(nodeName: string): Client {
    const { transport, clock, random } = this.#options
    return new Client(asIdentity(transport, { kind: 'node', name: nodeName }), {
      clock,
      random,
      retries: { throttled: 0, unanswered: 0 },
    })
  }

  /** The client for events. Events of all nodes are sent one at a time, so that they do not delay pods. */
  eventClientOf(nodeName: string): Client {
    const { clock, random } = this.#options
    return new Client(this.#eventTransport.as({ kind: 'node', name: nodeName }), { clock, random })
  }

  services(): Service[] {
    return this.#services.list()
  }

  start(): void {
    this.#informers.start()
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#informers.waitForSync(signal)
  }

  problems(): string[] {
    return this.#informers.problems()
  }

  stop(): void {
    this.feed.close()
    this.nodes.close()
    this.#informers.stop()
    this.objects.stop()
  }
}
