import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { SandboxLabels, SandboxObservation, SnapshotSection } from '../observation.ts'
import { type Happening, type PodRecord, advance, fail, failsAt, newRecord } from './pod-record.ts'
import { viewOf } from './sandbox-view.ts'

export interface TrackerOptions {
  clock: Clock
  /** A pod that is not ready so long after it was scheduled has failed. */
  timeoutMs: number
  labelsOf(pod: Pod): SandboxLabels
  /** Whether what pods say is heard as they say it. */
  isCurrent(): boolean
  tell(fact: SandboxObservation): void
  /** Something is to be kept that was not there before. */
  changed(): void
}

/** A pod, and what is remembered of it. */
export interface TrackedPod {
  readonly record: PodRecord
  pod: Pod
  /** What was made of it for those who read metrics: of the pod as it is, and of who it is. */
  shown?: { of: Pod; identity: string; info: string }
}

/** What a pod said in time may come so much later. */
const settleMs = 2000
/** How soon it is looked again, while it is not known how pods are. */
const againMs = 1000

/** Makes facts of what pods say: each once, however often they say it, and the same ones after a restart. */
export class SandboxTracker {
  readonly #options: TrackerOptions
  readonly #pods = new Map<string, TrackedPod>()
  /** Of pods that have not been seen since the start, by uid. */
  readonly #remembered = new Map<string, PodRecord>()
  /** When pods fail, by uid. */
  readonly #deadlines = new KeyedHeap<string, { uid: string; atMs: number }>((a, b) => a.atMs < b.atMs)
  #cancelTimer: (() => void) | undefined
  #timerAtMs = Infinity

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** By uid. */
  get pods(): ReadonlyMap<string, TrackedPod> {
    return this.#pods
  }

  /** A pod is there, or has changed. */
  see(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const { record } = this.#track(uid, pod)
    const view = viewOf(pod)
    const before = fingerprint(record)
    for (const happening of advance(record, view, this.#options.timeoutMs)) this.#tell(pod, happening)
    if (fingerprint(record) !== before) this.#options.changed()
    const dueMs = failsAt(record, view, this.#options.timeoutMs)
    if (dueMs === undefined) this.#deadlines.delete(uid)
    else this.#deadlines.set(uid, { uid, atMs: dueMs })
    this.#arm()
  }

  /** A pod is gone; `isFinal` if this is how it was in the end. */
  gone(pod: Pod, isFinal: boolean): void {
    const uid = pod.metadata.uid ?? ''
    if (isFinal) this.see(pod)
    if (!this.#pods.delete(uid)) return
    this.#deadlines.delete(uid)
    this.#options.changed()
  }

  /** All pods that there are have been seen: what is remembered of others is forgotten. */
  forgetUnseen(): void {
    if (this.#remembered.size > 0) this.#options.changed()
    this.#remembered.clear()
  }

  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  readonly section: SnapshotSection = {
    name: 'sandboxes',
    save: () => ({ pods: [...this.#remembered, ...[...this.#pods].map(([uid, { record }]) => [uid, record])] }),
    restore: (saved) => {
      const { pods = [] } = (saved ?? {}) as { pods?: [string, PodRecord][] }
      for (const [uid, record] of pods) this.#remembered.set(uid, { ...newRecord(), ...record })
    },
  }

  #track(uid: string, pod: Pod): TrackedPod {
    const known = this.#pods.get(uid)
    if (known) {
      known.pod = pod
      return known
    }
    const record = this.#remembered.get(uid) ?? newRecord()
    this.#remembered.delete(uid)
    const tracked = { record, pod }
    this.#pods.set(uid, tracked)
    return tracked
  }

  #tell(pod: Pod, happening: Happening): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata
    this.#options.tell({ uid, namespace, name, ...happening, labels: this.#options.labelsOf(pod) })
    this.#options.changed()
  }

  #arm(): void {
    const first = this.#deadlines.peek()
    if (first) this.#armAt(first.atMs + settleMs)
  }

  #armAt(atMs: number): void {
    if (this.#cancelTimer && this.#timerAtMs <= atMs) return
    this.#cancelTimer?.()
    this.#timerAtMs = atMs
    this.#cancelTimer = this.#options.clock.after(Math.max(0, atMs - this.#options.clock.now()), () => {
      this.#cancelTimer = undefined
      this.#settle()
    })
  }

  /** Fails those whose time is up. Nobody fails while it is not known how pods are. */
  #settle(): void {
    const { clock, isCurrent } = this.#options
    if (!isCurrent()) return this.#armAt(clock.now() + againMs)
    const settledMs = clock.now() - settleMs
    for (let due = this.#deadlines.peek(); due && due.atMs <= settledMs; due = this.#deadlines.peek()) {
      this.#deadlines.delete(due.uid)
      const { record, pod } = this.#pods.get(due.uid)!
      this.#tell(pod, fail(record, due.atMs))
    }
    this.#arm()
  }
}

/** Tells whether a record has changed, cheaper than a copy. */
const fingerprint = ({ scheduledAtMs, readyAtMs, lostAtMs, ...record }: PodRecord): string =>
  `${scheduledAtMs} ${readyAtMs} ${lostAtMs} ${record.deletedAtMs} ${record.terminatedAtMs} ${record.userErrorAtMs}`
