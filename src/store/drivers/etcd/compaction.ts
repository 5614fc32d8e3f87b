import type { CompactorOptions } from '../../store.ts'
import { CompareTarget, etcdMethods } from './messages.ts'
import type { Members } from './members.ts'

export interface Compaction {
  /** Compacts to a revision. */
  compact(revision: number): Promise<void>
  /** Another server compacts to this revision. */
  compacted(revision: number): void
  /** Called after each check. */
  checked(): Promise<void>
}

/** The key that kube-apiservers use to elect the compactor. This driver shares it. */
const compactionKey = Buffer.from('compact_rev_key')

/**
 * Compacts every `maxAgeMs` to the revision that was current `maxAgeMs` before. All servers of this etcd take turns:
 * each one tries to update a key at the version that it has seen, and the winner compacts. This is the protocol of
 * Kubernetes, with the same transaction, which kine recognizes.
 */
export function keepCompacted(
  members: Members,
  { clock, maxAgeMs, onError }: CompactorOptions,
  { compact, compacted, checked }: Compaction,
): () => void {
  /** The version of the key and the revision of the store at the last check. */
  let version = 0
  let revision = 0
  let isStopped = false
  let cancel = () => {}

  const look = async (): Promise<void> => {
    const { header, succeeded, responses } = await members.once(etcdMethods.txn, {
      compare: [{ target: CompareTarget.version, key: compactionKey, version }],
      success: [{ put: { key: compactionKey, value: Buffer.from(String(revision)) } }],
      failure: [{ range: { key: compactionKey } }],
    })
    const before = revision
    revision = header!.revision
    if (!succeeded) {
      const found = responses[0]?.range?.kvs[0]
      version = found?.version ?? 0
      // The winner has stored the revision to which it compacts.
      compacted(Number(found?.value.toString()) || 0)
    } else {
      version++
      if (before > 0) await compact(before)
    }
    await checked()
  }

  const again = () => {
    cancel = clock.after(
      maxAgeMs,
      () =>
        void look()
          .catch((e: Error) => onError?.(e))
          .finally(() => isStopped || again()),
    )
  }
  // The first check only reads the current version and revision.
  void look()
    .catch((e: Error) => onError?.(e))
    .finally(() => isStopped || again())
  return () => {
    isStopped = true
    cancel()
  }
}
