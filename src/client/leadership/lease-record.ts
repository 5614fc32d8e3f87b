import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Lease } from '../../api/generated/types.ts'

/** Where a lease keeps the newest resource version that its holders wrote. */
export const lastWrittenAnnotation = 'coxswain.dev/last-written'

/** What a lease says, as far as it makes sense: whoever may write leases may have written anything. */
export interface LeaseRecord {
  /** '' if nobody is named. */
  holder: string
  /** For how long the holder may go without renewing; undefined if that is not said. */
  durationMs: number | undefined
  transitions: number
  /** '' if not known. */
  lastWritten: string
  /** Given up on purpose: as upstream does, nobody holds it for one second. */
  isReleased: boolean
}

const isVersion = (text: unknown): text is string => typeof text === 'string' && /^[0-9]+$/.test(text)

/** The newer of two resource versions; what is not one is older than any. */
export function newerVersion(a: string, b: string): string {
  if (!isVersion(a)) return isVersion(b) ? b : ''
  return isVersion(b) && compareResourceVersions(b, a) > 0 ? b : a
}

export function readLease(lease: Lease): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = (lease.spec as Partial<Lease['spec']> | null) ?? {}
  const holder = typeof holderIdentity === 'string' ? holderIdentity : ''
  const isPositive = typeof leaseDurationSeconds === 'number' && leaseDurationSeconds > 0
  return {
    holder,
    durationMs: isPositive ? leaseDurationSeconds * 1000 : undefined,
    transitions: Number.isInteger(leaseTransitions) ? Math.max(0, leaseTransitions!) : 0,
    lastWritten: newerVersion('', lease.metadata.annotations?.[lastWrittenAnnotation] ?? ''),
    isReleased: holder === '' && leaseDurationSeconds === 1,
  }
}

/** What a candidate writes into a lease. */
export interface LeaseClaim {
  namespace: string
  name: string
  /** '' gives the lease up. */
  holder: string
  durationMs: number
  transitions: number
  /** When this holder's time began; undefined keeps what is there. */
  acquiredAtMs: number | undefined
  nowMs: number
  lastWritten: string
}

const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z')

/** The lease as it is to be written, with everything in it that is none of our business. */
export function claimLease(lease: Lease | undefined, claim: LeaseClaim): Lease {
  const { namespace, name, holder, durationMs, transitions, acquiredAtMs, nowMs, lastWritten } = claim
  const annotations = lastWritten ? { ...lease?.metadata.annotations, [lastWrittenAnnotation]: lastWritten } : lease?.metadata.annotations
  return {
    ...lease,
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...lease?.metadata, namespace, name, ...(annotations ? { annotations } : {}) },
    spec: {
      ...lease?.spec,
      holderIdentity: holder,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      ...(acquiredAtMs === undefined ? {} : { acquireTime: microTime(acquiredAtMs) }),
      renewTime: microTime(nowMs),
      leaseTransitions: transitions,
    },
  }
}
