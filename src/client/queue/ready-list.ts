/** A key that waits for a worker, in two lists at once: that of its priority, and that of all by age. */
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
 * Which key is next: the highest priority first, first come first served within one, except that every `oldestEvery`-th
 * turn goes to the key that has waited longest, whatever its priority.
 */
export class ReadyList<K> {
  /** Highest priority first. Emptied levels stay: there are only ever a few. */
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

  /** Puts a node at the end of its priority's line. */
  push(node: ReadyNode<K>, priority: number): void {
    this.#enter(node, priority)
    node.older = this.#youngest
    if (this.#youngest) this.#youngest.younger = node
    else this.#oldest = node
    this.#youngest = node
    this.#size++
  }

  /** Moves a waiting node to the end of a higher priority's line; it keeps its age. A lower priority changes nothing. */
  raise(node: ReadyNode<K>, priority: number): void {
    if (!node.level || priority <= node.level.priority) return
    this.#leave(node, node.level)
    this.#enter(node, priority)
  }

  /** Takes the node whose turn it is. */
  shift(): ReadyNode<K> | undefined {
    if (this.#size === 0) return undefined
    this.#turn = (this.#turn + 1) % this.#oldestEvery
    const node = this.#turn === 0 ? this.#oldest! : this.#levels.find((l) => l.first !== undefined)!.first!
    this.#remove(node)
    return node
  }

  /** Takes them all, and says nothing of the order. */
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
