import { type LevelVersion, type Mode, latest } from '../../../api/pod-security/index.ts'
import type { Counter, Labels, MetricsRegistry, Series } from '../../../base/metrics.ts'
import { kubernetesVersion } from '../../status/version.ts'
import type { AdmissionRequest } from '../admission.ts'

const newestMinor = Number(kubernetesVersion.minor)

/**
 * Versions above this server's own share the label `future`, so that namespace labels cannot create any number of
 * series.
 */
function versionLabel({ level, version }: LevelVersion): string {
  if (version === latest || level === 'privileged') return 'latest'
  return version > newestMinor ? 'future' : `v1.${version}`
}

/** Every kind other than pods and namespaces has the label `controller`. */
function resourceLabel({ group, plural }: { group: string; plural: string }): string {
  if (group === '' && plural === 'pods') return 'pod'
  return group === '' && plural === 'namespaces' ? 'namespace' : 'controller'
}

const requestLabels = ({ operation, resource, subresource }: AdmissionRequest): Labels => ({
  request_operation: operation.toLowerCase(),
  resource: resourceLabel(resource),
  subresource,
})

/** The `pod_security_*` counters of one server, under Kubernetes' names and labels. */
export class PodSecurityMetrics {
  readonly #evaluations: Counter
  readonly #exemptions: Counter
  readonly #errors: Counter
  /** Series of evaluations by their labels, because every pod create increments one. */
  readonly #held = new Map<string, Series>()

  constructor(registry: MetricsRegistry) {
    this.#evaluations = registry.counter(
      'pod_security_evaluations_total',
      'Number of policy evaluations that occurred, not counting ignored or exempt requests.',
    )
    this.#exemptions = registry.counter(
      'pod_security_exemptions_total',
      'Number of exempt requests, not counting ignored or out of scope requests.',
    )
    this.#errors = registry.counter(
      'pod_security_errors_total',
      'Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.',
    )
  }

  /** Counts an evaluation of `enforce`, or a violation of `audit` or `warn`. */
  evaluated(request: AdmissionRequest, mode: Mode, policy: LevelVersion, decision: 'allow' | 'deny'): void {
    if (request.isRepeated) return
    const {
      operation,
      resource: { group, plural },
      subresource,
    } = request
    const key = `${decision} ${policy.level} ${policy.version} ${mode} ${operation} ${group}/${plural}/${subresource}`
    let series = this.#held.get(key)
    if (!series) {
      series = this.#evaluations.with({
        decision,
        policy_level: policy.level,
        policy_version: versionLabel(policy),
        mode,
        ...requestLabels(request),
      })
      // A future version could be any number, so its series is not kept here.
      if (policy.version === latest || policy.version <= newestMinor) this.#held.set(key, series)
    }
    series.inc()
  }

  exempted(request: AdmissionRequest): void {
    if (!request.isRepeated) this.#exemptions.with(requestLabels(request)).inc()
  }

  /** Counts an invalid policy. The restricted level replaces it, so the error is not fatal. */
  policyUnreadable(request: AdmissionRequest): void {
    if (!request.isRepeated) this.#errors.with({ fatal: 'false', ...requestLabels(request) }).inc()
  }
}
