import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { type ResourceType, SharedInformer, type Transport, resourceName } from '../../client/index.ts'

interface ReferencedObjectsOptions {
  transport: Transport
  clock: Clock
  random: Random
  logger?: Logger
}

interface Held {
  informer: SharedInformer
  holders: Set<() => void>
}

/**
 * Watches each object that a pod refers to by name, while a pod of this process refers to it. A node may read no other
 * objects.
 */
export class ReferencedObjects {
  readonly #options: ReferencedObjectsOptions
  readonly #held = new Map<string, Held>()

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options
  }

  /**
   * Starts to follow an object, which need not exist. `changed` is called for every change after the first read. The
   * returned function stops.
   */
  hold(type: ResourceType, namespace: string, name: string, changed: () => void): () => void {
    const key = keyOf(type, namespace, name)
    let held = this.#held.get(key)
    if (!held) {
      held = { informer: this.#informer(type, namespace, name), holders: new Set() }
      this.#held.set(key, held)
      held.informer.start()
    }
    const { holders } = held
    holders.add(changed)
    return () => {
      if (!holders.delete(changed) || holders.size > 0) return
      this.#held.get(key)?.informer.stop()
      this.#held.delete(key)
    }
  }

  /** The cached object after the first read. Undefined if it does not exist. It must be held. */
  async get<T extends KubeObject>(
    type: ResourceType<T>,
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const held = this.#held.get(keyOf(type, namespace, name))
    if (!held) throw new Error(`${resourceName(type)} ${namespace}/${name} is not followed`)
    await held.informer.synced(signal)
    return held.informer.get(`${namespace}/${name}`) as T | undefined
  }

  stop(): void {
    for (const { informer } of this.#held.values()) informer.stop()
    this.#held.clear()
  }

  #informer(type: ResourceType, namespace: string, name: string): SharedInformer {
    const informer = new SharedInformer({ ...this.#options, type, namespace, fieldSelector: `metadata.name=${name}` })
    const tell = () => {
      for (const changed of this.#held.get(keyOf(type, namespace, name))?.holders ?? []) changed()
    }
    informer.addHandler({ add: (_, isInitial) => (isInitial ? undefined : tell()), update: tell, delete: tell })
    return informer
  }
}

const keyOf = (type: ResourceType, namespace: string, name: string): string =>
  `${resourceName(type)} ${namespace}/${name}`
