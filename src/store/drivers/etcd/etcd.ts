import { randomInt } from 'node:crypto'
import { type Clock, steadyOf, systemClock } from '../../../base/clock.ts'
import { type Logger, silentLogger } from '../../../base/logger.ts'
import { RpcError, type TlsSource } from '../../../grpc/index.ts'
import { StoreOpenError } from '../../store.ts'
import type { Store } from '../../store.ts'
import { EtcdStore } from './etcd-store.ts'
import { KeyLayout } from './layout.ts'
import { Members } from './members.ts'
import { etcdMethods } from './messages.ts'
import { hasReliableProgress, isSupported } from './versions.ts'

export interface EtcdStoreOptions {
  /** Client URLs of the members. */
  servers: readonly string[]
  tls?: TlsSource | undefined
  /**
   * The prefix of the store's keys (`ours`) and of the keys in etcd (`theirs`). Default: /registry, as in Kubernetes.
   */
  prefix?: { ours: string; theirs: string }
  /** The time of new revisions. */
  clock?: Clock
  /** Runs the timers and measures durations. Default: `clock`, or `steadyClock` for the clock of the machine. */
  timers?: Clock
  /** Time limit of one attempt of a call. */
  callTimeoutMs?: number
  /** Time limit of a write with all its retries. */
  writeBudgetMs?: number
  /** Time limit for connecting to etcd. */
  openTimeoutMs?: number
  logger?: Logger
}

/** Watches may start this many revisions before the store was opened, unless those are compacted. */
const replayedRevisions = 1000

/** Opens a store in an etcd cluster. Rejects with StoreOpenError. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const {
    servers,
    tls,
    clock = systemClock,
    timers = steadyOf(clock),
    prefix = { ours: '/registry', theirs: '/registry' },
    callTimeoutMs = 3000,
    writeBudgetMs = 10_000,
    openTimeoutMs = 10_000,
    logger = silentLogger,
  } = options
  const members = new Members({ servers, tls, clock: timers, callTimeoutMs })
  // Keeps the process alive between two attempts; it would exit silently otherwise.
  const waiting = setInterval(() => {}, openTimeoutMs)
  try {
    const { version, header: member } = await members.read(etcdMethods.status, {}, openTimeoutMs)
    if (version === '')
      throw new Error(
        'the server reports no version of etcd: kine needs --emulated-etcd-version, and a release with it',
      )
    if (!isSupported(version)) throw new Error(`etcd ${version} is too old: 3.4 or newer is needed`)
    // Members of etcd have ids.
    const isKine = !member?.clusterId
    const layout = new KeyLayout(prefix.ours, prefix.theirs)
    const { header } = await members.read(etcdMethods.range, { key: layout.fence, limit: 1 }, openTimeoutMs)
    const { revision } = header!
    const parts = {
      members,
      layout,
      clock,
      timers,
      writeBudgetMs,
      lookUpMs: callTimeoutMs,
      isKine,
      // kine sends progress in every release that reports a version, whichever version it was told to report. Members of
      // etcd may have different releases, and the watch may continue at any of them.
      hasProgress: isKine || (hasReliableProgress(version) && (await members.versions()).every(hasReliableProgress)),
      logger,
      random: () => randomInt(2 ** 32) / 2 ** 32,
    }
    const store = new EtcdStore({ ...parts, from: await replayStart(members, layout, revision) })
    try {
      await store.start(revision, openTimeoutMs)
    } catch (e) {
      await store.close()
      throw e
    }
    return store
  } catch (e) {
    members.close()
    if (!(e instanceof Error)) throw e
    const why = e instanceof RpcError ? e.detail : e.message
    throw new StoreOpenError('Unreachable', `the etcd servers ${servers.join(', ')} cannot be used: ${why}`)
  } finally {
    clearInterval(waiting)
  }
}

/** Returns the revision to replay events from, so that clients of a restarted server can resume their watches. */
async function replayStart(members: Members, layout: KeyLayout, revision: number): Promise<number> {
  const from = revision - replayedRevisions
  if (from <= 0) return (await isCompacted(members, layout, 1)) ? revision : 0
  return (await isCompacted(members, layout, from)) ? revision : from
}

async function isCompacted(members: Members, layout: KeyLayout, revision: number): Promise<boolean> {
  try {
    await members.read(etcdMethods.range, { key: layout.fence, limit: 1, revision })
    return false
  } catch (e) {
    if (e instanceof RpcError && e.code === 'OutOfRange') return true
    throw e
  }
}
