import type { ResourceQuota } from '../../api/generated/types.ts'
import { evaluatorOf } from '../../api/quota/index.ts'
import { type SharedInformer, keyOf, resourceName, resourcequotas } from '../../client/index.ts'
import {
  type Again,
  type FreeContext,
  type FreeController,
  KeyLoop,
  type Running,
  ServedKinds,
  allIn,
  indexByNamespace,
} from '../kit/index.ts'
import { type CachedObjects, type CountedKind, type Memory, count, countedKinds, namesOf } from './observe.ts'
import { plan } from './plan.ts'
import { findingOf, remember, status } from './status.ts'

const builtIn = new Set(countedKinds.map(({ type }) => resourceName(type)))
const watchable = ['list', 'watch']
const namespaceIndex = 'quota-namespace'
/** The cache of a kind that is no longer served and has no objects. */
const gone: CachedObjects = { objects: [], informer: { hasSynced: false, lastSyncResourceVersion: '' } }

/**
 * Maintains the status of quotas for custom kinds: `count/boats.example.com`. It writes only these names, and the
 * controller of the built-in kinds only the others, so that each keeps the other's values.
 */
export const customQuotaController: FreeController = {
  name: 'resourcequota-custom-kinds',
  reads: [resourcequotas],
  indexes: [indexByNamespace(resourcequotas)],
  start: (ctx) => new CustomQuotas(ctx),
}

class CustomQuotas implements Running {
  readonly #ctx: FreeContext
  readonly #loop: KeyLoop
  readonly #served: ServedKinds
  /** By resource name. Kinds that are no longer served stay, without a cache, so that their usage becomes zero. */
  readonly #kinds = new Map<string, CountedKind & { informer: SharedInformer | undefined }>()
  readonly #memories = new Map<string, Memory | undefined>()
  readonly #removeHandler: () => void

  constructor(ctx: FreeContext) {
    this.#ctx = ctx
    this.#loop = new KeyLoop('resourcequota_custom_kinds', ctx, (key) => this.#count(key))
    const note = (quota: ResourceQuota) => this.#loop.queue.add(keyOf(quota))
    this.#removeHandler = ctx.caches.of(resourcequotas).addHandler({
      add: note,
      update: (_, quota) => note(quota),
      delete: (quota) => this.#memories.delete(keyOf(quota)),
    })
    this.#served = new ServedKinds(
      ctx,
      'quota controller',
      (type) =>
        type.namespaced && !builtIn.has(resourceName(type)) && watchable.every((verb) => type.verbs.includes(verb)),
      { follow: ({ type, informer }) => this.#follow(type, informer), ready: () => this.#loop.start() },
    )
    this.#served.start()
  }

  async stop(): Promise<void> {
    this.#removeHandler()
    await this.#loop.stop()
    this.#served.stop()
  }

  #follow(type: CountedKind['type'], informer: SharedInformer): () => void {
    const evaluator = evaluatorOf(type.group, type.plural)
    if (!evaluator) return () => {}
    informer.addIndex(namespaceIndex, ({ metadata }) => [metadata.namespace ?? ''])
    this.#kinds.set(resourceName(type), { type, evaluator, informer })
    const note = (quotas: readonly ResourceQuota[]) => {
      for (const quota of quotas)
        if (namesOf(quota).some((name) => evaluator.uses(name))) {
          this.#loop.queue.add(keyOf(quota))
        }
    }
    const noteNamespace = (namespace = '') => note(allIn(this.#ctx.caches, resourcequotas, namespace))
    note(this.#ctx.caches.list(resourcequotas))
    const removeHandler = informer.addHandler({
      add: ({ metadata }) => noteNamespace(metadata.namespace),
      delete: ({ metadata }) => noteNamespace(metadata.namespace),
    })
    return () => {
      removeHandler()
      this.#kinds.set(resourceName(type), { type, evaluator, informer: undefined })
      note(this.#ctx.caches.list(resourcequotas))
    }
  }

  async #count(key: string): Promise<Again> {
    const { caches, client, clock, signal } = this.#ctx
    const quota = caches.of(resourcequotas).get(key)
    const kinds = quota
      ? [...this.#kinds.values()].filter(({ evaluator }) => namesOf(quota).some((name) => evaluator.uses(name)))
      : []
    if (!quota || kinds.length === 0) {
      this.#memories.delete(key)
      return undefined
    }
    const seen = count(
      { quota, nowMs: clock.now(), remembered: this.#memories.get(key) },
      kinds,
      ({ type }, namespace) => {
        const { informer } = this.#kinds.get(resourceName(type))!
        return informer ? { objects: informer.byIndex(namespaceIndex, namespace), informer } : gone
      },
    )
    if (findingOf(seen).kind === 'wrong') {
      await client.updateStatus(resourcequotas, { ...quota, status: status(seen) }, { signal })
    }
    this.#memories.set(key, remember(seen))
    return { afterMs: plan(seen).requeueAfterMs ?? 0 }
  }
}
