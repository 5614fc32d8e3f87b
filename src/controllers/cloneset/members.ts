import type { CloneSetStatus, Pod } from '../../api/generated/types.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { type Causes, noCauses } from '../kit/workload/index.ts'
import { type Basis, type Entry, type ActiveMember, changesAtMs, entryOf } from './member.ts'
import { compareTurns } from './turn.ts'

/** The numbers of a set's status. */
export type Counts = Pick<
  Required<CloneSetStatus>,
  | 'replicas'
  | 'readyReplicas'
  | 'availableReplicas'
  | 'updatedReplicas'
  | 'updatedReadyReplicas'
  | 'updatedAvailableReplicas'
>

const noCounts = (): Counts => ({
  replicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  updatedReplicas: 0,
  updatedReadyReplicas: 0,
  updatedAvailableReplicas: 0,
})

/** Adds a member to the numbers, or removes it. */
export function countIn(counts: Counts, active: ActiveMember, by: 1 | -1): void {
  counts.replicas += by
  if (active.isUpdated) counts.updatedReplicas += by
  countService(counts, active, by)
}

/** Adds a member to the numbers of pods that serve, or removes it. */
export function countService(counts: Counts, { isReady, isAvailable, isUpdated }: ActiveMember, by: 1 | -1): void {
  if (isReady) counts.readyReplicas += by
  if (isAvailable) counts.availableReplicas += by
  if (isUpdated && isReady) counts.updatedReadyReplicas += by
  if (isUpdated && isAvailable) counts.updatedAvailableReplicas += by
}

/** The numbers of the updated or the outdated pods. */
interface Group {
  /** All of them. */
  count: number
  /** Pods whose hook holds them before their deletion. */
  preparing: number
  /** The other pods whose deletion is requested, and how many of these are not available. */
  asked: number
  askedUnavailable: number
  /** All other pods that are not available. */
  unavailable: number
}

/** The numbers of a set's pods by revision. */
export interface Tally {
  updated: Group
  outdated: Group
}

const none = (): Group => ({ count: 0, preparing: 0, asked: 0, askedUnavailable: 0, unavailable: 0 })

const noTally = (): Tally => ({ updated: none(), outdated: none() })

/** Adds a member to the numbers, or removes it. */
function tallyIn(tally: Tally, { isUpdated, isAsked, state, isAvailable }: ActiveMember, by: 1 | -1): void {
  const group = isUpdated ? tally.updated : tally.outdated
  group.count += by
  if (state === 'PreparingDelete') group.preparing += by
  else if (isAsked) {
    group.asked += by
    if (!isAvailable) group.askedUnavailable += by
  } else if (!isAvailable) group.unavailable += by
}

/** The numbers after `gone` are deleted and `changed` are being updated in place. */
export function tallyAfter(tally: Tally, gone: Iterable<ActiveMember>, changed: Iterable<ActiveMember>): Tally {
  const after: Tally = { updated: { ...tally.updated }, outdated: { ...tally.outdated } }
  for (const active of gone) tallyIn(after, active, -1)
  for (const active of changed) {
    tallyIn(after, active, -1)
    tallyIn(after, { ...active, isUpdated: true, isAvailable: false }, 1)
  }
  return after
}

export const totalOf = ({ updated, outdated }: Tally): number => updated.count + outdated.count

/** Pods that are unavailable or will be soon. Requested deletions are counted when they happen. */
export const unavailableOf = ({ updated, outdated }: Tally): number =>
  updated.preparing + updated.unavailable + outdated.preparing + outdated.unavailable

/** Members by pod name. */
export type ActiveMembers = Map<string, ActiveMember>

/** Members that may be deleted if there are too many. Unavailable ones are deleted first. */
export interface Staying {
  available: ActiveMembers
  unavailable: ActiveMembers
  /** The number of both per node. Pods without a node are counted under ''. */
  onNodes: Map<string, number>
}

const noneStaying = (): Staying => ({ available: new Map(), unavailable: new Map(), onNodes: new Map() })

const inUpdateOrder = (a: ActiveMember, b: ActiveMember): boolean =>
  a.turn!.isPreparing === b.turn!.isPreparing ? compareTurns(a.turn!, b.turn!) < 0 : a.turn!.isPreparing

/**
 * The active pods of a set, as numbers and grouped by possible actions. Pods change one at a time, and a plan needs the
 * first few of each group, so its cost does not depend on the number of pods.
 */
