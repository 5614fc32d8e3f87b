import type { Pod } from '../../api/generated/types.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { type Causes, noCauses } from '../kit/workload/index.ts'
import { type Counts, countIn, noCounts } from './counts.ts'
import { type Basis, type Entry, type Seat, changesAtMs, entryOf } from './entry.ts'
import { type Tally, noTally, tallyIn } from './tally.ts'
import { compareTurns } from './update-order.ts'

/** Members by the name of their pod. */
export type Seats = Map<string, Seat>

/** Members of which any may go when there are too many. Those that serve nobody go first. */
export interface Staying {
  available: Seats
  unavailable: Seats
  /** How many of both there are on each node; those without a node are under ''. */
  onNodes: Map<string, number>
}

const noneStaying = (): Staying => ({ available: new Map(), unavailable: new Map(), onNodes: new Map() })

const inUpdateOrder = (a: Seat, b: Seat): boolean =>
  a.turn!.isPreparing === b.turn!.isPreparing ? compareTurns(a.turn!, b.turn!) < 0 : a.turn!.isPreparing

/**
 * The pods of a set that neither have ended nor are going, in numbers and sorted by what may be done about them. They
 * come and go one at a time, and a plan asks for the first few of each sort: its cost does not depend on how many there
 * are.
 */
export class Members {
  readonly #seats: Seats = new Map()
  readonly counts: Counts = noCounts()
  readonly tally: Tally = noTally()
  /** How many there are of each revision, by its hash, and with each id. */
  readonly ofHash = new Map<string, number>()
  readonly ofId = new Map<string, number>()
  /** Those for which something is due by itself. */
  readonly due: Seats = new Map()
  /** Those that are prepared for their deletion: which nobody asks to go, and whose hook holds them no more. */
  readonly preparing = { unasked: new Map() as Seats, released: new Map() as Seats }
  /** Others that are asked to go. */
  readonly asked = { ready: new Map() as Seats, unready: new Map() as Seats }
  /** The rest. */
  readonly staying = { updated: noneStaying(), outdated: noneStaying() }
  /** Outdated ones that may be updated now, in the order of updates. Those whose hook was asked come first. */
  readonly candidates = new KeyedHeap<string, Seat>(inUpdateOrder)
  /** Why members are not available, and why pods that are going are still there. */
  readonly causes: Causes = noCauses()
  /** The times at which there is something to do or to say without any event. */
  readonly wakes = new KeyedHeap<string, number>((a, b) => a < b)
  /** Pods that are to be let go, since the set does not select them any more. */
  readonly misfits = new Map<string, Pod>()

  get(name: string): Seat | undefined {
    return this.#seats.get(name)
  }

  get size(): number {
    return this.#seats.size
  }

  all(): Iterable<Seat> {
    return this.#seats.values()
  }

  add(entry: Entry): void {
    const name = entry.pod.metadata.name!
    if (entry.role === 'misfit') return void this.misfits.set(name, entry.pod)
    if (entry.cause) this.#causesOf(entry).set(name, entry.cause)
    if (entry.wakesAtMs !== undefined) this.wakes.set(name, entry.wakesAtMs)
    if (entry.role !== 'member') return
    this.#seats.set(name, entry)
    for (const sort of this.#sortsOf(entry)) sort.set(name, entry)
    this.#count(entry, 1)
  }

  remove(entry: Entry): void {
    const name = entry.pod.metadata.name!
    if (entry.role === 'misfit') return void this.misfits.delete(name)
    this.#causesOf(entry).delete(name)
    this.wakes.delete(name)
    if (entry.role !== 'member') return
    this.#seats.delete(name)
    for (const sort of this.#sortsOf(entry)) sort.delete(name)
    this.#count(entry, -1)
  }

  #causesOf({ role }: Entry): KeyedHeap<string, NonNullable<Seat['cause']>> {
    return role === 'going' ? this.causes.going : this.causes.staying
  }

  #sortsOf(seat: Seat): { set(name: string, seat: Seat): unknown; delete(name: string): unknown }[] {
    const { state, isAsked, isDue, isReady, isAvailable, isWithheld, turn } = seat
    const sorts = []
    if (isDue) sorts.push(this.due)
    if (turn) sorts.push(this.candidates)
    if (state === 'PreparingDelete') {
      if (!isAsked) sorts.push(this.preparing.unasked)
      if (!isWithheld) sorts.push(this.preparing.released)
    } else if (isAsked) sorts.push(isReady ? this.asked.ready : this.asked.unready)
    else sorts.push(this.#stayingWith(seat)[isAvailable ? 'available' : 'unavailable'])
    return sorts
  }

  #stayingWith({ isUpdated }: Seat): Staying {
    return this.staying[isUpdated ? 'updated' : 'outdated']
  }

  #count(seat: Seat, by: 1 | -1): void {
    countIn(this.counts, seat, by)
    tallyIn(this.tally, seat, by)
    addTo(this.ofHash, seat.hash, by)
    addTo(this.ofId, seat.id, by)
    const { state, isAsked, pod } = seat
    if (state !== 'PreparingDelete' && !isAsked) addTo(this.#stayingWith(seat).onNodes, pod.spec?.nodeName ?? '', by)
  }
}

function addTo(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

/** The reader of a set's pods. How many there are to be makes no difference to any of them. */
export function membersReader(basis: Basis): RosterReader<Pod, Entry, Members> {
  const { set: { metadata: { uid, name }, spec }, updateHash } = basis
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
    counts, tally,
    [ofHash, ofId, updated.onNodes, outdated.onNodes].map((numbers) => Object.fromEntries(numbers)),
    [due, preparing.unasked, preparing.released, asked.ready, asked.unready].map(({ size }) => size),
    [misfits.size, candidates.size, wakes.size, wakes.peek()],
    [updated, outdated].map(({ available, unavailable }) => [available.size, unavailable.size]),
    [causes.staying, causes.going].map((heap) => [heap.size, heap.peek()]),
  ]
}
