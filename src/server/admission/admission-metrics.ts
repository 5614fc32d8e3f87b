import type { Histogram, MetricsRegistry, Observer } from '../../base/metrics.ts'
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './admission.ts'

type Phase = 'admit' | 'validate'
type Waiting = Promise<void> | undefined

/** Kubernetes' histogram bounds, in seconds. */
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** The series of admitted and rejected requests. */
interface Outcomes {
  passed: Observer
  rejected: Observer
}

/** Measures admission latency under Kubernetes' names: of both steps, and of each plugin in them. */
export class AdmissionMetrics {
  readonly #steps: Histogram
  readonly #plugins: Histogram
  readonly #knownSteps = new Map<string, Outcomes>()

  constructor(registry: MetricsRegistry) {
    const by = (what: string) =>
      `${what} in seconds, broken out for each operation and API resource and step type (validate or admit).`
    this.#steps = registry.histogram(
      'apiserver_admission_step_admission_duration_seconds',
      by('Admission sub-step latency histogram'),
      bounds,
    )
    const text = by('Admission controller latency histogram in seconds, identified by name')
    this.#plugins = registry.histogram('apiserver_admission_controller_admission_duration_seconds', text, bounds)
  }

  /** Runs and measures one step, which runs all plugins. */
  step(phase: Phase, operation: AdmissionOperation, run: () => Waiting): Waiting {
    const key = `${phase} ${operation}`
    let outcomes = this.#knownSteps.get(key)
    if (!outcomes) this.#knownSteps.set(key, (outcomes = outcomesIn(this.#steps, { type: phase, operation })))
    return measure(outcomes, run)
  }

  /**
   * Wraps a plugin to measure it. A synchronous plugin takes microseconds, less than reading the clock: it is counted
   * with a duration of zero, and its time is part of the step's.
   */
  measured(plugin: AdmissionPlugin): AdmissionPlugin {
    const phase = (type: Phase) => {
      const known: Partial<Record<AdmissionOperation, Outcomes>> = {}
      return (request: AdmissionRequest): Waiting => {
        const { operation } = request
        const outcomes = (known[operation] ??= outcomesIn(this.#plugins, { name: plugin.name, type, operation }))
        let waiting: Waiting
        try {
          waiting = plugin[type]!(request) as Waiting
        } catch (e) {
          outcomes.rejected.observe(0)
          throw e
        }
        if (waiting) return observeEnd(outcomes, performance.now(), waiting)
        outcomes.passed.observe(0)
        return undefined
      }
    }
    return {
      ...plugin,
      ...(plugin.admit ? { admit: phase('admit') } : {}),
      ...(plugin.validate ? { validate: phase('validate') } : {}),
    }
  }
}

const outcomesIn = (histogram: Histogram, labels: Record<string, string>): Outcomes => ({
  passed: histogram.with({ ...labels, rejected: 'false' }),
  rejected: histogram.with({ ...labels, rejected: 'true' }),
})

const secondsSince = (startedMs: number): number => (performance.now() - startedMs) / 1000

function measure(outcomes: Outcomes, run: () => Waiting): Waiting {
  const startedMs = performance.now()
  let waiting: Waiting
  try {
    waiting = run()
  } catch (e) {
    outcomes.rejected.observe(secondsSince(startedMs))
    throw e
  }
  if (waiting) return observeEnd(outcomes, startedMs, waiting)
  outcomes.passed.observe(secondsSince(startedMs))
  return undefined
}

const observeEnd = ({ passed, rejected }: Outcomes, startedMs: number, waiting: Promise<void>): Promise<void> =>
  waiting.then(
    () => passed.observe(secondsSince(startedMs)),
    (e: unknown) => {
      rejected.observe(secondsSince(startedMs))
      throw e
    },
  )
