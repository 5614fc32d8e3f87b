import { type Cause, byWeight } from '../../api/explain/index.ts'
import type { Job, Pod } from '../../api/generated/types.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { FreeIndexes, IndexSet } from './indexes.ts'
import {
  type Basis,
  type Fate,
  type Member,
  type Stranger,
  basisName,
  completionsOf,
  keepsPredecessors,
  memberOf,
} from './member.ts'
import { failuresBefore, isIndexed, replacesOnlyEnded } from './policies.ts'

type ByKey = Map<string, Member>

/** The pods of one completion index. */
interface Slot {
  active: ByKey
  lost: ByKey
  going: number
  succeeded: number
  /** The number of lost pods that end the index. */
  final: number
}

/** The indexes in a status. */
export interface KnownIndexes {
  completed: IndexSet
  failed: IndexSet
}

/**
 * The pods of a Job, grouped by possible actions as they change. Otherwise each of 10,000 reconciles for 10,000 pods
 * would sort all of them.
 */
export class JobPods {
  readonly #job: Job
  readonly #slots = new Map<number, Slot>()
  readonly #parsed = new Map<string, { text: string | undefined; set: IndexSet }>()
  readonly #free: FreeIndexes
  #done = IndexSet.empty
  #known: KnownIndexes = { completed: IndexSet.empty, failed: IndexSet.empty }

  readonly active: ByKey = new Map()
  /** Active pods without the finalizer. */
  readonly untracked: ByKey = new Map()
  /** Tracked pods by UID. */
  readonly tracked = new Map<string, Member>()
  /** Tracked pods that have finished. */
  readonly ended: Readonly<Record<Fate, ByKey>> = { succeeded: new Map(), failed: new Map(), 'passed over': new Map() }
  readonly lost: ByKey = new Map()
  /** Lost pods that end their index. */
  readonly final: ByKey = new Map()
  /**
   * The last failed pod of each index that has no other pod. It is kept until its successor records how often the index
   * has failed.
   */
  readonly predecessors = new Map<number, { key: string; member: Member }>()
  /** Active pods without an index, and indexes with more than one active pod. */
  readonly homeless: ByKey = new Map()
  readonly crowded = new Set<number>()
  readonly strangers = new Map<string, Pod>()
  /** The reasons why pods do not run yet, or still exist, the most severe first. */
  readonly causes = new KeyedHeap<string, Cause>((a, b) => byWeight(a, b) < 0)
  /** Pods that cause the Job to fail. */
  readonly failsJob = new KeyedHeap<string, Member>((a, b) => a.pod.metadata.name! < b.pod.metadata.name!)
  /** Failed pods, the last one first. */
  readonly failed = new KeyedHeap<string, Member>(endedLater)
  readonly counts = { ready: 0, going: 0, running: 0, pending: 0, restarts: 0, counted: 0 }

