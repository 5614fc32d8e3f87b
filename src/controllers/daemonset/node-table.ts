import { type Cause, byWeight } from '../../api/explain/index.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import type { RosterReader } from '../kit/index.ts'
import { type Basis, type NodePods, type NodeState, nodeStateOf } from './node-state.ts'
import { hashOfPod } from './revision.ts'

/** The numbers of a set's status. Each node counts by the first of its pods. */
export interface Counts {
  desiredNumberScheduled: number
  currentNumberScheduled: number
  numberMisscheduled: number
  numberReady: number
  numberAvailable: number
  numberUnavailable: number
  updatedNumberScheduled: number
}

/** A group of nodes by the possible update action. */
type Sort = 'replaceable' | 'broken' | 'replaced' | 'unwanted' | 'atOnce' | 'candidates'

/** The nodes of a set, grouped by possible actions and updated as nodes and pods change. */
export class NodeTable {
  readonly #table = new Map<string, NodeState>()
  readonly counts: Counts = {
    desiredNumberScheduled: 0,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    numberReady: 0,
    numberAvailable: 0,
    numberUnavailable: 0,
    updatedNumberScheduled: 0,
  }
  readonly needy = new Map<string, NodeState>()
  readonly misfits = new Map<string, NodeState>()
  /** Nodes with misplaced pods, which may stay or have to leave. */
  readonly misplaced = new Map<string, NodeState>()
  /**
   * Without surge: nodes whose only pod is old and available, and old and not available. With surge: an old pod beside
   * an available new one; an old pod on a node that needs none; a node whose old pod is not available, and one whose
   * old pod is.
   */
  readonly sorts: Readonly<Record<Sort, Map<string, NodeState>>> = {
    replaceable: new Map(),
    broken: new Map(),
    replaced: new Map(),
    unwanted: new Map(),
    atOnce: new Map(),
    candidates: new Map(),
  }
  readonly causes = new KeyedHeap<string, Cause>((a, b) => byWeight(a, b) < 0)
  /** The eligible nodes by creation time, newest first. */
  readonly #added = new KeyedHeap<string, string>((a, b) => a > b)
  /** The number of pods per revision hash. */
  readonly ofHash = new Map<string, number>()
  readonly tally = {
    /** Eligible nodes with an updated pod that is ready, and available. */
    updatedReady: 0,
    updatedAvailable: 0,
    /** Eligible nodes whose first pod is missing or terminating. */
    notStaying: 0,
    /** The same, or nodes with an updated pod that is not available. */
    notServed: 0,
    /** Nodes without exactly one available pod that is not terminating. */
    unavailable: 0,
    /** Nodes with several pods, or with a new pod that is not available beside the old one. */
    surging: 0,
    /** Nodes whose oldest pod is available. */
    available: 0,
  }

  get(node: string): NodeState | undefined {
    return this.#table.get(node)
  }

  all(): Iterable<NodeState> {
    return this.#table.values()
  }

  /** The creation time of the newest eligible node. */
  get newestAddedAt(): string | undefined {
    return this.#added.peek()
  }

  add(state: NodeState): void {
    this.#table.set(state.node, state)
    for (const sort of this.#sortsOf(state)) sort.set(state.node, state)
    if (state.cause) this.causes.set(state.node, state.cause)
    if (state.addedAt) this.#added.set(state.node, state.addedAt)
    this.#count(state, 1)
  }

  remove(state: NodeState): void {
    this.#table.delete(state.node)
    for (const sort of this.#sortsOf(state)) sort.delete(state.node)
    this.causes.delete(state.node)
    this.#added.delete(state.node)
    this.#count(state, -1)
  }

  /** Evaluates a function as if these states replaced those of the same nodes. */
  instead<T>(changed: readonly NodeState[], ask: () => T): T {
    const before = changed.map(({ node }) => this.get(node)!)
    const swap = (from: readonly NodeState[], to: readonly NodeState[]) => {
      from.forEach((state) => this.remove(state))
      to.forEach((state) => this.add(state))
    }
    swap(before, changed)
    try {
      return ask()
    } finally {
      swap(changed, before)
    }
  }

  #sortsOf(state: NodeState): Map<string, NodeState>[] {
    const { fit, pods, misfits, isNeedy, oldPod, newPod, isClear, isOldAvailable, isNewAvailable } = state
    const sorts: Map<string, NodeState>[] = []
    if (isNeedy) sorts.push(this.needy)
    if (misfits.length > 0) sorts.push(this.misfits)
    if ((fit === 'stay' || fit === 'leave') && pods.length > 0) sorts.push(this.misplaced)
    if (!isClear || !oldPod) return sorts
    const { replaceable, broken, replaced, unwanted, atOnce, candidates } = this.sorts
    if (newPod) return isNewAvailable ? [...sorts, replaced] : sorts
    return [
      ...sorts,
      isOldAvailable ? replaceable : broken,
      fit === 'run' ? (isOldAvailable ? candidates : atOnce) : isOldAvailable ? unwanted : replaced,
    ]
  }

  #count(state: NodeState, by: 1 | -1): void {
    const { counts, tally } = this
    const { fit, pods, oldPod, newPod, isClear, isOldAvailable, isNewAvailable } = state
    for (const pod of pods) {
      const hash = hashOfPod(pod) ?? ''
      this.ofHash.set(hash, (this.ofHash.get(hash) ?? 0) + by)
    }
    const isThere = isClear && !(oldPod && newPod) && (isOldAvailable || isNewAvailable)
    if (!isThere) tally.unavailable += by
    if (!isClear || (oldPod && newPod && !isNewAvailable)) tally.surging += by
    if (isClear && (oldPod ? isOldAvailable : isNewAvailable)) tally.available += by
    if (fit === 'run') this.#countWanted(state, by)
    else if (fit !== 'gone' && pods.length > 0) counts.numberMisscheduled += by
  }

  #countWanted(
    { pods, isReady, isAvailable, isUpdated, isStaying, hasUpdatedReady, hasUpdatedAvailable }: NodeState,
    by: 1 | -1,
  ): void {
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

/** The roster reader of a set's nodes. */
export function nodeTableReader(basis: Basis, name: string): RosterReader<NodePods, NodeState, NodeTable> {
  return {
    basis: name,
    read: (there, nowMs) => nodeStateOf(basis, there, nowMs),
    empty: () => new NodeTable(),
    add: (table, _, state) => table.add(state),
    remove: (table, _, state) => table.remove(state),
    sumOf: ({ counts, tally, causes, newestAddedAt, needy, misfits, misplaced, sorts }) => [
      counts,
      tally,
      causes.size,
      causes.peek(),
      newestAddedAt,
      [needy, misfits, misplaced, ...Object.values(sorts)].map(({ size }) => size),
    ],
    changesAtMs: ({ changesAtMs }) => changesAtMs,
  }
}
