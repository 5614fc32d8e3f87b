import type { CompactorOptions } from '../../compactor.ts'
import { CompareTarget, etcdMethods } from './messages.ts'
import type { Members } from './members.ts'

/** The key by which kube-apiservers, and we, agree on who compacts. */
const compactionKey = Buffer.from('compact_rev_key')

/**
 * Compacts every `maxAgeMs` to what was current `maxAgeMs` before, in turn with all other servers of this etcd: each
 * tries to raise the version of one key from the one it has seen, and who succeeds compacts. This is Kubernetes' own
 * protocol, in the very transaction that kine knows.
 */
export function keepCompacted(members: Members, { clock, maxAgeMs, onError }: CompactorOptions, compact: (revision: number) => Promise<void>): () => void {
  /** The version of the key and the revision of the store at the last look. */
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
    if (!succeeded) version = responses[0]?.range?.kvs[0]?.version ?? 0
    else {
      version++
      if (before > 0) await compact(before)
    }
  }

  const again = () => {
    cancel = clock.after(maxAgeMs, () => void look().catch((e: Error) => onError?.(e)).finally(() => isStopped || again()))
  }
  // The first look only learns where the others are.
  void look().catch((e: Error) => onError?.(e)).finally(() => isStopped || again())
  return () => {
    isStopped = true
    cancel()
  }
}