  constructor(job: Job) {
    this.#job = job
    const goingTakes = replacesOnlyEnded(job)
    this.#free = new FreeIndexes(completionsOf(job), (index) => {
      const slot = this.#slots.get(index)
      return slot !== undefined && (isClosed(slot) || (goingTakes && slot.going > 0))
    })
  }

  add(key: string, member: Member): void {
    const { pod, index, cause } = member
    for (const sort of this.#sortsOf(member)) sort.set(key, member)
    if (member.isTracked) this.tracked.set(pod.metadata.uid!, member)
    if (cause) this.causes.set(key, cause)
    this.#count(member, 1)
    if (index === undefined) return
    let slot = this.#slots.get(index)
    if (!slot) this.#slots.set(index, (slot = { active: new Map(), lost: new Map(), going: 0, succeeded: 0, final: 0 }))
    if (member.isActive) slot.active.set(key, member)
    if (member.isLost) slot.lost.set(key, member)
    this.#place(index, slot, member, 1)
  }

  remove(key: string, member: Member): void {
    const { pod, index } = member
    for (const sort of this.#sortsOf(member)) sort.delete(key)
    if (member.isTracked) this.tracked.delete(pod.metadata.uid!)
    this.causes.delete(key)
    this.#count(member, -1)
    const slot = index === undefined ? undefined : this.#slots.get(index)
    if (index === undefined || !slot) return
    slot.active.delete(key)
    slot.lost.delete(key)
    if (this.predecessors.get(index)?.key === key) this.predecessors.delete(index)
    this.#place(index, slot, member, -1)
    if (!isClosed(slot) && slot.going === 0 && slot.lost.size === 0) this.#slots.delete(index)
  }

  /** Sets the indexes of the status. A finished index keeps no failed pod. */
  know({ completedIndexes, failedIndexes }: { completedIndexes?: string; failedIndexes?: string } = {}): this {
    const known = { completed: this.parse('completed', completedIndexes), failed: this.parse('failed', failedIndexes) }
    if (known.completed === this.#known.completed && known.failed === this.#known.failed) return this
    this.#known = known
    this.#done = known.completed.union(known.failed)
    this.#free.know(this.#done)
    if (!keepsPredecessors(this.#job)) return this
    for (const [index, slot] of this.#slots) if (slot.lost.size > 0) this.#settle(index, slot)
    return this
  }

  /** The indexes in the status. */
  get known(): KnownIndexes {
    return this.#known
  }

  /** Parses a text of indexes, unless it equals the previous text under this name. */
  parse(name: string, text: string | undefined): IndexSet {
    const before = this.#parsed.get(name)
    if (before && before.text === text) return before.set
    const set = IndexSet.parse(text, completionsOf(this.#job))
    this.#parsed.set(name, { text, set })
    return set
  }

  /** The first unfinished indexes without a pod. */
  freeIndexes(count: number): number[] {
    return this.#free.first(count)
  }

  activeAt(index: number): Iterable<Member> {
    return this.#slots.get(index)?.active.values() ?? []
  }

  isPredecessor(member: Member): boolean {
    return member.index !== undefined && this.predecessors.get(member.index)?.member === member
  }

  #sortsOf(member: Member): { set(key: string, member: Member): unknown; delete(key: string): unknown }[] {
    const sorts = []
    if (member.isActive) sorts.push(this.active)
    if (member.isActive && !member.isTracked) sorts.push(this.untracked)
    if (member.isActive && member.index === undefined && isIndexed(this.#job)) sorts.push(this.homeless)
    if (member.fate) sorts.push(this.ended[member.fate])
    if (member.isLost) sorts.push(this.lost)
    if (member.isFinal) sorts.push(this.final)
    if (member.hasFailed) sorts.push(this.failed)
    if (member.failsJob) sorts.push(this.failsJob)
    return sorts
  }

  #count({ isReady, isGoing, isRunning, isPending, isCounted, restarts }: Member, by: 1 | -1): void {
    const { counts } = this
    if (isReady) counts.ready += by
    if (isGoing) counts.going += by
    if (isRunning) counts.running += by
    if (isPending) counts.pending += by
    if (isCounted) counts.counted += by
    counts.restarts += by * restarts
  }

  /** Updates an index after one of its pods was added or removed. */
  #place(index: number, slot: Slot, { isGoing, isFinal, fate }: Member, by: 1 | -1): void {
    if (isGoing) slot.going += by
    if (isFinal) slot.final += by
    if (fate === 'succeeded') slot.succeeded += by
    if (slot.active.size > 1) this.crowded.add(index)
    else this.crowded.delete(index)
    this.#free.change(index)
    if (keepsPredecessors(this.#job)) this.#settle(index, slot)
  }

  /** Decides which failed pod of an index waits for a successor. The others are counted. */
  #settle(index: number, slot: Slot): void {
    const before = this.predecessors.get(index)
    if (before) this.ended[before.member.fate!].set(before.key, before.member)
    this.predecessors.delete(index)
    if (isClosed(slot) || this.#done.has(index)) return
    let last: { key: string; member: Member } | undefined
    for (const [key, member] of slot.lost) if (!last || failedLater(member, last.member)) last = { key, member }
    if (!last) return
    this.ended[last.member.fate!].delete(last.key)
    this.predecessors.set(index, last)
  }
}

/** True if an index needs no other pod: it has one, or its result is known. */
const isClosed = ({ active, succeeded, final }: Slot): boolean => active.size > 0 || succeeded > 0 || final > 0

const byName = (a: Member, b: Member): boolean => a.pod.metadata.name! > b.pod.metadata.name!

function endedLater(a: Member, b: Member): boolean {
  return a.endedMs === b.endedMs ? byName(a, b) : a.endedMs > b.endedMs
}

function failedLater(a: Member, b: Member): boolean {
  const failures = ({ pod }: Member) => failuresBefore(pod).counted + failuresBefore(pod).ignored
  return failures(a) === failures(b) ? endedLater(a, b) : failures(a) > failures(b)
}

/** The roster reader of a Job's pods. */
export function jobPodsReader(basis: Basis): RosterReader<Pod, Member | Stranger, JobPods> {
  const { job } = basis
  return {
    basis: basisName(job),
    read: (pod, nowMs) => memberOf(basis, pod, nowMs),
    empty: () => new JobPods(job),
    add: (pods, key, member) => {
      if (member.isStranger) pods.strangers.set(key, member.pod)
      else pods.add(key, member)
    },
    remove: (pods, key, member) => {
      if (member.isStranger) pods.strangers.delete(key)
      else pods.remove(key, member)
    },
    sumOf: (pods) => sumOf(pods.know(job.status)),
    changesAtMs: (member) => (member.isStranger ? undefined : member.changesAtMs),
  }
}

/** The groups of pods as plain data, independent of the order in which pods were added. */
function sumOf(pods: JobPods): unknown {
  const { counts, active, untracked, tracked, ended, lost, final, homeless, crowded, strangers, predecessors } = pods
  const keys = (sort: ReadonlyMap<string, unknown>) => [...sort.keys()].sort()
  return [
    counts,
    [active, untracked, tracked, lost, final, homeless, strangers, ...Object.values(ended)].map(keys),
    [...crowded].sort(),
    [...predecessors].map(([index, { key }]) => `${index} ${key}`).sort(),
    pods.freeIndexes(5),
    [pods.causes, pods.failsJob, pods.failed].map((heap) => heap.size),
    pods.causes.peek(),
    pods.failsJob.peek()?.pod.metadata.name,
    pods.failed.peek()?.pod.metadata.name,
  ]
}
