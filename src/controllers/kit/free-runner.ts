import { setMaxListeners } from 'node:events'
import { type Client, EventRecorder, type ResourceType, type SharedInformer } from '../../client/index.ts'
import { Caches } from './caches.ts'
import { type ControllerParts, type RunningController, defaultWorkers } from './controller.ts'
import type { FreeController, Running } from './free-controller.ts'

export interface FreeParts extends ControllerParts {
  client: Client
  metadataOf(type: ResourceType): SharedInformer
  forget(informer: SharedInformer): void
}

/** Runs one controller of its own kind for a term. */
export class FreeRunner implements RunningController {
  readonly name: string
  readonly #controller: FreeController
  readonly #parts: FreeParts
  readonly #recorder: EventRecorder
  readonly #giveUp = new AbortController()
  #running: Running | undefined

  constructor(controller: FreeController, parts: FreeParts) {
    const { client, clock, random, metrics } = parts
    this.name = controller.name
    this.#controller = controller
    this.#parts = { ...parts, logger: parts.logger.child({ controller: controller.name }) }
    const measured = metrics ? { metrics } : {}
    this.#recorder = new EventRecorder(client, { component: `${controller.name}-controller`, clock, random, logger: this.#parts.logger, ...measured })
    setMaxListeners(0, this.#giveUp.signal)
  }

  start(): void {
    const { informers, metrics, ...parts } = this.#parts
    this.#running = this.#controller.start({
      ...parts,
      metrics,
      caches: new Caches(informers),
      event: (about, type, reason, message) => this.#recorder.event(about, type, reason, message),
      workers: this.#controller.workers ?? defaultWorkers,
      signal: this.#giveUp.signal,
    })
  }

  async ready(): Promise<void> {
    await this.#running?.ready?.()
  }

  problems(): string[] {
    return this.#running?.problems?.() ?? []
  }

  async stop(graceMs = 3000): Promise<void> {
    const cancel = this.#parts.clock.after(graceMs, () => this.#giveUp.abort(new Error(`controller ${this.name} is stopped`)))
    await this.#running?.stop()
    await this.#recorder.flush(this.#giveUp.signal).catch(() => {}) // what is not written by now is not that important
    cancel()
    this.#recorder.close()
  }
}
