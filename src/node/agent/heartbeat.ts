import type { Lease, Node, NodeStatus } from '../../api/generated/types.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { isMarkingNode, marksClaims } from '../../api/kinds/workloads/claim-recovery.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { type Client, isAlreadyExists, isNotFound, leases, nodes } from '../../client/index.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type NodeHealth, type NodeShape, nodeStatus, wellKnownLabels } from './node-object.ts'
import { microTime } from '../../api/object.ts'

export interface HeartbeatOptions {
  nodeName: string
  shape: NodeShape
  client: Client
  runtime: Runtime
  clock: Clock
  random: Random
  logger: Logger
  health(): NodeHealth
  /** False if a fault plan suppresses the next heartbeat. */
  mayBeat(): boolean
  /** Called when the node was lost and is back. */
  found(): void
}

const leaseNamespace = 'kube-node-lease'
const leaseDurationSeconds = 40
const leaseMs = leaseDurationSeconds * 1000
const renewMs = 10_000
/** The interval at which the status is computed, and the longest interval between writes of an unchanged status. */
const statusLookMs = 10_000
const statusReportMs = 300_000
const registerRetryMs = 1000
/** Kubelet's maximum number of images in a node's status. */
const mostImages = 50

/** Registers the node and keeps its Node object, Lease and status up to date. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  #node: Node | undefined
  #lease: Lease | undefined
  /** The time of the last lease renewal, and whether it followed the one before in time. */
  #renewed: { atMs: number; isSteady: boolean } | undefined
  #reportedMs = 0
  /** Cancels the timers. */
  readonly #timers = new Map<'lease' | 'status', () => void>()
  #isStopped = false
  #isReporting = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  get node(): Node | undefined {
    return this.#node
  }

  /** True if the API marks the node as lost: the readiness of its pods is then not its own to write. */
  get isLost(): boolean {
    return this.#node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown'
  }

  /** Takes the Node from the API if it is newer than the known one. */
  observed(node: Node): void {
    const known = this.#node
    const isSame = known?.metadata.uid === node.metadata.uid
    if (isSame && compareResourceVersions(versionOf(node), versionOf(known)) < 0) return
    const wasLost = this.isLost
    this.#node = node
    if (wasLost && !this.isLost) this.#options.found()
  }

  /** Reads the Node. Returns false, and keeps the known one, if that fails. */
  look(): Promise<boolean> {
    const { client, nodeName } = this.#options
    return this.#try('failed to get the node', async () => {
      try {
        this.observed(await client.get(nodes, '', nodeName))
      } catch (e) {
        if (!isNotFound(e)) throw e // a deleted Node is registered again with its next status
      }
    })
  }

  /** Resolves once the node is registered and has written its first status. */
  async start(): Promise<void> {
    while (!this.#isStopped && !(await this.#try('failed to register the node', () => this.#register()))) {
      await new Promise<void>((resolve) => this.#options.clock.after(registerRetryMs, resolve))
    }
    if (this.#isStopped) return
    await this.beat()
    await this.#keepLease()
    this.#every('lease', renewMs, () => this.#keepLease())
    this.#every('status', statusLookMs, () => this.beat())
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#timers.values()) cancel()
  }

  /** Writes the status if it has changed or was not written for long. */
  async beat(): Promise<void> {
    if (this.#isStopped || this.#isReporting || !this.#options.mayBeat()) return
    this.#isReporting = true
    await this.#try('failed to update the status of the node', () => this.#report())
    this.#isReporting = false
  }

  async #register(): Promise<void> {
    const { nodeName: name, shape, client } = this.#options
    const labels = { ...wellKnownLabels(name, shape.nodeInfo), ...shape.labels }
    const spec = {
      ...(shape.podCidr ? { podCIDR: shape.podCidr, podCIDRs: [shape.podCidr] } : {}),
      ...(shape.taints.length > 0 ? { taints: shape.taints } : {}),
    }
    const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', [marksClaims]: 'true' }
    try {
      const status = await this.#status(undefined)
      const metadata = { name, labels, annotations }
      this.observed(await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata, spec, status } as Node))
      this.#reportedMs = this.#options.clock.now()
    } catch (e) {
      if (!isAlreadyExists(e)) throw e
      const known = await client.get(nodes, '', name)
      // An agent of an earlier release did not mark claims. The Node that it registered lacks the annotation.
      const lacks = isLacking(known.metadata.labels, labels) || !isMarkingNode(known)
      const labelled = { metadata: { labels, annotations: { [marksClaims]: 'true' } } }
      this.observed(lacks ? await client.patch(nodes, '', name, labelled, { type: 'strategic' }) : known)
    }
  }

  async #status(old: NodeStatus | undefined): Promise<NodeStatus> {
    const { shape, runtime, clock, health } = this.#options
    const [problem] = await runtime.problems()
    const listed = runtime
      .listImages()
      .then((all) => all.slice(0, mostImages).map(({ tags, sizeBytes }) => ({ names: [...tags], sizeBytes })))
    // A runtime that does not answer is reported as a problem, with the last known figures.
    const images = await listed.catch((e: unknown) => {
      if (!problem) throw e
      return old?.images
    })
    const broken = problem
      ? `container runtime is not ready: ${problem.condition}=false reason:${problem.reason} message:${problem.message}`
      : undefined
    const { problem: own, pressures } = health()
    return nodeStatus(
      shape,
      old,
      { problem: own ?? broken, pressures, isolation: runtime.isolation },
      images,
      clock.now(),
    )
  }

  async #report(): Promise<void> {
    const { nodeName, client, clock } = this.#options
    // Without heartbeats the node would be marked as lost again at once, and the readiness of its pods would flap.
    if (this.isLost && !this.#isHeard()) return
    const old = this.#node?.status
    const status = await this.#status(old)
    const isDue = clock.now() - this.#reportedMs >= statusReportMs
    if (!isDue && deepEqual(withoutBeats(old, status), withoutBeats(status, status))) return
    try {
      this.observed(await client.patch(nodes, '', nodeName, { status }, { type: 'strategic', subresource: 'status' }))
    } catch (e) {
      if (!isNotFound(e)) throw e
      await this.#register() // the Node was deleted
    }
    this.#reportedMs = clock.now()
  }

  /**
   * A lost node reports that it is back after two lease renewals in time, because one late renewal may be followed by
   * another.
   */
  async #keepLease(): Promise<void> {
    const renew = () => this.#try('failed to renew the lease', () => this.#renew())
    if (!(await renew()) || !this.isLost) return
    if (!this.#isHeard()) await renew()
    await this.beat()
  }

  /** True if the last lease renewals were in time. */
  #isHeard(): boolean {
    return this.#renewed?.isSteady === true && this.#options.clock.now() - this.#renewed.atMs <= leaseMs
  }

  async #renew(): Promise<void> {
    const { clock, mayBeat } = this.#options
    if (!mayBeat()) return
    await this.#writeLease()
    const atMs = clock.now()
    this.#renewed = { atMs, isSteady: this.#renewed !== undefined && atMs - this.#renewed.atMs <= leaseMs }
  }

  async #writeLease(): Promise<void> {
    const { nodeName: name, client, clock } = this.#options
    const renewTime = microTime(clock.now())
    if (this.#lease) {
      try {
        this.#lease = await client.update(leases, { ...this.#lease, spec: { ...this.#lease.spec, renewTime } })
        return
      } catch (e) {
        this.#lease = undefined
        if (!isNotFound(e)) throw e
      }
    }
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: this.#node?.metadata.uid ?? '' }
    const spec = { holderIdentity: name, leaseDurationSeconds, renewTime }
    try {
      this.#lease = await client.create(leases, {
        metadata: { name, namespace: leaseNamespace, ownerReferences: [owner] },
        spec,
      })
    } catch (e) {
      if (!isAlreadyExists(e)) throw e
      this.#lease = await client.patch(leases, leaseNamespace, name, { spec }, { type: 'merge' })
    }
  }

  /** A random delay spreads the heartbeats of nodes that start at the same moment. */
  #every(timer: 'lease' | 'status', periodMs: number, work: () => Promise<unknown>): void {
    const { clock, random } = this.#options
    const again = (delayMs: number) => {
      if (this.#isStopped) return
      this.#timers.set(
        timer,
        clock.after(delayMs, () => void work().then(() => again(periodMs))),
      )
    }
    again(periodMs * (0.5 + random.next() / 2))
  }

  async #try(failure: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (!this.#isStopped) this.#options.logger.warn(failure, { node: this.#options.nodeName, error })
      return false
    }
  }
}

const isLacking = (
  has: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).some(([key, value]) => has?.[key] !== value)

const versionOf = (node: Node | undefined): string => node?.metadata.resourceVersion ?? '0'

/** A status without its heartbeat times, as it is stored. Conditions that are not in `ours` belong to other clients. */
function withoutBeats(status: NodeStatus | undefined, ours: NodeStatus): unknown {
  const { capacity, allocatable, addresses, conditions = [], images = [], nodeInfo } = status ?? {}
  const own = conditions.filter(({ type }) => ours.conditions?.some((c) => c.type === type))
  const said = own.map(({ lastHeartbeatTime: _, ...rest }) => rest).sort(byType)
  return { capacity, allocatable, addresses, images, nodeInfo, conditions: said }
}

const byType = (a: { type: string }, b: { type: string }): number => (a.type < b.type ? -1 : 1)
