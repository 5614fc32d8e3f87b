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
  /** When an event last blamed a pod's owner, as far as is known. */
  userErrorAt(uid: string): number | undefined
  /** Whether everything is heard as it happens: pods, and the events that explain them. */
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

/** A fact that waits for what may explain it: events come over another watch than pods. */
interface Held {
  readonly fact: SandboxObservation
  readonly sinceMs: number
  readonly heldAtMs: number
  userErrorAtMs: number | undefined
}

const settleMs = 2000
/** Who cannot hear of events must not wait for them for ever. */
const patienceMs = 60_000

/** Makes facts of what pods say: each once, however often they say it, and the same ones after a restart. */
export class SandboxTracker {
  readonly #options: TrackerOptions
  readonly #pods = new Map<string, TrackedPod>()
  /** Of pods that have not been seen since the start, by uid. */
  readonly #remembered = new Map<string, PodRecord>()
  /** When pods fail, by uid. */
  readonly #deadlines = new KeyedHeap<string, { uid: string; atMs: number }>((a, b) => a.atMs < b.atMs)
  /** In the order in which they became known. */
  #held: Held[] = []
  #cancelTimer: (() => void) | undefined
  #timerAtMs = Infinity

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** By uid. */
  get pods(): ReadonlyMap<string, TrackedPod> {
    return this.#pods
  }

  /** A pod is there, or has changed. `isExplained`: whatever events say of it is known. */
  see(pod: Pod, isExplained = false): void {
    const uid = pod.metadata.uid ?? ''
    const { record } = this.#track(uid, pod)
    const view = viewOf(pod)
    const before = fingerprint(record)
    for (const happening of advance(record, view, this.#options.timeoutMs)) this.#take(pod, record, happening, isExplained)
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

  /** An event blames the owner of a pod. */
  blame(uid: string, atMs: number): void {
    for (const held of this.#held) if (held.fact.uid === uid) held.userErrorAtMs = latest(held.userErrorAtMs, atMs)
    const record = this.#pods.get(uid)?.record
    if (!record || (record.userErrorAtMs ?? -1) >= atMs) return
    record.userErrorAtMs = atMs
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
    save: () => ({ pods: [...this.#remembered, ...[...this.#pods].map(([uid, { record }]) => [uid, record])], held: this.#held }),
    restore: (saved) => {
      const { pods = [], held = [] } = (saved ?? {}) as { pods?: [string, PodRecord][]; held?: Held[] }
      for (const [uid, record] of pods) this.#remembered.set(uid, { ...newRecord(), ...record })
      this.#held = held.map((one) => ({ ...one, heldAtMs: this.#options.clock.now() }))
      this.#arm()
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
    const userErrorAtMs = this.#options.userErrorAt(uid)
    if (userErrorAtMs !== undefined) record.userErrorAtMs = latest(record.userErrorAtMs, userErrorAtMs)
    const tracked = { record, pod }
    this.#pods.set(uid, tracked)
    return tracked
  }

  #take(pod: Pod, record: PodRecord, { sinceMs, ...happening }: Happening, isExplained: boolean): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata
    const { clock, labelsOf, changed } = this.#options
    const fact: SandboxObservation = { uid, namespace, name, ...happening, isUserError: false, labels: labelsOf(pod) }
    const held = { fact, sinceMs, heldAtMs: clock.now(), userErrorAtMs: record.userErrorAtMs }
    if (isExplained) this.#tell(held)
    else this.#held.push(held)
    changed()
  }

  #tell({ fact, sinceMs, userErrorAtMs }: Held): void {
    this.#options.tell({ ...fact, isUserError: userErrorAtMs !== undefined && userErrorAtMs >= sinceMs })
  }

  #arm(): void {
    const first = Math.min(this.#held[0]?.heldAtMs ?? Infinity, this.#deadlines.peek()?.atMs ?? Infinity)
    if (first === Infinity) return
    this.#armAt(first + settleMs)
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

  /** Tells what has waited long enough, and fails those whose time is up. Nobody fails while it is not known how pods are. */
  #settle(): void {
    const { clock, isCurrent, changed } = this.#options
    const settledMs = clock.now() - settleMs
    const knows = isCurrent()
    if (knows) this.#failThoseDue(settledMs)
    const untilMs = knows ? settledMs : clock.now() - patienceMs
    const waiting = this.#held.findIndex(({ heldAtMs }) => heldAtMs > untilMs)
    const ready = this.#held.splice(0, waiting < 0 ? this.#held.length : waiting)
    for (const held of ready) this.#tell(held)
    if (ready.length > 0) changed()
    if (knows) this.#arm()
    else this.#armAt(clock.now() + 1000)
  }

  /** What could explain it has had the time to come. */
  #failThoseDue(settledMs: number): void {
    for (let due = this.#deadlines.peek(); due && due.atMs <= settledMs; due = this.#deadlines.peek()) {
      this.#deadlines.delete(due.uid)
      const { record, pod } = this.#pods.get(due.uid)!
      this.#take(pod, record, fail(record, due.atMs), true)
    }
  }
}

const latest = (a: number | undefined, b: number): number => Math.max(a ?? b, b)

/** Tells whether a record has changed, cheaper than a copy. */
const fingerprint = ({ scheduledAtMs, readyAtMs, lostAtMs, deletedAtMs, terminatedAtMs }: PodRecord): string => `${scheduledAtMs} ${readyAtMs} ${lostAtMs} ${deletedAtMs} ${terminatedAtMs}`
