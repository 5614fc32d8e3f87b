import type { Clock } from '../../../base/clock.ts'
import { RpcError } from '../../../grpc/index.ts'
import { StoreUnavailableError, WriteUncertainError } from '../../store.ts'
import type { Versioned, Write, WriteResult } from '../../store.ts'
import { explain, isTrouble } from './errors.ts'
import { type KeyLayout, storedValue } from './layout.ts'
import { Attempts, type Members } from './members.ts'
import { CompareTarget, type EtcdKeyValue, type EtcdTxnResponse, etcdMethods } from './messages.ts'
import type { PendingWrite, PendingWrites } from './pending-writes.ts'

export interface WriterParts {
  members: Members
  layout: KeyLayout
  timers: Clock
  writeBudgetMs: number
  /** Time limit for finding a create whose response was lost. */
  lookUpMs: number
  /** A number from 0 to 1. */
  random: () => number
  pending: PendingWrites
  /**
   * Resolves once the watch has delivered every event up to a revision. Rejects with StoreUnavailableError after the
   * time limit.
   */
  seen(revision: number, limitMs: number): Promise<void>
  /** The newest revision of the store. Rejects with StoreUnavailableError. */
  currentRevision(): Promise<number>
  versioned(kv: EtcdKeyValue): Versioned
}

/**
 * Sends each write as the transaction "if the key is at this revision, put or delete it, else read it", the only form
 * that kine supports. An update or delete whose response was lost is sent again. If the retry is refused, the watch
 * shows whether the first attempt succeeded. A create is looked up and never sent again.
 */
export class Writer {
  readonly #parts: WriterParts

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  async write({ key, expected, value, mark }: Write): Promise<WriteResult> {
    const { layout, pending, random } = this.#parts
    const etcdKey = layout.toEtcd(key)
    const stored = value && storedValue(value, mark, Math.floor(random() * 2 ** 32))
    const write: PendingWrite = { key, value, stored, expected, seenAt: undefined, goneAt: undefined }
    const done = pending.add(write)
    try {
      return await this.#attempt(write, etcdKey)
    } finally {
      done()
    }
  }

  async #attempt(write: PendingWrite, key: Buffer): Promise<WriteResult> {
    const { members, timers, writeBudgetMs, lookUpMs } = this.#parts
    const { expected, stored } = write
    const attempts = new Attempts(timers, writeBudgetMs)
    const request = {
      compare: [{ target: CompareTarget.mod, key, modRevision: expected }],
      success: [stored ? { put: { key, value: stored } } : { delete: { key } }],
      failure: [{ range: { key } }],
    }
    let isUncertain = false
    for (;;) {
      try {
        const answer = await members.once(etcdMethods.txn, request)
        return await this.#settle(write, answer, isUncertain, Math.max(attempts.leftMs, lookUpMs))
      } catch (e) {
        if (!(e instanceof RpcError)) throw e
        if (!isTrouble(e)) throw isUncertain ? new WriteUncertainError(e) : explain(e)
        isUncertain ||= !e.isUnsent
        if (write.seenAt !== undefined) return { ok: true, revision: write.seenAt }
        if (isUncertain && expected === 0) return await this.#lookUp(write, e)
        if (await attempts.next()) continue
        throw isUncertain
          ? new WriteUncertainError(e)
          : new StoreUnavailableError(`etcd cannot be reached: ${e.detail}`)
      }
    }
  }

  /**
   * Waits until a create whose response was lost appears. A create must not be retried: a member that was stopped may
   * still execute the first attempt much later, and if the object was deleted between the two attempts, both would
   * succeed. The condition of an update holds only once, so retrying it is safe.
   */
  async #lookUp(write: PendingWrite, cause: RpcError): Promise<WriteResult> {
    const { timers, seen, currentRevision, lookUpMs } = this.#parts
    const attempts = new Attempts(timers, lookUpMs)
    while (write.seenAt === undefined && (await attempts.next())) {
      try {
        await seen(await currentRevision(), attempts.leftMs)
      } catch (e) {
        if (!(e instanceof StoreUnavailableError)) throw e
      }
    }
    if (write.seenAt === undefined) throw new WriteUncertainError(cause)
    return { ok: true, revision: write.seenAt }
  }

  async #settle(
    write: PendingWrite,
    answer: EtcdTxnResponse,
    isUncertain: boolean,
    limitMs: number,
  ): Promise<WriteResult> {
    const { seen, versioned } = this.#parts
    const revision = answer.header!.revision
    // After the response, every cache that follows the store contains the write.
    await seen(revision, limitMs).catch((e: Error) => {
      throw answer.succeeded || isUncertain ? new WriteUncertainError(e) : e
    })
    const [response] = answer.responses
    if (answer.succeeded && !isOfNothing(write, response)) return { ok: true, revision }
    if (isUncertain && write.seenAt !== undefined) return { ok: true, revision: write.seenAt }
    // The key was deleted, by this write, whose response was lost, or by another one.
    if (isUncertain && write.goneAt !== undefined)
      throw new WriteUncertainError(new Error('the answer to a delete was lost'))
    // kine answers a refused delete with the version that it has not deleted.
    const current = answer.succeeded ? undefined : (response?.range?.kvs[0] ?? response?.delete?.previous[0])
    return { ok: false, current: current && versioned(current) }
  }
}

/** Returns true for the delete of a key that kine has forgotten, which succeeds there. */
const isOfNothing = ({ stored }: PendingWrite, response: EtcdTxnResponse['responses'][number] | undefined): boolean =>
  !stored && response?.delete !== undefined && response.delete.deleted === 0 && response.delete.previous.length === 0
