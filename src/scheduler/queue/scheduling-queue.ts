import type { Clock } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { FilterPlugin } from '../plugins/plugin.ts'
import type { World } from '../plugins/world.ts'
import { backoffMs } from './backoff.ts'
import type { ClusterEvent, EventKind } from './cluster-event.ts'
import { UnschedulablePods } from './unschedulable-pods.ts'

/** A pod that waits for a node. */
export interface QueuedPod {
  info: PodInfo
  /** How often it was tried. */
  attempts: number
  /** When it was first seen. */
  addedMs: number
  /** Since when it waits for its turn: of equals, who waits longer comes first. */
  sinceMs: number
  /** Not before this time, unless nobody else waits. */
  backoffUntilMs: number
  /** It failed by no fault of its own, the API being away for one: it is not tried earlier even if nobody else waits. */
  hasErred: boolean
  /** The plugins that had something against all nodes. None: whatever happens may help. */
  rejectedBy: ReadonlySet<string>
  order: number
}

/** Where a pod is that nobody is looking at. */
type Place = 'active' | 'backoff' | 'unschedulable' | 'gated'

export interface SchedulingQueueOptions {
  clock: Clock
  plugins: readonly FilterPlugin[]
  world: World
  /** There is work. */
  onActive(): void
  /** A pod went to a part of the queue, because of this. */
  onMove?(to: Place, why: string): void
}

/** Pods that nothing has helped for so long are tried again: something may have gone unnoticed. */
const unschedulableMs = 5 * 60_000

const isGated = ({ pod }: PodInfo): boolean => Boolean(pod.spec.schedulingGates?.length)

/**
 * Pods that wait for a node: those whose turn it is by priority and age, those that have to wait a while after a failure, and those that no node is right for,
 * until something happens that could change that.
 */
export class SchedulingQueue {
  readonly #options: SchedulingQueueOptions
  readonly #active = new KeyedHeap<string, QueuedPod>((a, b) => isBefore(a, b))
  readonly #backoff = new KeyedHeap<string, QueuedPod>((a, b) => a.backoffUntilMs - b.backoffUntilMs < 0 || (a.backoffUntilMs === b.backoffUntilMs && isBefore(a, b)))
  readonly #unschedulable = new UnschedulablePods()
  readonly #gated = new Map<string, QueuedPod>()
  /** Pods that are being tried, or bound. */
  readonly #inFlight = new Map<string, QueuedPod>()
  /** Pods for which room is still being made: whatever happens, they wait for that first. */
  readonly #held = new Map<string, { queued: QueuedPod | undefined; wasHelped: boolean }>()
  /** What may help pods that plugins have rejected: plugins by the events they hear. */
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

  /** How many pods wait, by where they do. */
  get sizes(): Record<Place, number> {
    return { active: this.#active.size, backoff: this.#backoff.size, unschedulable: this.#unschedulable.size + this.#held.size, gated: this.#gated.size }
  }

  /** A pod without a node has come. */
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

  /** A pod that waits, or is being tried. */
  get(uid: string): PodInfo | undefined {
    return this.#entry(uid)?.info
  }

  /** A pod that waits has changed: `event` says how. */
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

  /** The pod is gone, or has a node. */
  delete(uid: string): void {
    this.#active.delete(uid)
    this.#backoff.delete(uid)
    this.#unschedulable.delete(uid)
    this.#gated.delete(uid)
    this.#inFlight.delete(uid)
    this.#held.delete(uid)
    this.#setTimer()
  }

  /** Whose turn it is. Whoever waits after a failure has it at once if nobody else wants to. */
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

  /** The pod has its node. */
  done({ info: { uid } }: QueuedPod): void {
    this.#inFlight.delete(uid)
  }

  /** No node is right for the pod: it waits for something that could help. */
  reject(queued: QueuedPod, rejectedBy: ReadonlySet<string>): void {
    if (!this.#inFlight.delete(queued.info.uid)) return // it is gone
    queued.rejectedBy = rejectedBy
    queued.hasErred = false
    this.#failed(queued)
    const held = this.#held.get(queued.info.uid)
    if (held) held.queued = queued
    else this.#put('unschedulable', queued, 'ScheduleAttemptFailure')
  }

  /** Something went wrong: it is tried again after a while. */
  retry(queued: QueuedPod): void {
    if (!this.#inFlight.delete(queued.info.uid)) return // it is gone
    queued.rejectedBy = new Set()
    queued.hasErred = true
    this.#failed(queued)
    this.#put('backoff', queued, 'ScheduleAttemptFailure')
  }

  /** Something happened: whoever it could help is tried again. */
  wake(event: ClusterEvent): void {
    const { world } = this.#options
    for (const queued of this.#unschedulable.rejectedBy('')) this.#wake(queued, event.kind)
    for (const plugin of this.#hearing.get(event.kind) ?? []) {
      for (const queued of this.#unschedulable.rejectedBy(plugin.name)) if (plugin.helps(event, queued.info, world)) this.#wake(queued, event.kind)
    }
    for (const held of this.#held.values()) held.wasHelped ||= !held.queued || this.#mayHelp(event, held.queued)
  }

  /** Whoever no node was right for is tried again. */
  wakeAll(): void {
    for (const queued of this.#unschedulable.values()) this.#wake(queued, 'ForceActivate')
    for (const held of this.#held.values()) held.wasHelped = true
  }

  /** Room is going to be made for the pod, which is being tried. Until `release`, it is not tried again. */
  hold(uid: string): void {
    this.#held.set(uid, { queued: undefined, wasHelped: false })
  }

  /** Room has been made, or could not be: then it is tried again in any case. */
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
    return this.#gated.get(uid) ?? this.#unschedulable.get(uid) ?? this.#active.get(uid) ?? this.#backoff.get(uid) ?? this.#inFlight.get(uid) ?? this.#held.get(uid)?.queued
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

  #put(place: Place, queued: QueuedPod, why: string): void {
    const { uid } = queued.info
    if (place === 'active') this.#active.set(uid, queued)
    else if (place === 'backoff') this.#backoff.set(uid, queued)
    else if (place === 'gated') this.#gated.set(uid, queued)
    else this.#unschedulable.add(queued)
    this.#options.onMove?.(place, why)
    this.#setTimer()
    if (place === 'active' || (place === 'backoff' && !queued.hasErred)) this.#options.onActive()
  }

  /** Whose time has come waits for nothing but its turn. */
  #takeDue(): void {
    const nowMs = this.#options.clock.now()
    for (let next = this.#backoff.peek(); next && next.backoffUntilMs <= nowMs; next = this.#backoff.peek()) {
      this.#backoff.delete(next.info.uid)
      this.#put('active', next, 'BackoffComplete')
    }
    for (const queued of this.#unschedulable.values()) {
      // In the order in which they came: the first that is not due is followed by none that is.
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
  a.info.priority !== b.info.priority ? a.info.priority > b.info.priority : a.sinceMs !== b.sinceMs ? a.sinceMs < b.sinceMs : a.order < b.order
