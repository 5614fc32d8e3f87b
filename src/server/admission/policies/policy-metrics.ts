import type { Counter, MetricsRegistry } from '../../../base/metrics.ts'

const texts = {
  validating:
    'Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.',
  mutating: 'Mutation admission policy check total, labeled by policy and further identified by binding.',
}

/** Counts policy checks, under Kubernetes' names. */
export class PolicyMetrics {
  readonly #checks: Counter

  constructor(metrics: MetricsRegistry, sort: keyof typeof texts) {
    this.#checks = metrics.counter(`apiserver_${sort}_admission_policy_check_total`, texts[sort])
  }

  /** `action` is the enforcement action of a validating policy's binding. */
  count(policy: string, binding: string, errorType: string, action?: string): void {
    const labels = { policy, policy_binding: binding, error_type: errorType }
    this.#checks.with(action === undefined ? labels : { ...labels, enforcement_action: action }).inc()
  }
}
