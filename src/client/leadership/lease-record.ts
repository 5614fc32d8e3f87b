import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Lease } from '../../api/generated/types.ts'
import { microTime } from '../../api/object.ts'

/** Annotation of a lease with the newest resource version that its holders wrote. */
export const lastWrittenAnnotation = 'coxswain.dev/last-written'

/** The valid content of a lease, which any client may have written. */
export interface LeaseRecord {
  /** '' if there is no holder. */
  holder: string
  /** Lease duration; undefined if missing. */
  durationMs: number | undefined
  transitions: number
  /** '' if unknown. */
  lastWritten: string
  /** Released deliberately: as in client-go, by an empty holder with a duration of one second. */
  isReleased: boolean
}

const isVersion = (text: unknown): text is string => typeof text === 'string' && /^[0-9]+$/.test(text)

/** Returns the newer of two resource versions; an invalid one is older than any. */
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

/** The values that a candidate writes into a lease. */
export interface LeaseClaim {
  namespace: string
  name: string
  /** '' releases the lease. */
  holder: string
  durationMs: number
  transitions: number
  /** Start of this holder's term; undefined keeps the existing value. */
  acquiredAtMs: number | undefined
  nowMs: number
  lastWritten: string
}

/** Returns the lease to write, with all unrelated fields kept. */
export function claimLease(lease: Lease | undefined, claim: LeaseClaim): Lease {
  const { namespace, name, holder, durationMs, transitions, acquiredAtMs, nowMs, lastWritten } = claim
  const annotations = lastWritten
    ? { ...lease?.metadata.annotations, [lastWrittenAnnotation]: lastWritten }
    : lease?.metadata.annotations
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
