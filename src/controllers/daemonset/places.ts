import { type Cause, byWeight } from '../../api/explain/index.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { type Basis, type NodePods, type Place, placeOf } from './place.ts'
import { hashOfPod } from './revision.ts'

/** The numbers of a set's status: nodes, each by the first of its pods. */
export interface Counts {
  desiredNumberScheduled: number
  currentNumberScheduled: number
  numberMisscheduled: number
  numberReady: number
  numberAvailable: number
  numberUnavailable: number
  updatedNumberScheduled: number
}

/** A place by what an update may do there. */
type Sort = 'replaceable' | 'broken' | 'replaced' | 'unwanted' | 'atOnce' | 'candidates'

/** The nodes of a set, sorted by what may be done about them, kept up as nodes and pods change. */
export class Places {
  readonly #places = new Map<string, Place>()
  readonly counts: Counts = {
    desiredNumberScheduled: 0, currentNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0, numberAvailable: 0,
    numberUnavailable: 0, updatedNumberScheduled: 0,
  }
  readonly needy = new Map<string, Place>()
  readonly misfits = new Map<string, Place>()
  /** Places whose pods are not to be there, and may stay or are about to go. */
  readonly misplaced = new Map<string, Place>()
  /**
   * Without surge: old pods that are the only one on their node and serve, and those that do not. With surge: old pods
   * beside a new one that is available; old ones alone where no pod is to run; nodes whose old pod does not serve, and
   * nodes whose old pod does.
   */
  readonly sorts: Readonly<Record<Sort, Map<string, Place>>> =
    { replaceable: new Map(), broken: new Map(), replaced: new Map(), unwanted: new Map(), atOnce: new Map(), candidates: new Map() }
  readonly causes = new KeyedHeap<string, Cause>((a, b) => byWeight(a, b) < 0)
  /** The nodes that are to run a pod, by when they were added, the newest first. */
  readonly #added = new KeyedHeap<string, string>((a, b) => a > b)
  /** How many pods say that they are of a revision. */
  readonly ofHash = new Map<string, number>()
  readonly tally = {
    /** Nodes that are to run a pod, on which an updated pod is ready, and available. */
    updatedReady: 0,
    updatedAvailable: 0,
    /** Nodes that are to run a pod, and whose first pod is missing or going. */
    notStaying: 0,
    /** The same, or an updated pod is not available. */
    notServed: 0,
    /** Places at which not exactly one available pod is to stay. */
    unavailable: 0,
    /** Places with several pods, or with a new pod beside the old one that is not available yet. */
    surging: 0,
    /** Places whose oldest pod is available. */
    available: 0,
  }

  get(node: string): Place | undefined {
    return this.#places.get(node)
  }

  all(): Iterable<Place> {
    return this.#places.values()
  }

  /** The creation of the node that was added last, of those that are to run a pod. */
  get newestAddedAt(): string | undefined {
    return this.#added.peek()
  }

  add(place: Place): void {
    this.#places.set(place.node, place)
    for (const sort of this.#sortsOf(place)) sort.set(place.node, place)
    if (place.cause) this.causes.set(place.node, place.cause)
    if (place.addedAt) this.#added.set(place.node, place.addedAt)
    this.#count(place, 1)
  }

  remove(place: Place): void {
    this.#places.delete(place.node)
    for (const sort of this.#sortsOf(place)) sort.delete(place.node)
    this.causes.delete(place.node)
    this.#added.delete(place.node)
    this.#count(place, -1)
  }

  /** Answers a question as if these places were there instead of those with the same nodes. */
  instead<T>(changed: readonly Place[], ask: () => T): T {
    const before = changed.map(({ node }) => this.get(node)!)
    const swap = (from: readonly Place[], to: readonly Place[]) => {
      from.forEach((place) => this.remove(place))
      to.forEach((place) => this.add(place))
    }
    swap(before, changed)
    try {
      return ask()
    } finally {
      swap(changed, before)
    }
  }

  #sortsOf(place: Place): Map<string, Place>[] {
    const { fit, pods, misfits, isNeedy, oldPod, newPod, isClear, isOldAvailable, isNewAvailable } = place
    const sorts: Map<string, Place>[] = []
    if (isNeedy) sorts.push(this.needy)
    if (misfits.length > 0) sorts.push(this.misfits)
    if ((fit === 'stay' || fit === 'leave') && pods.length > 0) sorts.push(this.misplaced)
    if (!isClear || !oldPod) return sorts
    const { replaceable, broken, replaced, unwanted, atOnce, candidates } = this.sorts
    if (newPod) return isNewAvailable ? [...sorts, replaced] : sorts
    return [...sorts, isOldAvailable ? replaceable : broken, fit === 'run' ? (isOldAvailable ? candidates : atOnce) : isOldAvailable ? unwanted : replaced]
  }

  #count(place: Place, by: 1 | -1): void {
    const { counts, tally } = this
    const { fit, pods, oldPod, newPod, isClear, isOldAvailable, isNewAvailable } = place
    for (const pod of pods) {
      const hash = hashOfPod(pod) ?? ''
      this.ofHash.set(hash, (this.ofHash.get(hash) ?? 0) + by)
    }
    const isThere = isClear && !(oldPod && newPod) && (isOldAvailable || isNewAvailable)
    if (!isThere) tally.unavailable += by
    if (!isClear || (oldPod && newPod && !isNewAvailable)) tally.surging += by
    if (isClear && (oldPod ? isOldAvailable : isNewAvailable)) tally.available += by
    if (fit === 'run') this.#countWanted(place, by)
    else if (fit !== 'gone' && pods.length > 0) counts.numberMisscheduled += by
  }

  #countWanted({ pods, isReady, isAvailable, isUpdated, isStaying, hasUpdatedReady, hasUpdatedAvailable }: Place, by: 1 | -1): void {
    const { counts, tally } = this
    counts.desiredNumberScheduled += by
    if (pods.length > 0) counts.currentNumberScheduled += by
    if (isReady) counts.numberReady += by
    if (isAvailable) counts.numberAvailable += by
    else counts.numberUnavailable += by
    if (isUpdated) counts.updatedNumberScheduled += by
    if (hasUpdatedReady) tally.updatedReady += by
    if (hasUpdatedAvailable) tally.updatedAvailable += by
    if (!isStaying) tally.notStaying += by
    if (!isStaying || (isUpdated && !isAvailable)) tally.notServed += by
  }
}

/** The reader of a set's nodes. */
export function placesReader(basis: Basis, name: string): RosterReader<NodePods, Place, Places> {
  return {
    basis: name,
    read: (there, nowMs) => placeOf(basis, there, nowMs),
    empty: () => new Places(),
    add: (places, _, place) => places.add(place),
    remove: (places, _, place) => places.remove(place),
    sumOf: ({ counts, tally, causes, newestAddedAt, needy, misfits, misplaced, sorts }) =>
      [counts, tally, causes.size, causes.peek(), newestAddedAt, [needy, misfits, misplaced, ...Object.values(sorts)].map(({ size }) => size)],
    changesAtMs: ({ changesAtMs }) => changesAtMs,
  }
}
