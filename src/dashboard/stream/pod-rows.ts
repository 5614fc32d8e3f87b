import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { keyOf } from '../../client/index.ts'
import { ownPods } from '../../insight/workload/own-pods.ts'
import type { Reader } from '../../insight/workload/reader.ts'
import { type Board, rowKey, workloadNamed } from '../board/board.ts'
import { type CellAge, podValues } from '../board/values.ts'
import type { Table } from './table.ts'

export interface PodRowsOptions {
  board: Board
  reader: Reader
  clock: Clock
  logger: Logger
  /** The key of the workload's row: `Deployment default/web`. */
  root: string
  table: Table
  /** Called when `fill` would change the table. */
  touch(): void
}

/** Delay before the revisions are read again after an error. */
const retryMs = 2000

/** Keeps the pods of one workload in a table. */
export class PodRows {
  readonly #options: PodRowsOptions
  readonly #workload: NonNullable<ReturnType<typeof workloadNamed>>
  /** Pods that may have changed since the last update. A starting pod changes many times in short succession. */
  readonly #changed = new Set<string>()
  /** Times at which pods change their state without any event. */
  readonly #dueMs = new Map<string, number>()
  readonly #unlisten: () => void
  #ageOf: (pod: Pod) => CellAge = () => 0
  /** Number of reads of the revisions. Only the last one counts. */
  #reads = 0
  #cancelDue = () => {}
  #cancelRetry = () => {}
  #isClosed = false

  constructor(options: PodRowsOptions) {
    this.#options = options
    const { board, root, touch } = options
    this.#workload = workloadNamed(root)!
    this.#unlisten = board.listen({
      pod: (key, pod) => {
        if (key !== root) return
        this.#changed.add(keyOf(pod))
        touch()
      },
      revisions: (key) => void (key === root && this.readAll()),
    })
  }

  /** Determines again which pods have the newest revision. */
  async readAll(): Promise<void> {
    const { board, reader, clock, logger, root, table, touch } = this.#options
    const { kind, namespace, name } = this.#workload
    const read = ++this.#reads
    this.#cancelRetry()
    const object = board.caches.workload(kind.kind, `${namespace}/${name}`)
    try {
      const own = object && (await ownPods(reader, board.caches.sourceOf(kind, object), kind, object))
      if (read !== this.#reads || this.#isClosed) return
      const isUpdated = own?.isUpdated
      this.#ageOf = (pod) => (isUpdated && !isUpdated(pod) ? 1 : 0)
      for (const key of table.keys()) this.#changed.add(key)
      for (const pod of own?.pods ?? []) this.#changed.add(keyOf(pod))
      touch()
    } catch (error) {
      if (read !== this.#reads || this.#isClosed) return
      logger.warn('the revisions of a workload cannot be read', { workload: root, error })
      this.#cancelRetry = clock.after(retryMs, () => void this.readAll())
    }
  }

  /** Updates the rows of changed pods, and of pods whose state has changed with time. */
  fill(): void {
    const { clock, touch } = this.#options
    const nowMs = clock.now()
    for (const [key, atMs] of this.#dueMs) if (atMs <= nowMs) this.#changed.add(key)
    if (this.#changed.size > 0) this.#update(nowMs)
    this.#cancelDue()
    let soonestMs = Infinity
    for (const atMs of this.#dueMs.values()) if (atMs < soonestMs) soonestMs = atMs
    if (soonestMs < Infinity) this.#cancelDue = clock.after(soonestMs - nowMs, touch)
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#cancelDue()
    this.#cancelRetry()
  }

  #update(nowMs: number): void {
    const { board, root, table } = this.#options
    const { kind, namespace, name } = this.#workload
    const { spec } = board.caches.workload(kind.kind, `${namespace}/${name}`) ?? {}
    const around = {
      nowMs,
      minReadySeconds: spec?.minReadySeconds ?? 0,
      runsToCompletion: kind.kind === 'Job' || kind.kind === 'CronJob',
      lifecycle: spec?.lifecycle,
    }
    for (const key of this.#changed) {
      this.#dueMs.delete(key)
      const pod = board.caches.pods.get(key)
      const owner = pod && board.caches.rootOf(pod)
      if (!owner || rowKey(owner.kind, owner.key) !== root) {
        table.delete(key)
        continue
      }
      const { values, changesAtMs } = podValues(pod, this.#ageOf(pod), around)
      table.set(key, values)
      if (changesAtMs !== undefined) this.#dueMs.set(key, changesAtMs)
    }
    this.#changed.clear()
  }
}
