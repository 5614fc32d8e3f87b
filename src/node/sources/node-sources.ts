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
  /** The only node whose pods matter; undefined: those of all nodes, for many nodes in one process. */
  nodeName?: string
}

/** What the nodes of one process read from the API: each thing once, however many they are. */
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

  /** What a node writes by, as itself. It sends nothing again by itself: who uses it has a back-off of its own. */
  clientOf(nodeName: string): Client {
    const { transport, clock, random } = this.#options
    return new Client(asIdentity(transport, { kind: 'node', name: nodeName }), {
      clock,
      random,
      retries: { throttled: 0, unanswered: 0 },
    })
  }

  /** For events. Those of all nodes go one after the other: what is told in passing must not keep pods waiting. */
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
