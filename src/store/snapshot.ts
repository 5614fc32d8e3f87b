import type { Store, Versioned } from './store.ts'

/** A stored value. It is encrypted if a store that encrypts wraps this one. */
export type SnapshotItem = Pick<Versioned, 'key' | 'value' | 'mark'>

/** The current items of a store at one revision. */
export interface Snapshot {
  readonly revision: number
  /** All items. Can be iterated once; throws CompactedError if the revision is compacted during the iteration. */
  readonly pages: AsyncIterable<readonly SnapshotItem[]>
}

/** Encoding a page of this size takes a few milliseconds. */
const itemsAtATime = 200

/** Takes a snapshot of a store in use. Later writes are not part of it. */
export async function snapshotOf(store: Store): Promise<Snapshot> {
  const revision = await (store.currentRevision?.() ?? store.revision)
  await store.waitUntilSeen?.(revision)
  return { revision, pages: pagesAt(store, revision) }
}

async function* pagesAt(store: Store, revision: number): AsyncIterable<readonly SnapshotItem[]> {
  if (store.pages) {
    // A store with pages of its own chooses their size: each page of a shared store may cost time for all later keys.
    for await (const { items } of store.pages('', revision))
      for (let from = 0; from < items.length; from += itemsAtATime) yield items.slice(from, from + itemsAtATime)
    return
  }
  let after: string | undefined
  for (;;) {
    const { items } = await store.range('', {
      revision,
      limit: itemsAtATime,
      ...(after === undefined ? {} : { after }),
    })
    if (items.length === 0) return
    yield items
    after = items.at(-1)!.key
  }
}
