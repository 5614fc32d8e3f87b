import type { Service } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { ObjectChange, ServerObjects } from '../objects/objects.ts'
import type { NodePortClaims, PortClaim, PortOwner } from '../resources/core/service/node-port-claims.ts'
import { portsOnNodesOf } from '../resources/core/service/service-fields.ts'

/** The interval of full comparisons, as in Kubernetes. */
const repairMs = 3 * 60_000

interface NodePortUpkeepOptions {
  store: ObjectStore
  objects: ServerObjects
  claims: NodePortClaims
  /** Called with the promise of each release. */
  releasing(done: Promise<void>): void
  clock: Clock
  logger: Logger
}

/**
 * Keeps Services and node port claims consistent if several servers allocate ports. The first server to see a deletion
 * releases the claim; a Service without a claim gets one; a claim for a port that its Service does not have is released
 * when a second comparison finds it again.
 */
export class NodePortUpkeep {
  readonly #o: NodePortUpkeepOptions
  /**
   * Claims without a Service in the last comparison, by port. One may belong to a request in flight on another server.
   */
  #orphans = new Map<number, number>()
  #cancel: (() => void) | undefined
  #isStopped = false

  constructor(options: NodePortUpkeepOptions) {
    this.#o = options
  }

  /** Repairs once, then watches all changes. */
  async start(): Promise<void> {
    await this.repair()
    this.#o.objects.follow('', 'services', (change) => this.#serviceChanged(change))
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** Compares all Services with all claims. */
  async repair(): Promise<void> {
    const { claims: ports, store, objects, logger } = this.#o
    const { claims, revision } = await ports.all()
    await store.waitUntilSeen(revision)
    const byPort = new Map(claims.map((claim) => [claim.port, claim]))
    for (const service of objects.list<Service>('', 'services', '')) {
      const owner = portOwnerOf(service)
      for (const port of portsOnNodesOf(service)) await this.#ensure(port, owner, byPort.get(port))
    }
    const orphans = claims.filter((claim) => !this.#isOwned(claim))
    for (const orphan of orphans) {
      if (this.#orphans.get(orphan.port) !== orphan.revision) continue
      const {
        port,
        owner: { namespace, name },
      } = orphan
      logger.info('releasing a node port without a service', { port, service: `${namespace}/${name}` })
      await ports.release(orphan)
    }
    this.#orphans = new Map(orphans.map(({ port, revision: at }) => [port, at]))
  }

  #schedule(): void {
    this.#cancel = this.#o.clock.after(repairMs, () => {
      this.#inBackground(this.repair(), 'failed to repair node ports')
      this.#schedule()
    })
  }

  #serviceChanged(change: ObjectChange): void {
    const before = change.previous() as Service | undefined
    const had = before ? portsOnNodesOf(before) : []
    if (had.length === 0) return
    const now = change.object() as Service | undefined
    const has = now ? portsOnNodesOf(now) : []
    // The uid of a deleted Service never returns, so all of its claims can be released.
    const at = now ? Number(now.metadata.resourceVersion) : Infinity
    for (const port of had) {
      if (has.includes(port)) continue
      const done = this.#o.claims.releaseOf(port, before!.metadata.uid!, at)
      this.#o.releasing(done)
      this.#inBackground(done, 'failed to release a node port')
    }
  }

  /** Claims a port for a Service that a server without claims stored. */
  async #ensure(port: number, owner: PortOwner, claim: PortClaim | undefined): Promise<void> {
    const { claims, logger } = this.#o
    if (claim?.owner.uid === owner.uid) return
    const service = `${owner.namespace}/${owner.name}`
    if (claim && this.#isOwned(claim)) return logger.warn('two services have the same node port', { port, service })
    if (claim) await claims.release(claim)
    if (await claims.take(port, owner)) logger.info('claimed the node port of a service', { port, service })
  }

  #isOwned({ port, owner: { namespace, name, uid } }: PortClaim): boolean {
    const service = this.#o.objects.get<Service>('', 'services', namespace, name)
    return service?.metadata.uid === uid && portsOnNodesOf(service).includes(port)
  }

  #inBackground(work: Promise<void>, failure: string): void {
    work.catch((error: unknown) => this.#isStopped || this.#o.logger.warn(failure, { error }))
  }
}

const portOwnerOf = ({ metadata: { namespace = '', name = '', uid = '' } }: Service): PortOwner => ({
  namespace,
  name,
  uid,
})
