import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { SandboxLabels, SandboxObservation, SnapshotSection } from '../observation.ts'
import { type Happening, type PodRecord, advance, endWait, endsAt, newRecord, vanish } from './pod-record.ts'
import { viewOf } from './sandbox-view.ts'
import { type Lack, namedObjects, nothingLacks } from './user-objects.ts'

export interface TrackerOptions {
  clock: Clock
  /** A pod that is not ready so long after it was scheduled has failed. */
  timeoutMs: number
  labelsOf(pod: Pod): SandboxLabels
  /** True if an object that the pod names is absent now. */
  lackOf(pod: Pod): Lack
  /** Whether what pods say is heard as they say it. */
  isCurrent(): boolean
  tell(fact: SandboxObservation): void
  /** The first pod with these labels is there. */
  appeared(labels: SandboxLabels): void
  /** The last one is gone. */
  vanished(labels: SandboxLabels): void
  /** Something is to be kept that was not there before. */
  changed(): void
}

/** A pod, and what is remembered of it. */
export interface TrackedPod {
  readonly record: PodRecord
  pod: Pod
  /** Those that it was counted with when it appeared. */
  readonly labels: SandboxLabels
  /** The objects that it waits for, or might wait for, as `#waitingFor` has them. */
  waitsFor: readonly string[]
  /** What was made of it for those who read metrics: of the pod as it is, and of who it is. */
  shown?: { of: Pod; identity: string; info: string }
}

/** A pod that waits, as it is kept over a restart: it may be gone by then. */
type Waiting = Pick<SandboxObservation, 'namespace' | 'name' | 'labels'>

type SavedRecord = PodRecord & { waiting?: Waiting }

interface Saved {
  /** Up to here it is known how pods were. */
  heardMs?: number
  pods?: [uid: string, record: SavedRecord][]
}

/** What a pod said in time may come so much later. */
const settleMs = 2000
/** How soon it is looked again, while it is not known how pods are. */
const againMs = 1000
/** How often it is kept that pods wait still: for so long a pod may have waited unnoticed if the monitor is killed. */
const keepMs = 10_000

/** Makes facts of what pods say: each once, however often they say it, and the same ones after a restart. */
export class SandboxTracker {
  readonly #options: TrackerOptions
  readonly #pods = new Map<string, TrackedPod>()
  /** Of pods that have not been seen since the start, by uid. */
  readonly #remembered = new Map<string, SavedRecord>()
  /** How many pods have the same labels, by their text. */
  readonly #labelled = new Map<string, { labels: SandboxLabels; pods: number }>()
  /** The uids of pods that name an object and have no sandbox, by resource and key. */
  readonly #waitingFor = new Map<string, Set<string>>()
  /** When waits of pods end, by uid. */
  readonly #deadlines = new KeyedHeap<string, { uid: string; atMs: number }>((a, b) => a.atMs < b.atMs)
  /** Up to here it is known how pods were. */
  #heardMs = 0
  /** Set while pods are not heard, and until all has been heard that they have said meanwhile. */
  #blindFromMs: number | undefined
  #cancelTimer: (() => void) | undefined
  #timerAtMs = Infinity
  #cancelKeep: (() => void) | undefined

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** By uid. */
  get pods(): ReadonlyMap<string, TrackedPod> {
    return this.#pods
  }

  /** Everything up to now has been heard. */
  heard(): void {
    this.#heardMs = this.#options.clock.now()
  }

