import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { SandboxLabels, SandboxObservation, SnapshotSection } from '../observation.ts'
import { type Happening, type PodRecord, advance, endWait, endsAt, newRecord, vanish } from './pod-record.ts'
import { viewOf } from './sandbox-view.ts'
import { type Lack, namedObjects, nothingLacks } from './user-objects.ts'

export interface TrackerOptions {
  clock: Clock
  /** The time after scheduling at which a pod that is not ready has failed. */
  timeoutMs: number
  labelsOf(pod: Pod): SandboxLabels
  /** True if an object that the pod names is missing now. */
  lackOf(pod: Pod): Lack
  /** Reports whether the caches of pods are current. */
  isCurrent(): boolean
  tell(fact: SandboxObservation): void
  /** The first pod with these labels was added. */
  appeared(labels: SandboxLabels): void
  /** The last one is gone. */
  vanished(labels: SandboxLabels): void
  /** New data has to be kept. */
  changed(): void
}

/** A pod and its recorded history. */
export interface TrackedPod {
  readonly record: PodRecord
  pod: Pod
  /** The labels that it was counted with at first. */
  readonly labels: SandboxLabels
  /** The objects that it waits for, or may wait for, as in `#waitingFor`. */
  waitsFor: readonly string[]
  /** Data for metrics that is derived from the current pod. */
  shown?: { of: Pod; identity: string; info: string }
}

/** A waiting pod in a snapshot, which may be gone after a restart. */
type Waiting = Pick<SandboxObservation, 'namespace' | 'name' | 'labels'>

type SavedRecord = PodRecord & { waiting?: Waiting }

interface Saved {
  /** The time up to which the state of pods is known. */
  heardMs?: number
  pods?: [uid: string, record: SavedRecord][]
}

/** The delay within which a pod's report may still arrive. */
const settleMs = 2000
/** The interval of checks while the state of pods is unknown. */
const againMs = 1000
/**
 * The interval of writing that pods still wait. If the monitor is killed, a pod may have waited unnoticed for this
 * time.
 */
const keepMs = 10_000

/** Derives facts from pods: each once, regardless of how often it is reported, and the same ones after a restart. */
export class SandboxTracker {
  readonly #options: TrackerOptions
  readonly #pods = new Map<string, TrackedPod>()
  /** By UID: pods that have not been observed since the start. */
  readonly #remembered = new Map<string, SavedRecord>()
  /** The number of pods per label set, by its text. */
  readonly #labelled = new Map<string, { labels: SandboxLabels; pods: number }>()
  /** By resource and key: the UIDs of pods that name an object and have no sandbox. */
  readonly #waitingFor = new Map<string, Set<string>>()
  /** The times at which waits end, by UID. */
  readonly #deadlines = new KeyedHeap<string, { uid: string; atMs: number }>((a, b) => a.atMs < b.atMs)
  /** The time up to which the state of pods is known. */
  #heardMs = 0
  /** Set while the caches of pods are not current, and until all delayed versions have arrived. */
  #blindFromMs: number | undefined
  #cancelTimer: (() => void) | undefined
  #timerAtMs = Infinity
  #cancelKeep: (() => void) | undefined

  constructor(options: TrackerOptions) {
    this.#options = options
  }

  /** By UID. */
  get pods(): ReadonlyMap<string, TrackedPod> {
    return this.#pods
  }

  /** All versions up to now have arrived. */
  heard(): void {
    this.#heardMs = this.#options.clock.now()
  }

  /** A pod was added or changed. `isLive` is false if it may have changed some time ago. */
  see(pod: Pod, isLive = true): void {
    const uid = pod.metadata.uid ?? ''
    const { clock, timeoutMs, lackOf, changed } = this.#options
    const tracked = this.#track(uid, pod)
    const { record } = tracked
    const view = viewOf(pod)
    const before = fingerprint(record)
    const isDone = view.ready?.is === true && record.readyAtMs === view.ready.sinceMs
    const look = {
      nowMs: clock.now(),
      blindFromMs: this.#blindFromMs,
      timeoutMs,
      lack: isDone ? nothingLacks : lackOf(pod),
      isLive,
    }
    for (const happening of advance(record, view, look)) this.#tell(pod, happening)
    if (fingerprint(record) !== before) changed()
    const needsSandbox = !view.ready?.is && !view.isFinished
    this.#follow(
      uid,
      tracked,
      needsSandbox ? namedObjects(pod).map(({ resource, key }) => objectId(resource, key)) : nothing,
    )
    const endMs = endsAt(record, view, timeoutMs)
    if (endMs === undefined) this.#deadlines.delete(uid)
    else this.#deadlines.set(uid, { uid, atMs: endMs })
    this.#arm()
  }

  /** An object that pods may wait for was added or deleted. */
  seeObject(resource: string, key: string): void {
    // A copy, because each check removes the pod from the set, and may add it again.
    const uids = Array.from(this.#waitingFor.get(objectId(resource, key)) ?? [])
    for (const uid of uids) this.see(this.#pods.get(uid)!.pod)
  }

  /** A pod is gone. `isFinal` is true if this is its last version. */
  gone(pod: Pod, isFinal: boolean): void {
    const uid = pod.metadata.uid ?? ''
    if (isFinal) this.see(pod)
    const tracked = this.#pods.get(uid)
    if (!tracked) return
    const { clock, timeoutMs, changed } = this.#options
    const { record } = tracked
    // If its last version was missed, only the state at the last known time is known.
    const goneMs = isFinal ? clock.now() : this.#heardMs
    const endMs = endsAt(record, viewOf(tracked.pod), timeoutMs)
    const happenings =
      endMs === undefined ? vanish(record, goneMs) : [endWait(record, Math.min(endMs, goneMs), timeoutMs)]
    for (const happening of happenings) this.#tell(tracked.pod, happening)
    this.#follow(uid, tracked, [])
    this.#pods.delete(uid)
    this.#unlabel(tracked.labels)
    this.#deadlines.delete(uid)
    changed()
  }

  /** All existing pods were observed: the waits of others ended at an unknown time after their last observation. */
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
      return {
        heardMs: this.#heardMs,
        pods: [
          ...this.#remembered,
          ...[...this.#pods].map(([uid, tracked]) => [uid, this.#saved(uid, tracked)] as [string, SavedRecord]),
        ],
      }
    },
    restore: (given) => {
      const { pods = [], heardMs = 0 } = (given ?? {}) as Saved
      this.#heardMs = heardMs
      for (const [uid, record] of pods) this.#remembered.set(uid, { ...newRecord(), ...record })
    },
  }

  /** A record for a snapshot. Waiting pods are kept with name and labels, because they may be gone after a restart. */
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

  /** Shares one object among pods with equal labels. */
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

  /** Ends due waits. None is ended while the state of pods is unknown. */
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

/** Detects whether a record has changed, cheaper than a copy. */
const fingerprint = ({ scheduledAtMs, readyAtMs, lostAtMs, ...record }: PodRecord): string =>
  `${scheduledAtMs} ${readyAtMs} ${lostAtMs} ${record.deletedAtMs} ${record.terminatedAtMs} ${record.absentFromMs} ${record.userMs}`
