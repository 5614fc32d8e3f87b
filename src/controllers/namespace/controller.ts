import { isNotFound } from '../../api/errors.ts'
import type { Namespace, Pod } from '../../api/generated/types.ts'
import { semanticEqual } from '../../api/deep-equal.ts'
import { namespaces, pods } from '../../client/index.ts'
import { type Again, type FreeContext, type FreeController, KeyLoop, type Running } from '../kit/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import { conditionsOf, failureTexts, isEmpty, secondsLeft } from './report.ts'
import { emptyNamespace } from './empty.ts'

/** The finalizer of this controller in `spec.finalizers`. */
const finalizer = 'kubernetes'
/** A create that was admitted just before the deletion may arrive later, so the last check comes after this time. */
const settleMs = 2000
/** The delay after a pod has ended, in which other pods end as well. */
const podGoneMs = 300
const firstWaitMs = 1000

const isOurs = ({ metadata, spec }: Namespace): boolean =>
  metadata.deletionTimestamp !== undefined && (spec?.finalizers ?? []).includes(finalizer)

/** Deletes the content of namespaces that are being deleted, then releases them. */
export const namespaceController: FreeController = {
  name: 'namespace',
  reads: [namespaces, pods],
  workers: 10,
  start: (ctx) => new NamespaceDeleter(ctx),
}

class NamespaceDeleter implements Running {
  readonly #ctx: FreeContext
  readonly #loop: KeyLoop
  readonly #removeHandlers: (() => void)[]
  /** The next maximum wait per namespace. */
  readonly #waitsMs = new Map<string, number>()

  constructor(ctx: FreeContext) {
    this.#ctx = ctx
    this.#loop = new KeyLoop('namespace', ctx, (name) => this.#reconcile(name))
    const { queue } = this.#loop
    const note = (namespace: Namespace) => {
      if (isOurs(namespace)) queue.add(namespace.metadata.name ?? '')
    }
    this.#removeHandlers = [
      ctx.caches.of(namespaces).addHandler({
        add: note,
        update: (old, namespace) => {
          // Conditions are our own writes.
          if (!isOurs(old)) note(namespace)
        },
        delete: ({ metadata }) => this.#waitsMs.delete(metadata.name ?? ''),
      }),
      ctx.caches.of(pods).addHandler({
        delete: ({ metadata: { namespace = '' } }: Pod) => {
          const home = ctx.caches.get(namespaces, '', namespace)
          if (home && isOurs(home)) queue.addAfter(namespace, podGoneMs)
        },
      }),
    ]
    this.#loop.start()
  }

  problems(): string[] {
    return this.#loop.problems()
  }

  async stop(): Promise<void> {
    for (const remove of this.#removeHandlers) remove()
    await this.#loop.stop()
  }

  async #reconcile(name: string): Promise<Again> {
    const { client, clock, signal } = this.#ctx
    try {
      const namespace = await client.get(namespaces, '', name, { signal })
      if (!isOurs(namespace)) return undefined
      const startedMs = clock.now()
      const report = await emptyNamespace(this.#ctx, namespace)
      const told = await this.#tell(namespace, conditionsOf(name, report, namespace.status?.conditions, clock.now()))
      if (!isEmpty(report)) {
        for (const error of failureTexts(name, report))
          this.#ctx.logger.warn('failed to delete the content of a namespace', { namespace: name, error })
        return { afterMs: this.#nextWaitMs(name, secondsLeft(report)) }
      }
      const settledAtMs = millisecondsOf(namespace.metadata.deletionTimestamp) + settleMs
      if (startedMs < settledAtMs) return { afterMs: settledAtMs - clock.now() }
      await this.#letGo(told)
    } catch (e) {
      if (!isNotFound(e)) throw e
    }
    return undefined
  }

  /** The wait grows with each check, limited by the estimated time of the content. */
  #nextWaitMs(name: string, leftSeconds: number): number {
    const waitMs = this.#waitsMs.get(name) ?? firstWaitMs
    const longestMs = (Math.floor(leftSeconds / 2) + 1) * 1000
    this.#waitsMs.set(name, Math.min(waitMs * 2, 60_000))
    return leftSeconds > 0 ? Math.min(waitMs, longestMs) : waitMs
  }

  async #tell(namespace: Namespace, conditions: NonNullable<Namespace['status']>['conditions']): Promise<Namespace> {
    if (semanticEqual(namespace.status?.conditions, conditions)) return namespace
    return this.#ctx.client.updateStatus(
      namespaces,
      { ...namespace, status: { ...namespace.status, conditions } },
      { signal: this.#ctx.signal },
    )
  }

  async #letGo(namespace: Namespace): Promise<void> {
    const left = (namespace.spec?.finalizers ?? []).filter((f) => f !== finalizer)
    const body = { ...namespace, apiVersion: 'v1', kind: 'Namespace', spec: { ...namespace.spec, finalizers: left } }
    await this.#ctx.client.subresource(namespaces, '', namespace.metadata.name ?? '', 'finalize', {
      method: 'PUT',
      body,
      signal: this.#ctx.signal,
    })
  }
}
