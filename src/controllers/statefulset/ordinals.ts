import { type Cause, byWeight } from '../../api/explain/index.ts'
import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { assert } from '../../base/assert.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { startOrdinal } from './identity.ts'
import { type Basis, type Member, memberOf } from './member.ts'

/** The numbers of a set's status. Terminating pods are replicas, but of no revision. */
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
 * The pods of a set by ordinal, and grouped by possible actions. Pods change one at a time, and a plan needs only the
 * first few of each group. Otherwise each of 10,000 plans for 10,000 ordered pods would sort all of them.
 */
export class Ordinals {
  readonly #start: number
  readonly #end: number
  readonly #revisions: { current: string; update: string }
  readonly #members = new Map<number, Member>()
  /** Ordinals without a pod that are lower than `#fresh`. Most ordinals from there on have none. */
  readonly #holes = new KeyedHeap<number, number>((a, b) => a < b)
  #fresh: number

  readonly counts: Counts = {
    replicas: 0,
    readyReplicas: 0,
    availableReplicas: 0,
    currentReplicas: 0,
    updatedReplicas: 0,
  }
  /** Existing replicas that are not available, the lowest first. */
  readonly unavailable = lowestFirst()
  /** Replicas, and condemned pods, that need an action regardless of the others. */
  readonly needy = { replica: new Map<number, Member>(), condemned: new Map<number, Member>() }
  /** Outdated pods from the partition on: ready ones, highest first, and others. */
  readonly outdatedReady = highestFirst()
  readonly outdatedUnready = new Map<number, Member>()
  /** Pods outside of the desired range, highest first. */
  readonly condemned = highestFirst()
  readonly condemnedStaying = new Map<number, Member>()
  /** Condemned pods that are neither available nor finished, lowest first. */
  readonly condemnedUnavailable = lowestFirst()
  /** Pods to release, because the set no longer selects them. */
  readonly misfits = new Map<number, Pod>()
  /** The number of pods by revision name. */
  readonly ofRevision = new Map<string, number>()
  /** The reasons why pods are not available, the most severe first. */
  readonly causes = new KeyedHeap<number, Cause>((a, b) => byWeight(a, b) < 0)
  readonly tally = {
    /** Replicas that exist. */
    filled: 0,
    /** Updated pods that are not terminating and are ready, and available. */
    updatedReady: 0,
    updatedAvailable: 0,
    /** Updated and available replicas from the partition on. */
    reached: 0,
    /** Replicas of other revisions than the update revision, including terminating ones. */
    otherRevision: 0,
    /** Outdated pods that are not terminating, and other pods that are not available. */
    outdated: 0,
    unfit: 0,
    /** Replicas from the partition on that are terminating, finished, or updated and not yet available. */
    underWay: 0,
  }

  constructor(start: number, wanted: number, revisions: { current: string; update: string }) {
    this.#start = start
    this.#end = start + wanted
    this.#fresh = start
    this.#revisions = revisions
  }

  /** The desired number of replicas. */
  get wanted(): number {
    return this.#end - this.#start
  }

  /** The number of replicas without a pod. */
  get missing(): number {
    return this.wanted - this.tally.filled
  }

  get(ordinal: number): Member | undefined {
    return this.#members.get(ordinal)
  }

  all(): Iterable<Member> {
    return this.#members.values()
  }

  /** The lowest ordinal without a pod. */
  get firstMissing(): number | undefined {
    return this.#holes.peek() ?? (this.#fresh < this.#end ? this.#fresh : undefined)
  }

  /** All ordinals without a pod, the lowest first. */
  *missingOrdinals(): Generator<number> {
    yield* this.#holes.first(this.#holes.size)
    for (let ordinal = this.#fresh; ordinal < this.#end; ordinal++) if (!this.#members.has(ordinal)) yield ordinal
  }

  /** Reports whether an ordinal of at least `first` has no pod. The cost depends on the pods, not on the replicas. */
  isMissingFrom(first: number): boolean {
    for (const hole of this.#holes.inOrder()) if (hole >= first) return true
    for (let ordinal = Math.max(this.#fresh, first); ordinal < this.#end; ordinal++) {
      if (!this.#members.has(ordinal)) return true
    }
    return false
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
    assert(() => this.#members.get(ordinal) === member, 'only a member that was added is removed')
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
    const { role, revision, isReady, isAvailable, isUnavailable, isTerminating, isOutdated, isUpdatable, isFinished } =
      member
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

export function countRevision(
  counts: Counts,
  { current, update }: { current: string; update: string },
  revision: string,
  by: 1 | -1,
): void {
  if (revision === current) counts.currentReplicas += by
  if (revision === update) counts.updatedReplicas += by
}

/** The names of a set's two revisions. */
type Revisions = Readonly<Record<'current' | 'update', { name: string }>>

/** The ordinals of a set without any pod. */
export const emptyOrdinals = (set: StatefulSet, { current, update }: Revisions): Ordinals =>
  new Ordinals(startOrdinal(set), set.spec.replicas ?? 1, { current: current.name, update: update.name })

/** The roster reader of a set's pods. */
export function ordinalsReader(basis: Basis, revisions: Revisions): RosterReader<Pod, Member, Ordinals> {
  const {
    spec,
    metadata: { uid, annotations },
  } = basis.set
  return {
    basis: JSON.stringify([
      uid,
      { ...spec, template: undefined },
      annotations,
      revisions.current.name,
      revisions.update.name,
    ]),
    read: (pod, nowMs) => memberOf(basis, pod, nowMs),
    empty: () => emptyOrdinals(basis.set, revisions),
    add: (ordinals, _, member) => ordinals.add(member),
    remove: (ordinals, _, member) => ordinals.remove(member),
    sumOf: (ordinals) => [
      ordinals.counts,
      ordinals.tally,
      ordinals.firstMissing,
      ordinals.causes.size,
      ordinals.causes.peek(),
      [ordinals.unavailable, ordinals.outdatedReady, ordinals.condemned, ordinals.condemnedUnavailable].map((heap) => [
        heap.size,
        heap.peek()?.ordinal,
      ]),
      [
        ordinals.needy.replica,
        ordinals.needy.condemned,
        ordinals.outdatedUnready,
        ordinals.condemnedStaying,
        ordinals.misfits,
      ].map(({ size }) => size),
    ],
    changesAtMs: (member) => member.changesAtMs,
  }
}
