import { steadyClock } from '../../../base/clock.ts'
import { RpcError, type TlsSource } from '../../../grpc/index.ts'
import { Members } from './members.ts'
import { etcdMethods } from './messages.ts'
import { isSupported } from './versions.ts'

/** The state of a member, or the reason why it is unknown. */
export type EtcdMemberState =
  | { kind: 'silent'; url: string; why: string }
  | {
      kind: 'known'
      url: string
      version: string
      isSupported: boolean
      clusterId: string
      /** The id of the leader as this member sees it; 0 if it sees none. */
      leader: string
      dbBytes: number
      answerMs: number
      /** For example NOSPACE when the database is full. */
      alarms: readonly string[]
    }

/** Requests the status of each member. */
export function probeEtcd({
  servers,
  tls,
  timeoutMs = 3000,
}: {
  servers: readonly string[]
  tls?: TlsSource | undefined
  timeoutMs?: number
}): Promise<EtcdMemberState[]> {
  return Promise.all(servers.map((url) => probe(url, tls, timeoutMs)))
}

async function probe(url: string, tls: TlsSource | undefined, callTimeoutMs: number): Promise<EtcdMemberState> {
  const members = new Members({ servers: [url], tls, clock: steadyClock, callTimeoutMs })
  // The call's own timers do not keep the process alive.
  const waiting = setInterval(() => {}, callTimeoutMs)
  try {
    await members.once(etcdMethods.status, {}) // opens the connection
    const start = performance.now()
    const { header, version, dbSize, leader, errors } = await members.once(etcdMethods.status, {})
    const answerMs = performance.now() - start
    return {
      kind: 'known',
      url,
      version,
      isSupported: isSupported(version),
      clusterId: String(header!.clusterId),
      leader: String(leader),
      dbBytes: dbSize,
      answerMs,
      alarms: errors,
    }
  } catch (e) {
    return { kind: 'silent', url, why: e instanceof RpcError ? e.detail : (e as Error).message }
  } finally {
    clearInterval(waiting)
    members.close()
  }
}
