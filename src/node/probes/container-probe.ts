import type { Probe } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { ProbeKind, ProbeOutcome } from './prober.ts'

interface ContainerProbeOptions {
  kind: ProbeKind
  probe: Probe
  clock: Clock
  startedAtMs: number
  /** The result before the first probe. */
  initially: boolean
  look(): Promise<ProbeOutcome>
  /** Called when the result changes. `output` is that of the probe that changed it. */
  turned(isSuccess: boolean, output: string): void
  /** Called for each failed probe, even if the result stays the same. */
  failed(output: string): void
}

/**
 * One probe of one container. It runs every `periodSeconds` and changes its result after enough equal outcomes in a
 * row.
 */
export class ContainerProbe {
  readonly #options: ContainerProbeOptions
  #result: boolean
  #row = 0
  #last: boolean | undefined
  #cancel: () => void
  #isStopped = false
  #hasTurned = false

  constructor(options: ContainerProbeOptions) {
    this.#options = options
    this.#result = options.initially
    const dueMs = options.startedAtMs + (options.probe.initialDelaySeconds ?? 0) * 1000
    this.#cancel = options.clock.after(Math.max(0, dueMs - options.clock.now()), () => void this.#look())
  }

  get result(): boolean {
    return this.#result
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  async #look(): Promise<void> {
    const { probe, look, failed, clock } = this.#options
    const { isSuccess, output } = await look()
    if (this.#isStopped) return
    this.#cancel = clock.after((probe.periodSeconds ?? 10) * 1000, () => void this.#look())
    this.#row = this.#last === isSuccess ? this.#row + 1 : 1
    this.#last = isSuccess
    if (!isSuccess) failed(output)
    const needed = isSuccess ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3)
    if (this.#row < needed || (this.#result === isSuccess && this.#hasTurned)) return
    const isNews = this.#result !== isSuccess || !this.#hasTurned
    this.#result = isSuccess
    this.#hasTurned = true
    if (isNews) this.#options.turned(isSuccess, output)
  }
}
