import type { ServiceCIDR } from '../../api/generated/types.ts'
import { type Cidr, cidrContains, parseCidr, parseIp } from '../../api/validation/ip.ts'
import { hasFinalizer } from '../../client/index.ts'
import type { Step } from '../kit/index.ts'
import { type Saying, findCondition, millisecondsOf, setCondition } from '../kit/workload/index.ts'

export const finalizer = 'networking.k8s.io/service-cidr-finalizer'
/**
 * The time until all API servers have seen that a range is being deleted. Before that they may allocate addresses from
 * it.
 */
const graceMs = 10_000
const inUse = 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'

export interface Observed {
  cidr: ServiceCIDR
  /** All other ranges that are not being deleted. */
  others: readonly ServiceCIDR[]
  /** The addresses of Services in the range. Read only for a range that is being deleted. */
  addresses: readonly string[]
  nowMs: number
}

export type Action = { kind: 'Protect' } | { kind: 'LetGo' }

const rangesOf = ({ spec }: ServiceCIDR): Cidr[] => (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? [])

/** True if an address is in one of the ranges of a ServiceCIDR. */
export function hasAddress(cidr: ServiceCIDR, address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && rangesOf(cidr).some((range) => cidrContains(range, ip))
}

/** The first address that has no other range. */
const firstHeld = ({ others, addresses }: Observed): string | undefined =>
  addresses.find((address) => !others.some((other) => hasAddress(other, address)))

/** A deleted range is released when no address depends on it, and every server has seen the deletion. */
export function plan(seen: Observed): Step<Action> {
  const { cidr, nowMs } = seen
  const isProtected = hasFinalizer(cidr, finalizer)
  const { deletionTimestamp } = cidr.metadata
  if (!deletionTimestamp) return { actions: isProtected ? [] : [{ kind: 'Protect' }] }
  if (!isProtected) return { actions: [] }
  const held = firstHeld(seen)
  if (held) return { actions: [], wait: `used by ${held}` }
  const leftMs = millisecondsOf(deletionTimestamp) + graceMs - nowMs
  return leftMs > 0 ? { actions: [], requeueAfterMs: leftMs } : { actions: [{ kind: 'LetGo' }] }
}

export function statusOf(seen: Observed): NonNullable<ServiceCIDR['status']> {
  const { cidr, nowMs } = seen
  const before = cidr.status?.conditions ?? []
  const ready = findCondition(before, 'Ready')
  const isGoing = Boolean(cidr.metadata.deletionTimestamp)
  const isHeld = isGoing && firstHeld(seen) !== undefined
  if (isGoing && !isHeld) return cidr.status ?? {}
  if (!isHeld && ready?.status === 'True') return cidr.status ?? {}
  const next: Saying = isHeld
    ? { type: 'Ready', status: 'False', reason: 'Terminating', message: inUse }
    : { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' }
  return {
    ...cidr.status,
    conditions: setCondition(before, next, nowMs) as NonNullable<ServiceCIDR['status']>['conditions'],
  }
}
