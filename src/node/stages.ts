import type { Pod } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import type { Histogram, MetricsRegistry } from '../base/metrics.ts'
import { waitFor } from '../client/index.ts'
import type { Faults, Stage } from './faults.ts'
import type { MachineState, Supply } from './machine/machine.ts'

/** A failure that a fault plan injects. */
export class StageError extends Error {
  readonly stage: Stage

  constructor(stage: Stage, message: string) {
    super(message)
    this.name = 'StageError'
    this.stage = stage
  }
}

const bounds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** A histogram of stage durations, shared by all nodes of a process. It is finer than the timestamps of conditions. */
export class StageTimes {
  readonly #durations: Histogram | undefined

  constructor(metrics?: MetricsRegistry) {
    this.#durations = metrics?.histogram(
      'coxswain_node_pod_stage_duration_seconds',
      'Duration of the stages of starting a pod, including failed ones.',
      bounds,
    )
  }

  observe(stage: Stage, outcome: 'done' | 'failed', seconds: number): void {
    this.#durations?.with({ stage, outcome }).observe(seconds)
  }
}

/** Runs the stages of one node's pods: injects the faults of the fault plan and measures the duration. */
export class Stages {
  readonly #node: string
  readonly #clock: Clock
  readonly #faults: Faults
  readonly #times: StageTimes

  constructor(node: string, clock: Clock, faults: Faults, times: StageTimes) {
    this.#node = node
    this.#clock = clock
    this.#faults = faults
    this.#times = times
  }

  async run<T>(stage: Stage, pod: Pod, signal: AbortSignal, work: () => Promise<T>, container?: string): Promise<T> {
    const startMs = this.#clock.now()
    const finish = (outcome: 'done' | 'failed') =>
      this.#times.observe(stage, outcome, (this.#clock.now() - startMs) / 1000)
    try {
      const fault = this.#faults.at(stage, { node: this.#node, pod, container })
      if (fault?.delayMs) await waitFor(this.#clock, fault.delayMs, signal)
      if (fault?.fail) throw new StageError(stage, fault.fail)
      const result = await work()
      finish('done')
      return result
    } catch (e) {
      finish('failed')
      throw e
    }
  }

  /** Injects the fault of one volume's driver: a delay, then a failure. */
  async meetDriver(pod: Pod, driver: string, signal: AbortSignal): Promise<void> {
    const fault = this.#faults.at('csi', { node: this.#node, pod, container: undefined, driver })
    if (fault?.delayMs) await waitFor(this.#clock, fault.delayMs, signal)
    if (fault?.fail) throw new StageError('csi', fault.fail)
  }

  /** The delay after which the fault plan crashes the pod's ready sandbox; undefined if it does not. */
  crashInMs(pod: Pod): number | undefined {
    const fault = this.#faults.at('sandbox-crash', { node: this.#node, pod, container: undefined })
    return fault && (fault.delayMs ?? 0)
  }

  /** Calls `listener` when faults may have begun that affect running pods. */
  watchFaults(listener: () => void): () => void {
    return this.#faults.watch?.(listener) ?? (() => {})
  }

  /** False if the fault plan suppresses the node's heartbeats. */
  mayBeat(): boolean {
    return !this.#meetsNode('heartbeat')
  }

  /** The available resources of the machine, with the shortages that the fault plan simulates. */
  shortened(machine: MachineState): MachineState {
    const none = ({ capacity }: Supply): Supply => ({ capacity, available: 0 })
    return {
      ...machine,
      ...(this.#meetsNode('memory-pressure') ? { memory: none(machine.memory) } : {}),
      ...(this.#meetsNode('disk-pressure') ? { disk: none(machine.disk) } : {}),
      ...(this.#meetsNode('pid-pressure') ? { pids: none(machine.pids) } : {}),
    }
  }

  #meetsNode(stage: Stage): boolean {
    return this.#faults.at(stage, { node: this.#node, pod: undefined, container: undefined })?.fail !== undefined
  }
}
