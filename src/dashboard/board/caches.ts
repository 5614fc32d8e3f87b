import type { Node, Pod, ReplicaSet } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { InformerFactory, type SharedInformer, type Transport, controllerOf, nodes, pods } from '../../client/index.ts'
import { type KindName, type WorkloadKind, workloadKinds } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'

export interface CacheOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger: Logger
  /** '' for all namespaces. */
  namespace: string
}

/** Name of the index of objects by their controller's uid. */
const ownerIndex = 'owner'
const byOwner = (object: KubeObject): string[] => {
  const uid = controllerOf(object)?.uid
  return uid ? [uid] : []
}

/** Lifetime of a number of pods. */
const countForMs = 2000
/** Kinds that have not been read after this time are left out. */
const toleranceMs = 30_000

const isRead = ({ hasSynced, absence }: Pick<SharedInformer, 'hasSynced' | 'absence'>): boolean =>
  hasSynced || absence !== undefined

/** Removes fields that no page shows, which are most of an object received over HTTP. */
function withoutBulk<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object) || !object.metadata.managedFields) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/**
 * One set of informers for all viewers. They read with the dashboard's identity; the permissions of each viewer are
 * checked separately.
 */
export class Caches {
  readonly pods: SharedInformer<Pod>
  readonly nodes: SharedInformer<Node>
  readonly workloads: ReadonlyMap<KindName, SharedInformer<Workload>>
  /** '' for all namespaces. */
  readonly namespace: string
  readonly #factory: InformerFactory
  readonly #clock: Clock
  readonly #counts = new Map<string, { atMs: number; count: number }>()
  #startedMs = 0
  #isSettled = false

  constructor({ namespace, ...options }: CacheOptions) {
    this.namespace = namespace
    this.#clock = options.clock
    this.#factory = new InformerFactory({ ...options, name: 'dashboard' })
    const scope = namespace ? { namespace } : {}
    const indexes = { [ownerIndex]: byOwner }
    this.pods = this.#factory.informer(pods, { ...scope, indexes, transform: withoutBulk })
    this.nodes = this.#factory.informer(nodes, { transform: withoutBulk })
    const informerOf = ({ type }: WorkloadKind) =>
      this.#factory.informer(type, { ...scope, indexes, transform: withoutBulk })
    this.workloads = new Map(workloadKinds.map((kind) => [kind.kind, informerOf(kind)]))
  }

  start(): void {
    this.#startedMs = this.#clock.now()
    this.#factory.start()
  }

  stop(): void {
    this.#factory.stop()
  }

  /**
   * True once all workloads and pods have been read. Kinds that the server does not serve or not allow are absent; one
   * that it fails to list does not hide the others for ever.
   */
  get isSettled(): boolean {
    const isLate = this.#clock.now() - this.#startedMs >= toleranceMs
    return (this.#isSettled ||= this.#shown.every(isRead) || (isLate && this.#shown.some(isRead)))
  }

  /** True once the pods have been read, or if they cannot be. */
  get hasPods(): boolean {
    return isRead(this.pods)
  }

  /** Resolves when all workloads and pods have been read, or after the time limit. */
  async settled(maxMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(maxMs, resolve)
      void Promise.all(this.#shown.map((informer) => informer.settled())).then(() => {
        cancel()
        resolve()
      })
    })
  }

  get #shown(): SharedInformer[] {
    return [this.pods, ...this.workloads.values()] as SharedInformer[]
  }

  /** Returns true if the objects of a namespace are cached. */
  covers(namespace: string): boolean {
    return this.namespace === '' || this.namespace === namespace
  }

  workload(kind: KindName, key: string): Workload | undefined {
    return this.workloads.get(kind)?.get(key)
  }

  /** Returns the ReplicaSets of a Deployment, or the Jobs of a CronJob. */
  owned(kind: KindName, uid: string): Workload[] {
    return this.workloads.get(kind)!.byIndex(ownerIndex, uid)
  }

  /** Returns the pods of a workload, owned directly or through another controller. */
  podsOf(kind: KindName, { metadata: { uid = '' } }: KubeObject): Pod[] {
    const below =
      kind === 'Deployment' ? this.owned('ReplicaSet', uid) : kind === 'CronJob' ? this.owned('Job', uid) : undefined
    if (!below) return this.pods.byIndex(ownerIndex, uid)
    return below.flatMap(({ metadata }) => this.pods.byIndex(ownerIndex, metadata.uid ?? ''))
  }

  /** Returns the number of a workload's pods, at most two seconds old: pages of many viewers ask for it. */
  podCountOf(kind: KindName, object: KubeObject): number {
    const { uid = '' } = object.metadata
    const nowMs = this.#clock.now()
    for (const [old, { atMs }] of this.#counts) if (nowMs - atMs >= countForMs) this.#counts.delete(old)
    let known = this.#counts.get(uid)
    if (!known) this.#counts.set(uid, (known = { atMs: nowMs, count: this.podsOf(kind, object).length }))
    return known.count
  }

  /** Returns a source of pods and ReplicaSets for explanations, which uses the index. */
  sourceOf(kind: WorkloadKind, object: Workload) {
    return {
      pods: async () => this.podsOf(kind.kind, object),
      replicaSets: async () => this.owned('ReplicaSet', object.metadata.uid ?? '') as unknown as ReplicaSet[],
    }
  }

  /** Returns the workload that represents an object in the list: the Deployment of a ReplicaSet's pod. */
  rootOf(object: KubeObject): { kind: KindName; key: string } | undefined {
    const { namespace } = object.metadata
    let owner = controllerOf(object)
    for (let depth = 0; owner && depth < 3; depth++) {
      const kind = owner.kind as KindName
      const key = namespace ? `${namespace}/${owner.name}` : owner.name
      const found = this.workloads.get(kind)?.get(key)
      if (!found || found.metadata.uid !== owner.uid) return undefined
      const next = controllerOf(found)
      if (!next || !this.workloads.has(next.kind as KindName)) return { kind, key }
      owner = next
    }
    return undefined
  }
}
