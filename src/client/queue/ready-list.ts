/** A waiting key, linked into two lists: one per priority, and one of all keys by age. */
export class ReadyNode<K> {
  readonly key: K
  level: Level<K> | undefined = undefined
  before: ReadyNode<K> | undefined = undefined
  after: ReadyNode<K> | undefined = undefined
  older: ReadyNode<K> | undefined = undefined
  younger: ReadyNode<K> | undefined = undefined

  constructor(key: K) {
    this.key = key
  }
}

interface Level<K> {
  readonly priority: number
  first: ReadyNode<K> | undefined
  last: ReadyNode<K> | undefined
}

/**
 * Decides which key is next: the highest priority, first come first served within a priority. Every `oldestEvery`-th
 * turn takes the longest waiting key, whatever its priority.
 */
export class ReadyList<K> {
  /** Levels, highest priority first. Empty levels stay, as there are only a few. */
  readonly #levels: Level<K>[] = []
  readonly #oldestEvery: number
  #oldest: ReadyNode<K> | undefined
  #youngest: ReadyNode<K> | undefined
  #size = 0
  #turn = 0

  constructor(oldestEvery: number) {
    this.#oldestEvery = oldestEvery
  }

  get size(): number {
    return this.#size
  }

  /** Appends a node to the list of its priority. */
  push(node: ReadyNode<K>, priority: number): void {
    this.#enter(node, priority)
    node.older = this.#youngest
    if (this.#youngest) this.#youngest.younger = node
    else this.#oldest = node
    this.#youngest = node
    this.#size++
  }

  /** Moves a waiting node to the end of a higher priority; it keeps its age. A lower priority has no effect. */
  raise(node: ReadyNode<K>, priority: number): void {
    if (!node.level || priority <= node.level.priority) return
    this.#leave(node, node.level)
    this.#enter(node, priority)
  }

  /** Removes the next node. */
  shift(): ReadyNode<K> | undefined {
    if (this.#size === 0) return undefined
    this.#turn = (this.#turn + 1) % this.#oldestEvery
    const node = this.#turn === 0 ? this.#oldest! : this.#levels.find((l) => l.first !== undefined)!.first!
    this.#remove(node)
    return node
  }

  /** Removes all nodes, in unspecified order. */
  clear(): ReadyNode<K>[] {
    const nodes: ReadyNode<K>[] = []
    while (this.#oldest) {
      nodes.push(this.#oldest)
      this.#remove(this.#oldest)
    }
    return nodes
  }

  #remove(node: ReadyNode<K>): void {
    this.#leave(node, node.level!)
    if (node.older) node.older.younger = node.younger
    else this.#oldest = node.younger
    if (node.younger) node.younger.older = node.older
    else this.#youngest = node.older
    node.older = node.younger = undefined
    this.#size--
  }

  #enter(node: ReadyNode<K>, priority: number): void {
    const level = this.#levelOf(priority)
    node.level = level
    node.before = level.last
    if (level.last) level.last.after = node
    else level.first = node
    level.last = node
  }

  #leave(node: ReadyNode<K>, level: Level<K>): void {
    if (node.before) node.before.after = node.after
    else level.first = node.after
    if (node.after) node.after.before = node.before
    else level.last = node.before
    node.before = node.after = undefined
    node.level = undefined
  }

  #levelOf(priority: number): Level<K> {
    let at = 0
    while (at < this.#levels.length && this.#levels[at]!.priority > priority) at++
    const there = this.#levels[at]
    if (there?.priority === priority) return there
    const level: Level<K> = { priority, first: undefined, last: undefined }
    this.#levels.splice(at, 0, level)
    return level
  }
}
