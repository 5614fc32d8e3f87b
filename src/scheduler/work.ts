import { setMaxListeners } from 'node:events'
import { type Clock, turnsOf } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import { everySteps } from '../base/turns.ts'
import type { EventRecorder, InformerFactoryOptions } from '../client/index.ts'
import type { Caches } from './caches.ts'
import type { NodeInfo } from './cluster/node-info.ts'
import { PodInfo } from './cluster/pod-info.ts'
import type { Filters } from './cycle/filters.ts'
import { type Diagnosis, messageOf, noNodesMessage, rejectersOf } from './cycle/node-search.ts'
import { type Cycle, schedulePod } from './cycle/schedule-pod.ts'
import type { SchedulerMetrics } from './metrics.ts'
import type { Reservation } from './plugins/plugin.ts'
import type { PodWrites } from './pod-writes.ts'
import { preempt } from './preemption/preempt.ts'
import type { Victims } from './preemption/victims.ts'
import type { SchedulingQueue } from './queue/scheduling-queue.ts'
import type { QueuedPod } from './queue/unschedulable-pods.ts'

/** Limits the number of concurrent operations. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []
  readonly #underWay = new Set<Promise<void>>()

  constructor(count: number) {
    this.#free = count
  }

  /** Starts an operation immediately, and resolves when another may start. The operation must not reject. */
  async run(start: () => Promise<void>): Promise<void> {
    this.#free--
    this.aside(
      start().finally(() => {
        this.#free++
        this.#waiting.shift()?.()
      }),
    )
    if (this.#free <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Tracks an operation without counting it. */
  aside(work: Promise<void>): void {
    const noted = work.finally(() => this.#underWay.delete(noted))
    this.#underWay.add(noted)
  }

  /** Resolves when no operation is in progress. */
  async allFree(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}

export interface SchedulerSettings {
  /** Only pods that name this scheduler are scheduled. */
  schedulerName: string
  /** The percentage of nodes to compare. 0 selects it by the size of the cluster. */
  percentageOfNodesToScore: number
  /** The number of pods that are bound concurrently. */
  parallelBinds: number
  clock: Clock
  random: Random
  logger: Logger
  metrics?: MetricsRegistry
  informers: Pick<InformerFactoryOptions, 'limits' | 'rules' | 'stream'>
}

export interface WorkParts {
  settings: SchedulerSettings
  caches: Caches
  queue: SchedulingQueue
  cycle: Cycle
  writes: PodWrites
  recorder: EventRecorder
  metrics: SchedulerMetrics
  /** Operations in progress must be given up. */
  signal: AbortSignal
}

/** The number of pods after which other work gets a turn: a server in the same process responds without one. */
const podsAtATime = 64
/** The minimum number of pods per turn. Most take a tenth of a millisecond, some ten. */
const decisionsATurn = 4

/** The maximum length of an event's message. */
const maxMessage = 1024

interface Failure {
  message: string
  /** Undefined after an error, when the pod is retried soon. */
  rejectedBy?: ReadonlySet<string>
  /** Empty to clear it. Undefined to leave it unchanged. */
  nominatedNode?: string
}

/** Schedules pods one by one, and writes each decision while it decides about the next. */
export class Work {
  readonly #parts: WorkParts
  readonly #slots: Slots
  /** Aborts operations that may take minutes, once no more are started. */
  readonly #patience = new AbortController()
  #sleeping: (() => void) | undefined
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(parts: WorkParts) {
    this.#parts = parts
    this.#slots = new Slots(parts.settings.parallelBinds)
    setMaxListeners(0, this.#patience.signal)
  }

  start(): void {
    this.#running = this.#run()
  }

  /** There may be a pod to schedule. */
  wake(): void {
    this.#sleeping?.()
    this.#sleeping = undefined
  }

  /** Starts nothing more, and resolves when no operation is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#patience.abort(new Error('the scheduler is stopped'))
    this.wake()
    await this.#running
    await this.#slots.allFree()
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts.settings
    const turns = everySteps(decisionsATurn, turnsOf(clock))
    for (let decided = 0; !this.#isStopped; decided++) {
      const queued = this.#parts.queue.pop()
      if (!queued) {
        await new Promise<void>((resolve) => (this.#sleeping = resolve))
        decided = 0
        continue
      }
      const writing = this.#decide(queued)
      if (writing) await this.#slots.run(writing)
      if (decided % podsAtATime === podsAtATime - 1) await new Promise<void>((resolve) => clock.after(0, resolve))
      else if (turns.isSpent) await turns.next()
    }
  }

  /** Schedules a pod, and returns the writes. */
  #decide(queued: QueuedPod): (() => Promise<void>) | undefined {
    const { queue, caches, cycle, metrics, settings, recorder } = this.#parts
    const { info } = queued
    if (info.isTerminating || caches.cluster.has(info.uid)) {
      if (info.isTerminating) {
        recorder.event(info.pod, 'Warning', 'FailedScheduling', `skip schedule deleting pod: ${info.key}`, {
          action: 'Scheduling',
        })
      }
      queue.done(queued)
      return undefined
    }
    const startedMs = settings.clock.now()
    try {
      const decision = schedulePod(info, cycle)
      metrics.chosen(startedMs)
      if (decision.kind === 'node') return this.#assume(queued, decision.node, decision.filters, startedMs)
      if (decision.kind === 'no nodes') {
        return this.#fail(queued, { message: noNodesMessage, rejectedBy: new Set(), nominatedNode: '' }, startedMs)
      }
      return this.#preempt(queued, decision.diagnosis, decision.filters, startedMs)
    } catch (e) {
      settings.logger.error('failed to schedule pod', { pod: info.key, error: e })
      return this.#fail(queued, { message: textOf(e) }, startedMs)
    }
  }

  #assume(queued: QueuedPod, node: NodeInfo, filters: Filters, startedMs: number): () => Promise<void> {
    const { caches, cycle } = this.#parts
    const reservations = filters.reserve(node)
    caches.cluster.assume(queued.info, node.name)
    cycle.nominations.delete(queued.info.uid)
    const bind = () => this.#bind(queued, node.name, reservations, startedMs)
    if (reservations.length === 0) return bind
    // This may take minutes, and other pods do not wait for it.
    return async () => this.#slots.aside(bind())
  }

  async #bind(queued: QueuedPod, node: string, reservations: readonly Reservation[], startedMs: number): Promise<void> {
    const { queue, caches, metrics, recorder, writes, signal } = this.#parts
    const { info } = queued
    try {
      for (const reservation of reservations) await reservation.settle(this.#patience.signal)
      await writes.bind(info, node, signal)
    } catch (e) {
      for (const reservation of reservations) reservation.undo()
      if (signal.aborted || this.#isStopped) return // the next term schedules every pod
      if (caches.cluster.isAssumed(info.uid)) {
        caches.cluster.removePod(info.uid)
        queue.wake({ kind: 'AssignedPodDelete', pod: info })
      }
      return this.#fail(queued, { message: textOf(e), nominatedNode: '' }, startedMs)?.()
    }
    queue.done(queued)
    metrics.attempted('scheduled', startedMs)
    metrics.scheduled(queued.attempts, queued.addedMs)
    recorder.event(info.pod, 'Normal', 'Scheduled', `Successfully assigned ${info.key} to ${node}`, {
      action: 'Binding',
    })
  }

  /** No node is suitable: preemption is tried. */
  #preempt(
    queued: QueuedPod,
    diagnosis: Diagnosis,
    filters: Filters | undefined,
    startedMs: number,
  ): (() => Promise<void>) | undefined {
    const { caches, cycle, metrics, queue, settings } = this.#parts
    const { info } = queued
    const nominatedNode = cycle.nominations.nodeOf(info.uid) ?? info.pod.status?.nominatedNodeName ?? ''
    const result = preempt(info, diagnosis, filters, {
      cluster: caches.cluster,
      budgets: caches.budgets(),
      nominatedNode,
      random: settings.random,
      nowMs: settings.clock.now(),
    })
    metrics.preempted(result.kind === 'victims' ? result.victims.pods.length : 0)
    const failure: Failure = { message: messageOf(diagnosis), rejectedBy: rejectersOf(diagnosis) }
    if (result.kind === 'none') {
      return this.#fail(
        queued,
        {
          ...failure,
          message: `${failure.message} ${result.message}`,
          ...(result.isWaiting ? {} : { nominatedNode: '' }),
        },
        startedMs,
      )
    }
    const { victims } = result
    queue.hold(info.uid)
    const tell = this.#fail(queued, { ...failure, nominatedNode: victims.node.name }, startedMs)
    if (!tell) return undefined // the pod is gone, and no victim is needed
    return async () => {
      await tell()
      await this.#evict(info, victims)
    }
  }

  async #evict(pod: PodInfo, { node, pods }: Victims): Promise<void> {
    const { cycle, queue, recorder, settings, writes, signal } = this.#parts
    let hasFailed = false
    try {
      // Nominated pods of lower priority may no longer fit, and should try other nodes at once.
      for (const other of [...cycle.nominations.on(node.name).values()].filter(
        ({ priority }) => priority < pod.priority,
      )) {
        cycle.nominations.delete(other.uid)
        await writes.setStatus(other.pod, { nominatedNodeName: '' }, signal)
      }
      for (const victim of pods) {
        if (!(await writes.evict(victim, settings.schedulerName, signal))) continue
        recorder.event(victim.pod, 'Normal', 'Preempted', `Preempted by pod ${pod.uid} on node ${node.name}`, {
          action: 'Preempting',
          related: pod.pod,
        })
      }
    } catch (e) {
      hasFailed = true
      if (!signal.aborted) {
        settings.logger.warn('preemption failed', { pod: pod.key, node: node.name, error: textOf(e) })
      }
    }
    queue.release(pod.uid, hasFailed)
  }

  /** The pod has to wait. Returns the writes that report it. */
  #fail(queued: QueuedPod, failure: Failure, startedMs: number): (() => Promise<void>) | undefined {
    const { caches, cycle, metrics, queue, recorder, settings, writes, signal } = this.#parts
    const { message, rejectedBy, nominatedNode } = failure
    metrics.attempted(rejectedBy ? 'unschedulable' : 'error', startedMs)
    const { info } = queued
    const pod = caches.pods.get(info.key)
    // The pod is gone, or bound although the response was lost.
    if (pod?.metadata.uid !== info.uid || pod.spec.nodeName) {
      queue.delete(info.uid)
      return undefined
    }
    if (!info.follow(pod)) queued.info = new PodInfo(pod)
    if (nominatedNode !== undefined) cycle.nominations.set(queued.info, nominatedNode)
    if (rejectedBy) queue.reject(queued, rejectedBy)
    else queue.retry(queued)
    recorder.event(
      pod,
      'Warning',
      'FailedScheduling',
      message.length > maxMessage ? `${message.slice(0, maxMessage - 4)} ...` : message,
      { action: 'Scheduling' },
    )
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: rejectedBy ? 'Unschedulable' : 'SchedulerError',
      message,
    }
    return async () => {
      try {
        await writes.setStatus(
          pod,
          { condition, ...(nominatedNode === undefined ? {} : { nominatedNodeName: nominatedNode }) },
          signal,
        )
      } catch (e) {
        if (!signal.aborted) {
          settings.logger.warn('failed to update the status of a pod', { pod: info.key, error: textOf(e) })
        }
      }
    }
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