export class Members {
  readonly #active: ActiveMembers = new Map()
  readonly counts: Counts = noCounts()
  readonly tally: Tally = noTally()
  /** The number of members by revision hash, and by ID. */
  readonly ofHash = new Map<string, number>()
  readonly ofId = new Map<string, number>()
  /** Members with a due action. */
  readonly due: ActiveMembers = new Map()
  /** Members prepared for deletion: those whose deletion nobody requests, and those that their hook has released. */
  readonly preparing = { unasked: new Map() as ActiveMembers, released: new Map() as ActiveMembers }
  /** Other members whose deletion is requested. */
  readonly asked = { ready: new Map() as ActiveMembers, unready: new Map() as ActiveMembers }
  /** All other members. */
  readonly staying = { updated: noneStaying(), outdated: noneStaying() }
  /** Outdated members that may be updated now, in update order. Those whose hook was asked come first. */
  readonly candidates = new KeyedHeap<string, ActiveMember>(inUpdateOrder)
  /** The reasons why members are not available, and why terminating pods still exist. */
  readonly causes: Causes = noCauses()
  /** The times at which an action or a status change is due without an event. */
  readonly wakes = new KeyedHeap<string, number>((a, b) => a < b)
  /** Pods to release, because the set no longer selects them. */
  readonly misfits = new Map<string, Pod>()

  get(name: string): ActiveMember | undefined {
    return this.#active.get(name)
  }

  get size(): number {
    return this.#active.size
  }

  all(): Iterable<ActiveMember> {
    return this.#active.values()
  }

  add(entry: Entry): void {
    const name = entry.pod.metadata.name!
    if (entry.role === 'misfit') return void this.misfits.set(name, entry.pod)
    if (entry.cause) this.#causesOf(entry).set(name, entry.cause)
    if (entry.wakesAtMs !== undefined) this.wakes.set(name, entry.wakesAtMs)
    if (entry.role !== 'member') return
    this.#active.set(name, entry)
    for (const sort of this.#sortsOf(entry)) sort.set(name, entry)
    this.#count(entry, 1)
  }

  remove(entry: Entry): void {
    const name = entry.pod.metadata.name!
    if (entry.role === 'misfit') return void this.misfits.delete(name)
    this.#causesOf(entry).delete(name)
    this.wakes.delete(name)
    if (entry.role !== 'member') return
    this.#active.delete(name)
    for (const sort of this.#sortsOf(entry)) sort.delete(name)
    this.#count(entry, -1)
  }

  #causesOf({ role }: Entry): KeyedHeap<string, NonNullable<ActiveMember['cause']>> {
    return role === 'going' ? this.causes.going : this.causes.staying
  }

  #sortsOf(
    active: ActiveMember,
  ): { set(name: string, active: ActiveMember): unknown; delete(name: string): unknown }[] {
    const { state, isAsked, isDue, isReady, isAvailable, isWithheld, turn } = active
    const sorts = []
    if (isDue) sorts.push(this.due)
    if (turn) sorts.push(this.candidates)
    if (state === 'PreparingDelete') {
      if (!isAsked) sorts.push(this.preparing.unasked)
      if (!isWithheld) sorts.push(this.preparing.released)
    } else if (isAsked) sorts.push(isReady ? this.asked.ready : this.asked.unready)
    else sorts.push(this.#stayingWith(active)[isAvailable ? 'available' : 'unavailable'])
    return sorts
  }

  #stayingWith({ isUpdated }: ActiveMember): Staying {
    return this.staying[isUpdated ? 'updated' : 'outdated']
  }

  #count(active: ActiveMember, by: 1 | -1): void {
    countIn(this.counts, active, by)
    tallyIn(this.tally, active, by)
    addTo(this.ofHash, active.hash, by)
    addTo(this.ofId, active.id, by)
    const { state, isAsked, pod } = active
    if (state !== 'PreparingDelete' && !isAsked) addTo(this.#stayingWith(active).onNodes, pod.spec?.nodeName ?? '', by)
  }
}

function addTo(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

/** The roster reader of a set's pods. It does not depend on the number of replicas. */
export function membersReader(basis: Basis): RosterReader<Pod, Entry, Members> {
  const {
    set: {
      metadata: { uid, name },
      spec,
    },
    updateHash,
  } = basis
  return {
    basis: JSON.stringify([uid, name, { ...spec, template: undefined, replicas: undefined }, updateHash]),
    read: (pod, nowMs) => entryOf(basis, pod, nowMs),
    empty: () => new Members(),
    add: (members, _, entry) => members.add(entry),
    remove: (members, _, entry) => members.remove(entry),
    sumOf,
    changesAtMs,
  }
}

function sumOf(members: Members): unknown {
  const { counts, tally, ofHash, ofId, due, preparing, asked, candidates, causes, wakes, misfits } = members
  const { updated, outdated } = members.staying
  return [
    counts,
    tally,
    [ofHash, ofId, updated.onNodes, outdated.onNodes].map((numbers) => Object.fromEntries(numbers)),
    [due, preparing.unasked, preparing.released, asked.ready, asked.unready].map(({ size }) => size),
    [misfits.size, candidates.size, wakes.size, wakes.peek()],
    [updated, outdated].map(({ available, unavailable }) => [available.size, unavailable.size]),
    [causes.staying, causes.going].map((heap) => [heap.size, heap.peek()]),
  ]
}
