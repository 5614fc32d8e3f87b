import type { Clock } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { FilterPlugin } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'
import { type ClusterEvent, type EventKind, type QueuedPod, UnschedulablePods } from './unschedulable-pods.ts'

const initialMs = 1000
const maxMs = 10_000

/** The back-off after a number of attempts: one second, doubled each time, at most ten. */
export const backoffMs = (attempts: number): number =>
  attempts <= 0 ? 0 : Math.min(maxMs, initialMs * 2 ** Math.min(attempts - 1, 10))

/** The part of the queue that holds a pod. */
type Part = 'active' | 'backoff' | 'unschedulable' | 'gated'

export interface SchedulingQueueOptions {
  clock: Clock
  plugins: readonly FilterPlugin[]
  world: World
  /** A pod is ready. */
  onActive(): void
  /** A pod entered a part of the queue, because of this event. */
  onMove?(to: Part, why: string): void
}

/** The time after which an unschedulable pod is retried without an event, in case one was missed. */
const unschedulableMs = 5 * 60_000

const isGated = ({ pod }: PodInfo): boolean => Boolean(pod.spec.schedulingGates?.length)

/**
 * The pods that wait for a node: active ones by priority and age, those in back-off, and unschedulable ones, which wait
 * for an event that may help them.
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions
  readonly #active = new KeyedHeap<string, QueuedPod>((a, b) => isBefore(a, b))
  readonly #backoff = new KeyedHeap<string, QueuedPod>(
    (a, b) => a.backoffUntilMs - b.backoffUntilMs < 0 || (a.backoffUntilMs === b.backoffUntilMs && isBefore(a, b)),
  )
  readonly #unschedulable = new UnschedulablePods()
  readonly #gated = new Map<string, QueuedPod>()
  /** Pods that are being scheduled or bound. */
  readonly #inFlight = new Map<string, QueuedPod>()
  /** Pods for which room is being made. They wait for that before any event. */
  readonly #held = new Map<string, { queued: QueuedPod | undefined; wasHelped: boolean }>()
  /** The events that may help rejected pods, by plugin. */
  readonly #hearing = new Map<EventKind, FilterPlugin[]>()
  #cancelTimer: (() => void) | undefined
  #timerAtMs = Infinity
  #order = 0

  constructor(options: SchedulingQueueOptions) {
    this.#options = options
    for (const plugin of options.plugins) {
      for (const kind of plugin.hears) this.#hearing.set(kind, [...(this.#hearing.get(kind) ?? []), plugin])
    }
  }

  /** The number of waiting pods per part of the queue. */
  get sizes(): Record<Part, number> {
    return {
      active: this.#active.size,
      backoff: this.#backoff.size,
      unschedulable: this.#unschedulable.size + this.#held.size,
      gated: this.#gated.size,
    }
  }

  /** A pod without a node was added. */
  add(info: PodInfo): void {
    const nowMs = this.#options.clock.now()
    const queued: QueuedPod = {
      info,
      attempts: 0,
      addedMs: nowMs,
      sinceMs: nowMs,
      backoffUntilMs: 0,
      hasErred: false,
      rejectedBy: new Set(),
      order: this.#order++,
    }
    if (isGated(info)) this.#put('gated', queued, 'PodAdd')
    else this.#put('active', queued, 'PodAdd')
  }

  /** A pod that waits, or is being scheduled. */
  get(uid: string): PodInfo | undefined {
    return this.#entry(uid)?.info
  }

  /** A waiting pod has changed. `event` describes the change. */
  update(info: PodInfo, event: ClusterEvent): void {
    const { uid } = info
    const queued = this.#entry(uid)
    if (!queued) return this.add(info)
    queued.info = info
    if (this.#gated.has(uid) && !isGated(info)) {
      this.#gated.delete(uid)
      this.#put('active', queued, 'PodUpdate')
    } else if (this.#unschedulable.has(uid) && this.#mayHelp(event, queued)) this.#wake(queued, event.kind)
  }

  /** The pod is deleted, or bound. */
  delete(uid: string): void {
    this.#active.delete(uid)
    this.#backoff.delete(uid)
    this.#unschedulable.delete(uid)
    this.#gated.delete(uid)
    this.#inFlight.delete(uid)
    this.#held.delete(uid)
    this.#setTimer()
  }

  /** The next pod. A pod in back-off is returned if no other pod waits. */
  pop(): QueuedPod | undefined {
    this.#takeDue()
    let queued = this.#active.pop()
    if (!queued) {
      const next = this.#backoff.peek()
      if (next && !next.hasErred) queued = this.#backoff.pop()
      if (queued) this.#setTimer()
    }
    if (!queued) return undefined
    queued.attempts++
    this.#inFlight.set(queued.info.uid, queued)
    return queued
  }

  /** The pod is bound. */
  done({ info: { uid } }: QueuedPod): void {
    this.#inFlight.delete(uid)
  }

  /** No node is suitable for the pod, which waits for an event that may help. */
  reject(queued: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    if (!this.#inFlight.delete(queued.info.uid)) return // the pod is gone
    queued.rejectedBy = rejectedBy
    queued.hasErred = false
    this.#failed(queued)
    const held = this.#held.get(queued.info.uid)
    if (held) held.queued = queued
    else this.#put('unschedulable', queued, 'ScheduleAttemptFailure')
  }

  /** An error occurred, and the pod is retried after its back-off. */
  retry(queued: QueuedPod): void {
    if (!this.#inFlight.delete(queued.info.uid)) return // the pod is gone
    queued.rejectedBy = new Set()
    queued.hasErred = true
    this.#failed(queued)
    this.#put('backoff', queued, 'ScheduleAttemptFailure')
  }

  /** An event occurred, and the pods that it may help are retried. */
  wake(event: ClusterEvent): void {
    const { world } = this.#options
    for (const queued of this.#unschedulable.rejectedBy('')) this.#wake(queued, event.kind)
    for (const plugin of this.#hearing.get(event.kind) ?? []) {
      for (const queued of this.#unschedulable.rejectedBy(plugin.name))
        if (plugin.helps(event, queued.info, world)) {
          this.#wake(queued, event.kind)
        }
    }
    for (const held of this.#held.values()) held.wasHelped ||= !held.queued || this.#mayHelp(event, held.queued)
  }

  /** All unschedulable pods are retried. */
  wakeAll(): void {
    for (const queued of this.#unschedulable.values()) this.#wake(queued, 'ForceActivate')
    for (const held of this.#held.values()) held.wasHelped = true
  }

  /** Room is being made for the pod, which is being scheduled. It is not retried before `release`. */
  hold(uid: string): void {
    this.#held.set(uid, { queued: undefined, wasHelped: false })
  }

  /** Room was made, or could not be. The pod is retried in either case. */
  release(uid: string, isToBeTried: boolean): void {
    const held = this.#held.get(uid)
    this.#held.delete(uid)
    if (!held?.queued) return
    if (held.wasHelped || isToBeTried) this.#wake(held.queued, 'AssignedPodDelete')
    else this.#put('unschedulable', held.queued, 'ScheduleAttemptFailure')
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #entry(uid: string): QueuedPod | undefined {
    return (
      this.#gated.get(uid) ??
      this.#unschedulable.get(uid) ??
      this.#active.get(uid) ??
      this.#backoff.get(uid) ??
      this.#inFlight.get(uid) ??
      this.#held.get(uid)?.queued
    )
  }

  #mayHelp(event: ClusterEvent, { info, rejectedBy }: QueuedPod): boolean {
    if (rejectedBy.size === 0) return true
    for (const plugin of this.#hearing.get(event.kind) ?? []) {
      if (rejectedBy.has(plugin.name) && plugin.helps(event, info, this.#options.world)) return true
    }
    return false
  }

  #wake(queued: QueuedPod, why: string): void {
    const { uid } = queued.info
    this.#unschedulable.delete(uid)
    this.#put(queued.backoffUntilMs > this.#options.clock.now() ? 'backoff' : 'active', queued, why)
  }

  #failed(queued: QueuedPod): void {
    const nowMs = this.#options.clock.now()
    queued.sinceMs = nowMs
    queued.backoffUntilMs = nowMs + backoffMs(queued.attempts)
  }

  #put(part: Part, queued: QueuedPod, why: string): void {
    const { uid } = queued.info
    if (part === 'active') this.#active.set(uid, queued)
    else if (part === 'backoff') this.#backoff.set(uid, queued)
    else if (part === 'gated') this.#gated.set(uid, queued)
    else this.#unschedulable.add(queued)
    this.#options.onMove?.(part, why)
    this.#setTimer()
    if (part === 'active' || (part === 'backoff' && !queued.hasErred)) this.#options.onActive()
  }

  /** A pod whose back-off is over becomes active. */
  #takeDue(): void {
    const nowMs = this.#options.clock.now()
    for (let next = this.#backoff.peek(); next && next.backoffUntilMs <= nowMs; next = this.#backoff.peek()) {
      this.#backoff.delete(next.info.uid)
      this.#put('active', next, 'BackoffComplete')
    }
    for (const queued of this.#unschedulable.values()) {
      // Sorted by arrival: after the first that is not due, none is.
      if (queued.sinceMs + unschedulableMs > nowMs) break
      this.#wake(queued, 'UnschedulableTimeout')
    }
  }

  #setTimer(): void {
    const { clock } = this.#options
    const backoffMs = this.#backoff.peek()?.backoffUntilMs ?? Infinity
    const { oldest } = this.#unschedulable
    const atMs = Math.min(backoffMs, oldest ? oldest.sinceMs + unschedulableMs : Infinity)
    if (atMs === this.#timerAtMs) return
    this.#cancelTimer?.()
    this.#timerAtMs = atMs
    this.#cancelTimer =
      atMs === Infinity
        ? undefined
        : clock.after(Math.max(0, atMs - clock.now()), () => {
            this.#timerAtMs = Infinity
            this.#takeDue()
            this.#setTimer()
          })
  }
}

const isBefore = (a: QueuedPod, b: QueuedPod): boolean =>
  a.info.priority !== b.info.priority
    ? a.info.priority > b.info.priority
    : a.sinceMs !== b.sinceMs
      ? a.sinceMs < b.sinceMs
      : a.order < b.order
