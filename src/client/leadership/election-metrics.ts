import type { MetricsRegistry, Series } from '../../base/metrics.ts'
import { sharedFamilies } from '../cache/shared-metrics.ts'

/** The metrics of one elector. */
export interface ElectionMetrics {
  slowPath: Pick<Series, 'inc'>
  failedAttempts: Pick<Series, 'inc'>
  refusedWrites: Pick<Series, 'inc'>
}

const familiesOf = sharedFamilies((registry) => {
  const electors = new Map<string, () => boolean>()
  registry.gauge(
    'leader_election_master_status',
    'Whether this process is the leader: 0 or 1. "name" identifies the lease.',
    (gauge) => {
      for (const [name, isLeader] of electors) gauge.with({ name }).set(isLeader() ? 1 : 0)
    },
  )
  return {
    electors,
    slowPath: registry.counter(
      'leader_election_slowpath_total',
      'Renewals for which the lease had to be read first. "name" identifies the lease.',
    ),
    failedAttempts: registry.counter(
      'leader_election_failed_attempts_total',
      'Attempts to read, acquire or renew the lease that failed.',
    ),
    refusedWrites: registry.counter(
      'leader_election_refused_writes_total',
      'Writes that were not sent because this process was not the leader.',
    ),
  }
})

const nothing = { inc: () => {} }

/** Registers the metrics of an elector, labelled with the name of its lease. */
export function measureElection(
  name: string,
  isLeader: () => boolean,
  registry: MetricsRegistry | undefined,
): ElectionMetrics {
  if (!registry) return { slowPath: nothing, failedAttempts: nothing, refusedWrites: nothing }
  const { electors, slowPath, failedAttempts, refusedWrites } = familiesOf(registry)
  electors.set(name, isLeader)
  const labels = { name }
  return {
    slowPath: slowPath.with(labels),
    failedAttempts: failedAttempts.with(labels),
    refusedWrites: refusedWrites.with(labels),
  }
}
