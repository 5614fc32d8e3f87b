// The reference model of a store, for tests only.
import type { Write } from './store.ts'

export interface ModelVersion {
  key: string
  value: string
  revision: number
  createRevision: number
}

type ModelResult = { ok: true; revision: number } | { ok: false; current: ModelVersion | undefined }

interface ModelEvent {
  type: 'put' | 'delete'
  key: string
  revision: number
  previous: ModelVersion | undefined
}

/** Keeps every state and every event without compaction. */
export class StoreModel {
  revision = 0
  compactedRevision = 0
  /** states[r] contains all keys at revision r. */
  #states: Map<string, ModelVersion>[] = [new Map()]
  #events: (ModelEvent & Partial<ModelVersion>)[] = []
  #times: number[] = [0]

  /** Returns the expected result of a write. */
  write({ key, expected, value }: Write, timeMs: number): ModelResult {
    const previous = this.current(key)
    if ((previous?.revision ?? 0) !== expected || (!previous && value === undefined))
      return { ok: false, current: previous }
    const revision = ++this.revision
    const next = new Map(this.#states.at(-1))
    if (value === undefined) {
      next.delete(key)
      this.#events.push({ type: 'delete', key, revision, previous })
    } else {
      const version = { key, value: value.toString(), revision, createRevision: previous?.createRevision ?? revision }
      next.set(key, version)
      this.#events.push({ type: 'put', ...version, previous })
    }
    this.#states.push(next)
    this.#times.push(timeMs)
    return { ok: true, revision }
  }

  current(key: string): ModelVersion | undefined {
    return this.#states.at(-1)!.get(key)
  }

  range(prefix: string, revision: number, after = '', limit = 0): { items: ModelVersion[]; remaining: number } {
    const all = [...this.#states[revision]!.values()]
      .filter(({ key }) => key.startsWith(prefix) && (after === '' || compare(key, after) > 0))
      .sort((a, b) => compare(a.key, b.key))
    const items = limit > 0 ? all.slice(0, limit) : all
    return { items, remaining: all.length - items.length }
  }

  eventsAfter(revision: number, prefix: string): ModelEvent[] {
    return this.#events.filter((event) => event.revision > revision && event.key.startsWith(prefix))
  }

  revisionAt(timeMs: number): number | undefined {
    for (let revision = this.revision; revision > 0 && revision >= this.compactedRevision; revision--) {
      if (this.#times[revision]! <= timeMs) return revision
    }
    return undefined
  }
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