  /** A pod is there, or has changed; `isLive` unless it may have changed some time ago. */
  see(pod: Pod, isLive = true): void {
    const uid = pod.metadata.uid ?? ''
    const { clock, timeoutMs, lackOf, changed } = this.#options
    const tracked = this.#track(uid, pod)
    const { record } = tracked
    const view = viewOf(pod)
    const before = fingerprint(record)
    const isDone = view.ready?.is === true && record.readyAtMs === view.ready.sinceMs
    const look = { nowMs: clock.now(), blindFromMs: this.#blindFromMs, timeoutMs, lack: isDone ? nothingLacks : lackOf(pod), isLive }
    for (const happening of advance(record, view, look)) this.#tell(pod, happening)
    if (fingerprint(record) !== before) changed()
    const needsSandbox = !view.ready?.is && !view.isFinished
    this.#follow(uid, tracked, needsSandbox ? namedObjects(pod).map(({ resource, key }) => objectId(resource, key)) : nothing)
    const endMs = endsAt(record, view, timeoutMs)
    if (endMs === undefined) this.#deadlines.delete(uid)
    else this.#deadlines.set(uid, { uid, atMs: endMs })
    this.#arm()
  }

  /** An object has appeared, or is gone, that pods may wait for. */
  seeObject(resource: string, key: string): void {
    // A copy: each look takes the pod out of the set, and may put it back.
    const uids = Array.from(this.#waitingFor.get(objectId(resource, key)) ?? [])
    for (const uid of uids) this.see(this.#pods.get(uid)!.pod)
  }

  /** A pod is gone; `isFinal` if this is how it was in the end. */
  gone(pod: Pod, isFinal: boolean): void {
    const uid = pod.metadata.uid ?? ''
    if (isFinal) this.see(pod)
    const tracked = this.#pods.get(uid)
    if (!tracked) return
    const { clock, timeoutMs, changed } = this.#options
    const { record } = tracked
    // Of one whose end was missed it is only known how it was when pods were last heard of.
    const goneMs = isFinal ? clock.now() : this.#heardMs
    const endMs = endsAt(record, viewOf(tracked.pod), timeoutMs)
    const happenings = endMs === undefined ? vanish(record, goneMs) : [endWait(record, Math.min(endMs, goneMs), timeoutMs)]
    for (const happening of happenings) this.#tell(tracked.pod, happening)
    this.#follow(uid, tracked, [])
    this.#pods.delete(uid)
    this.#unlabel(tracked.labels)
    this.#deadlines.delete(uid)
    changed()
  }

  /** All pods that there are have been seen: the waits of others ended while nobody looked, at some time after they were last heard of. */
  forgetUnseen(): void {
    const { tell, timeoutMs, changed } = this.#options
    if (this.#remembered.size > 0) changed()
    for (const [uid, { waiting, ...record }] of this.#remembered) {
      if (!waiting || record.scheduledAtMs === undefined) continue
      const endMs = Math.min(record.deletedAtMs ?? Infinity, Math.max(this.#heardMs, record.scheduledAtMs))
      tell({ uid, ...waiting, ...endWait(record, endMs, timeoutMs) })
    }
    this.#remembered.clear()
    this.heard()
  }

  stop(): void {
    if (this.#options.isCurrent()) this.heard()
    if (this.#deadlines.peek()) this.#options.changed()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#cancelKeep?.()
    this.#cancelKeep = undefined
  }

  readonly section: SnapshotSection = {
    name: 'sandboxes',
    save: (): Saved => {
      if (this.#options.isCurrent()) this.heard()
      return { heardMs: this.#heardMs, pods: [...this.#remembered, ...[...this.#pods].map(([uid, tracked]) => [uid, this.#saved(uid, tracked)] as [string, SavedRecord])] }
    },
    restore: (given) => {
      const { pods = [], heardMs = 0 } = (given ?? {}) as Saved
      this.#heardMs = heardMs
      for (const [uid, record] of pods) this.#remembered.set(uid, { ...newRecord(), ...record })
    },
  }

  /** A record as it is kept. Who waits is kept with name and labels, in case that it is gone after a restart. */
  #saved(uid: string, { record, pod, labels }: TrackedPod): SavedRecord {
    if (!this.#deadlines.has(uid)) return record
    const { namespace = '', name = '' } = pod.metadata
    return { ...record, waiting: { namespace, name, labels } }
  }

  #track(uid: string, pod: Pod): TrackedPod {
    const known = this.#pods.get(uid)
    if (known) {
      known.pod = pod
      return known
    }
    const record: SavedRecord = this.#remembered.get(uid) ?? newRecord()
    if (record.waiting) delete record.waiting
    this.#remembered.delete(uid)
    const tracked = { record, pod, labels: this.#label(this.#options.labelsOf(pod)), waitsFor: nothing }
    this.#pods.set(uid, tracked)
    return tracked
  }

  /** The same object for all pods with the same labels. */
  #label(labels: SandboxLabels): SandboxLabels {
    const text = JSON.stringify(labels)
    const known = this.#labelled.get(text)
    if (known) {
      known.pods++
      return known.labels
    }
    this.#labelled.set(text, { labels, pods: 1 })
    this.#options.appeared(labels)
    return labels
  }

  #unlabel(labels: SandboxLabels): void {
    const text = JSON.stringify(labels)
    const known = this.#labelled.get(text)
    if (!known || --known.pods > 0) return
    this.#labelled.delete(text)
    this.#options.vanished(labels)
  }

  #follow(uid: string, tracked: TrackedPod, objects: readonly string[]): void {
    if (tracked.waitsFor.length === 0 && objects.length === 0) return
    for (const id of tracked.waitsFor) {
      const uids = this.#waitingFor.get(id)
      if (uids?.delete(uid) && uids.size === 0) this.#waitingFor.delete(id)
    }
    tracked.waitsFor = objects
    for (const id of objects) {
      const uids = this.#waitingFor.get(id)
      if (uids) uids.add(uid)
      else this.#waitingFor.set(id, new Set([uid]))
    }
  }

  #tell(pod: Pod, happening: Happening): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata
    this.#options.tell({ uid, namespace, name, ...happening, labels: this.#options.labelsOf(pod) })
    this.#options.changed()
  }

  #arm(): void {
    const first = this.#deadlines.peek()
    if (!first) return
    this.#armAt(first.atMs + settleMs)
    this.#cancelKeep ??= this.#options.clock.after(keepMs, () => {
      this.#cancelKeep = undefined
      this.#blindFromMs = this.#options.isCurrent() ? undefined : (this.#blindFromMs ?? this.#heardMs)
      this.#options.changed()
      this.#arm()
    })
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

  /** Ends the waits whose time is up. None ends while it is not known how pods are. */
  #settle(): void {
    const { clock, isCurrent, timeoutMs } = this.#options
    if (!isCurrent()) return this.#armAt(clock.now() + againMs)
    const settledMs = clock.now() - settleMs
    for (let due = this.#deadlines.peek(); due && due.atMs <= settledMs; due = this.#deadlines.peek()) {
      this.#deadlines.delete(due.uid)
      const { record, pod } = this.#pods.get(due.uid)!
      this.#tell(pod, endWait(record, due.atMs, timeoutMs))
    }
    this.#arm()
  }
}

const nothing: readonly string[] = []

const objectId = (resource: string, key: string): string => `${resource} ${key}`

/** Tells whether a record has changed, cheaper than a copy. */
const fingerprint = ({ scheduledAtMs, readyAtMs, lostAtMs, ...record }: PodRecord): string =>
  `${scheduledAtMs} ${readyAtMs} ${lostAtMs} ${record.deletedAtMs} ${record.terminatedAtMs} ${record.absentFromMs} ${record.userMs}`
