import type { Logger } from '../../../base/logger.ts'
import type { SharedInformer } from '../../../client/index.ts'
import type { RunningController } from '../controller.ts'
import type { RivalWatch } from './rival-lease.ts'

export interface SlotOptions {
  name: string
  /** The caches without which the controller does not run. */
  required: readonly SharedInformer[]
  /** The caches that are awaited at the start unless their kinds are absent. */
  others: readonly SharedInformer[]
  /** The lease of another manager that may run the same controller. */
  rival?: RivalWatch | undefined
  /** Creates the controller. Called each time that it starts. */
  make(): RunningController
  logger: Logger
}

type State =
  | { kind: 'waiting' }
  | { kind: 'running'; controller: RunningController }
  | { kind: 'stopping'; done: Promise<void> }
  | { kind: 'closed' }

/**
 * Runs a controller while every API that it needs is served and allowed, and no other manager may run it. Other
 * controllers are not affected.
 */
export class ControllerSlot {
  readonly #options: SlotOptions
  #state: State = { kind: 'waiting' }
  #undo: (() => void)[] = []

  constructor(options: SlotOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running'
  }

  /** Resolves when the controller acts, or waits for an absent API. Rejects if the signal is aborted first. */
  async start(signal: AbortSignal): Promise<void> {
    const { required, others, rival } = this.#options
    rival?.onChange(() => this.#review())
    this.#undo = required.map((informer) => informer.onAbsence(() => this.#review()))
    const awaited = [...required, ...others, ...(rival ? [rival.informer as unknown as SharedInformer] : [])]
    await Promise.all(awaited.map((informer) => informer.settled(signal)))
    signal.throwIfAborted()
    this.#review()
    if (this.#state.kind === 'running') await this.#state.controller.ready?.()
  }

  problems(): string[] {
    const refusal = this.#options.rival?.refusal()
    if (refusal) return [`controller ${this.name} is not run: ${refusal}`]
    return this.#state.kind === 'running' ? (this.#state.controller.problems?.() ?? []) : []
  }

  /** Resolves when no work is in progress. */
  async stop(): Promise<void> {
    for (const undo of this.#undo.splice(0)) undo()
    const state = this.#state
    this.#state = { kind: 'closed' }
    if (state.kind === 'running') await state.controller.stop()
    else if (state.kind === 'stopping') await state.done
  }

  /**
   * Starts or stops the controller when an API or the rival changes. A stopped controller is never restarted: a new one
   * is created.
   */
  #review(): void {
    const { required, rival, make, logger, name } = this.#options
    const mayRun = required.every((informer) => informer.hasSynced && !informer.absence) && !rival?.refusal()
    if (mayRun && this.#state.kind === 'waiting') {
      const controller = make()
      this.#state = { kind: 'running', controller }
      controller.start()
    } else if (!mayRun && this.#state.kind === 'running') {
      const refusal = rival?.refusal()
      if (refusal)
        logger.warn('controller stopped: another controller manager may run it', { controller: name, refusal })
      else logger.warn('controller stopped until its APIs are available', { controller: name })
      const done = this.#state.controller.stop().then(() => {
        if (this.#state.kind !== 'stopping') return
        this.#state = { kind: 'waiting' }
        this.#review()
      })
      this.#state = { kind: 'stopping', done }
    }
  }
}
