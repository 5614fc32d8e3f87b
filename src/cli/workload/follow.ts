import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { LabelSelector } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { type ResourceType, SharedInformer, type WatchScope, pods, replicasets, waitFor } from '../../client/index.ts'
import type { Session } from '../session.ts'
import type { Source } from '../../insight/workload/own-pods.ts'

/** A signal of changes, which one waiter consumes. */
export class Bell {
  #isRung = false
  #waiting: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#waiting?.()
  }

  /** Resolves when the bell has rung, or after `maxMs`. Rejects if the session is interrupted. */
  async heard({ clock, signal }: Pick<Session, 'clock' | 'signal'>, maxMs: number): Promise<void> {
    if (!this.#isRung) {
      const enough = new AbortController()
      const stop = () => enough.abort()
      signal.addEventListener('abort', stop)
      this.#waiting = stop
      await waitFor(clock, maxMs, enough.signal).catch(() => {})
      this.#waiting = undefined
      signal.removeEventListener('abort', stop)
    }
    signal.throwIfAborted()
    this.#isRung = false
  }
}

/** Minimum interval between two checks, however many changes occur. */
const restMs = 100

/** Calls `check` now, after each ring of the bell, and at least every `maxMs`, until it returns a value. */
export async function checkUntil<T>(
  session: Session,
  bell: Bell,
  maxMs: () => number,
  check: () => Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const answer = await check()
    if (answer !== undefined) return answer
    const leftMs = Math.max(0, maxMs())
    await waitFor(session.clock, Math.min(restMs, leftMs), session.signal)
    await bell.heard(session, Math.max(0, leftMs - restMs))
  }
}

/** The watches of one command. `stop` ends all of them. */
export class Watches {
  readonly #session: Session
  readonly #bell: Bell
  readonly #informers: SharedInformer[] = []

  constructor(session: Session, bell: Bell) {
    this.#session = session
    this.#bell = bell
  }

  /** Watches objects, and rings the bell when they change. */
  follow<T extends KubeObject>(type: ResourceType<T>, scope: WatchScope): SharedInformer<T> {
    const { client, clock, random } = this.#session
    const informer = new SharedInformer<T>({ transport: client.transport, type, clock, random, ...scope })
    const ring = () => this.#bell.ring()
    informer.addHandler({ add: ring, update: ring, delete: ring })
    this.#informers.push(informer as unknown as SharedInformer)
    informer.start()
    return informer
  }

  /** Resolves when all caches are filled, or after `maxMs`, because some kinds may not be readable. */
  async synced(maxMs: number): Promise<void> {
    const { clock, signal } = this.#session
    const enough = new AbortController()
    const seen = Promise.all(this.#informers.map((informer) => informer.synced(signal))).then(() => enough.abort())
    // The first one cancels the other.
    await Promise.race([seen, waitFor(clock, maxMs, enough.signal).catch(() => {})])
    signal.throwIfAborted()
  }

  stop(): void {
    for (const informer of this.#informers) informer.stop()
  }
}

/** A source of pods and ReplicaSets from watches. Until their caches are filled it returns nothing. */
export function watchedSource(watches: Watches, scope: WatchScope): Source {
  const [allPods, allSets] = [watches.follow(pods, scope), watches.follow(replicasets, scope)]
  const pick = async <T extends KubeObject>(
    informer: SharedInformer<T>,
    namespace: string,
    selector: LabelSelector,
  ): Promise<T[] | undefined> => {
    if (!informer.hasSynced) return undefined
    return informer
      .list()
      .filter(({ metadata }) => metadata.namespace === namespace && labelSelectorMatches(selector, metadata.labels))
  }
  return {
    pods: (namespace, selector) => pick(allPods, namespace, selector),
    replicaSets: (namespace, selector) => pick(allSets, namespace, selector),
  }
}
