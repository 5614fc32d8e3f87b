import type { Cause } from '../../api/explain/index.ts'
import { byWeight } from '../../api/explain/index.ts'
import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { startOrdinal } from './identity.ts'
import { type Basis, type Member, memberOf } from './member.ts'
import type { Revisions } from './revision.ts'

/** The numbers of a set's status. Pods that are going are replicas, but of no revision. */
export interface Counts {
  replicas: number
  readyReplicas: number
  availableReplicas: number
  currentReplicas: number
  updatedReplicas: number
}

const lowestFirst = () => new KeyedHeap<number, Member>((a, b) => a.ordinal < b.ordinal)
const highestFirst = () => new KeyedHeap<number, Member>((a, b) => a.ordinal > b.ordinal)

/**
 * The pods of a set by ordinal, and sorted by what may be done about them. Pods come and go one at a time, and a plan
 * asks only for the first few of each sort: with 10,000 pods in order, each of 10,000 plans would otherwise sort all.
 */
export class Places {
  readonly #start: number
  readonly #end: number
  readonly #revisions: { current: string; update: string }
  readonly #members = new Map<number, Member>()
  /** Ordinals without a pod, among those below `#fresh`. From there on most have none. */
  readonly #holes = new KeyedHeap<number, number>((a, b) => a < b)
  #fresh: number

  readonly counts: Counts = { replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 }
  /** Replicas that are there and not available, the lowest first. */
  readonly unavailable = lowestFirst()
  /** Replicas, and condemned pods, for which there is something to do whatever the others do. */
  readonly needy = { replica: new Map<number, Member>(), condemned: new Map<number, Member>() }
  /** Outdated pods from the partition on: those that are ready, the highest first, and the others. */
  readonly outdatedReady = highestFirst()
  readonly outdatedUnready = new Map<number, Member>()
  /** Pods outside of the range, the highest first. */
  readonly condemned = highestFirst()
  readonly condemnedStaying = new Map<number, Member>()
  /** Condemned pods that are not available and have not ended, the lowest first. */
  readonly condemnedUnavailable = lowestFirst()
  /** Pods that are to be let go, since the set does not select them any more. */
  readonly misfits = new Map<number, Pod>()
  /** How many pods say that they are of a revision, by its name. */
  readonly ofRevision = new Map<string, number>()
  /** Why pods are not available, the worst first. */
  readonly causes = new KeyedHeap<number, Cause>((a, b) => byWeight(a, b) < 0)
  readonly tally = {
    /** Replicas that are there. */
    filled: 0,
    /** Updated pods that are to stay and are ready, and available. */
    updatedReady: 0,
    updatedAvailable: 0,
    /** Replicas from the partition on that are updated and available. */
    reached: 0,
    /** Replicas of another revision than the new one, those that are going included. */
    otherRevision: 0,
    /** Pods that are to stay and are outdated, and other pods that are not available. */
    outdated: 0,
    unfit: 0,
    /** Replicas from the partition on that are going, or new and not available yet, or have ended. */
    underWay: 0,
  }

  constructor(start: number, wanted: number, revisions: { current: string; update: string }) {
    this.#start = start
    this.#end = start + wanted
    this.#fresh = start
    this.#revisions = revisions
  }

  /** How many replicas there are to be. */
  get wanted(): number {
    return this.#end - this.#start
  }

  /** How many replicas have no pod. */
  get missing(): number {
    return this.wanted - this.tally.filled
  }

  get(ordinal: number): Member | undefined {
    return this.#members.get(ordinal)
  }

  all(): Iterable<Member> {
    return this.#members.values()
  }

  /** The lowest ordinal that has no pod. */
  get firstMissing(): number | undefined {
    return this.#holes.peek() ?? (this.#fresh < this.#end ? this.#fresh : undefined)
  }

