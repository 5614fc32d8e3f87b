import type { Sample } from './state-series.ts'

interface StatusCondition {
  type: string
  status: string
  reason?: string
}

const statuses = ['true', 'false', 'unknown'] as const

/** One sample for each status there is, 1 for the one that holds: so that a query always finds the one it asks for. */
export const statusSamples = (label: string, status: string): Sample[] => statuses.map((one) => [{ [label]: one }, status.toLowerCase() === one ? 1 : 0])

/** All conditions of a workload, labelled as kube-state-metrics does it for Deployments. */
export const conditionSamples = (conditions: readonly StatusCondition[] | undefined): Sample[] =>
  (conditions ?? []).flatMap(({ type, status, reason = '' }) => statuses.map((one): Sample => [{ reason, condition: type, status: one }, status.toLowerCase() === one ? 1 : 0]))
