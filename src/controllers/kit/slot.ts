import type { Logger } from '../../base/logger.ts'
import type { SharedInformer } from '../../client/index.ts'
import type { RunningController } from './controller.ts'

export interface SlotOptions {
  name: string
  /** Caches of the kinds without which the controller does not run. */
  required: readonly SharedInformer[]
  /** Caches of further kinds, which are awaited at the start unless they are absent. */
  others: readonly SharedInformer[]
  /** Makes the controller; called each time that it is to run. */
  make(): RunningController
  logger: Logger
}

type State =
  | { kind: 'waiting' }
  | { kind: 'running'; controller: RunningController }
  | { kind: 'stopping'; done: Promise<void> }
  | { kind: 'closed' }

/** Runs a controller while every API that it needs is served and allowed. Other controllers run meanwhile. */
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

  /** Resolves when the controller acts, or is known to wait for an API. Rejects when the signal is aborted first. */
  async start(signal: AbortSignal): Promise<void> {
    const { required, others } = this.#options
    this.#undo = required.map((informer) => informer.onAbsence(() => this.#review()))
    await Promise.all([...required, ...others].map((informer) => informer.settled(signal)))
    signal.throwIfAborted()
    this.#review()
    if (this.#state.kind === 'running') await this.#state.controller.ready?.()
  }

  problems(): string[] {
    return this.#state.kind === 'running' ? (this.#state.controller.problems?.() ?? []) : []
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    for (const undo of this.#undo.splice(0)) undo()
    const state = this.#state
    this.#state = { kind: 'closed' }
    if (state.kind === 'running') await state.controller.stop()
    else if (state.kind === 'stopping') await state.done
  }

  /** Starts or stops the controller as its APIs come and go. A controller that is stopped is never started again: another is made. */
  #review(): void {
    const { required, make, logger, name } = this.#options
    const isServed = required.every((informer) => informer.hasSynced && !informer.absence)
    if (isServed && this.#state.kind === 'waiting') {
      const controller = make()
      this.#state = { kind: 'running', controller }
      controller.start()
    } else if (!isServed && this.#state.kind === 'running') {
      logger.warn('a controller is stopped until its APIs are available', { controller: name })
      const done = this.#state.controller.stop().then(() => {
        if (this.#state.kind !== 'stopping') return
        this.#state = { kind: 'waiting' }
        this.#review()
      })
      this.#state = { kind: 'stopping', done }
    }
  }
}