  /** All ordinals that have no pod, the lowest first. */
  *missingOrdinals(): Generator<number> {
    yield* this.#holes.first(this.#holes.size)
    for (let ordinal = this.#fresh; ordinal < this.#end; ordinal++) if (!this.#members.has(ordinal)) yield ordinal
  }

  add(member: Member): void {
    if (member.role === 'misfit') return void this.misfits.set(member.ordinal, member.pod)
    this.#members.set(member.ordinal, member)
    this.#holes.delete(member.ordinal)
    while (this.#fresh < this.#end && this.#members.has(this.#fresh)) this.#fresh++
    for (const sort of this.#sortsOf(member)) sort.set(member.ordinal, member)
    if (member.cause) this.causes.set(member.ordinal, member.cause)
    this.#count(member, 1)
  }

  remove(member: Member): void {
    const { ordinal, role } = member
    if (role === 'misfit') return void this.misfits.delete(ordinal)
    this.#members.delete(ordinal)
    if (role === 'replica' && ordinal < this.#fresh) this.#holes.set(ordinal, ordinal)
    for (const sort of this.#sortsOf(member)) sort.delete(ordinal)
    this.causes.delete(ordinal)
    this.#count(member, -1)
  }

  #sortsOf(member: Member): { set(ordinal: number, member: Member): unknown; delete(ordinal: number): unknown }[] {
    const { role, isUnavailable, isNeedy, isReady, isOutdated, isUpdatable, isTerminating, isFinished } = member
    const sorts = []
    if (role !== 'misfit' && isNeedy) sorts.push(this.needy[role])
    if (role === 'replica') {
      if (isUnavailable) sorts.push(this.unavailable)
      if (isOutdated && isUpdatable) sorts.push(isReady ? this.outdatedReady : this.outdatedUnready)
    } else {
      sorts.push(this.condemned)
      if (!isTerminating) sorts.push(this.condemnedStaying)
      if (isUnavailable && !isFinished) sorts.push(this.condemnedUnavailable)
    }
    return sorts
  }

  #count(member: Member, by: 1 | -1): void {
    const { counts, tally } = this
    const { role, revision, isReady, isAvailable, isUnavailable, isTerminating, isOutdated, isUpdatable, isFinished } = member
    const isUpdated = revision === this.#revisions.update
    this.ofRevision.set(revision, (this.ofRevision.get(revision) ?? 0) + by)
    counts.replicas += by
    if (isReady) counts.readyReplicas += by
    if (isAvailable) counts.availableReplicas += by
    if (!isTerminating) countRevision(counts, this.#revisions, revision, by)
    if (!isTerminating && isUpdated && isReady) tally.updatedReady += by
    if (!isTerminating && isUpdated && isAvailable) tally.updatedAvailable += by
    if (isOutdated) tally.outdated += by
    else if (isUnavailable) tally.unfit += by
    if (role !== 'replica') return
    tally.filled += by
    if (!isUpdated) tally.otherRevision += by
    if (isUpdatable && isUpdated && !isUnavailable) tally.reached += by
    if (isUpdatable && isUnavailable && (!isOutdated || isFinished)) tally.underWay += by
  }
}

export function countRevision(counts: Counts, { current, update }: { current: string; update: string }, revision: string, by: 1 | -1): void {
  if (revision === current) counts.currentReplicas += by
  if (revision === update) counts.updatedReplicas += by
}

/** Places without any pod yet. */
export const emptyPlaces = (set: StatefulSet, { current, update }: Revisions): Places =>
  new Places(startOrdinal(set), set.spec.replicas ?? 1, { current: current.name, update: update.name })

/** The reader of a set's pods. */
export function placesReader(basis: Basis, revisions: Revisions): RosterReader<Pod, Member, Places> {
  const { spec, metadata: { uid, annotations } } = basis.set
  return {
    basis: JSON.stringify([uid, { ...spec, template: undefined }, annotations, revisions.current.name, revisions.update.name]),
    read: (pod, nowMs) => memberOf(basis, pod, nowMs),
    empty: () => emptyPlaces(basis.set, revisions),
    add: (places, _, member) => places.add(member),
    remove: (places, _, member) => places.remove(member),
    sumOf: (places) => [
      places.counts, places.tally, places.firstMissing, places.causes.size, places.causes.peek(),
      [places.unavailable, places.outdatedReady, places.condemned, places.condemnedUnavailable].map((heap) => [heap.size, heap.peek()?.ordinal]),
      [places.needy.replica, places.needy.condemned, places.outdatedUnready, places.condemnedStaying, places.misfits].map(({ size }) => size),
    ],
    changesAtMs: (member) => member.changesAtMs,
  }
}
