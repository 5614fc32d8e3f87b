import type { KubeObject } from '../../api/object.ts'
import type { InformerHandler } from './informer.ts'
import type { CacheChange } from './object-cache.ts'

interface Registration<T extends KubeObject> {
  readonly handler: InformerHandler<T>
  isRemoved: boolean
}

/** The handlers that existed when an event arrived. */
export type Handlers<T extends KubeObject> = readonly Registration<T>[]

/** The handlers of an informer. The failure of one is reported to `failed`; the others continue. */
export class HandlerList<T extends KubeObject> {
  readonly #failed: (what: string, error: unknown) => void
  /**
   * Replaced as a whole when a handler is added or removed, so that an event goes to the handlers that existed when it
   * arrived.
   */
  #current: Handlers<T> = []

  constructor(failed: (what: string, error: unknown) => void) {
    this.#failed = failed
  }

  get current(): Handlers<T> {
    return this.#current
  }

  /** Adds a handler after `tellState` has told it of the objects that are cached. Returns a function to remove it. */
  add(handler: InformerHandler<T>, tellState: (added: Handlers<T>) => void): () => void {
    const added: Registration<T> = { handler, isRemoved: false }
    tellState([added])
    this.#current = [...this.#current, added]
    return () => {
      added.isRemoved = true
      this.#current = this.#current.filter((other) => other !== added)
    }
  }

  notify(to: Handlers<T>, change: CacheChange<T>, isInitial: boolean): void {
    for (const { handler, isRemoved } of to) {
      if (isRemoved) continue
      try {
        if (change.kind === 'add') handler.add?.(change.object, isInitial)
        else if (change.kind === 'update') handler.update?.(change.old, change.object)
        else handler.delete?.(change.object, change.isFinal)
      } catch (e) {
        this.#failed(`${change.kind} handler`, e)
      }
    }
  }

  notifyBookmark(to: Handlers<T>, resourceVersion: string, namespace: string): void {
    for (const { handler, isRemoved } of to) {
      if (isRemoved) continue
      try {
        handler.bookmark?.(resourceVersion, namespace)
      } catch (e) {
        this.#failed('bookmark handler', e)
      }
    }
  }
}
