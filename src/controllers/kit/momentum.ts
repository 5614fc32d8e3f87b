import { deepEqual } from '../../api/deep-equal.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { keyOf } from '../../client/index.ts'

/** How long it lasts. What made the last one succeed, such as room in a quota, may have changed since. */
const lastsMs = 10_000

interface Reached {
  uid: string | undefined
  kind: string
  template: unknown
  width: number
  atMs: number
}

const templateOf = (owner: KubeObject): unknown => (owner as { spec?: { template?: unknown } }).spec?.template

/** Where the slow start of an owner goes on, if what it did last succeeded just before and it makes the same still. */
export class Momentum {
  readonly #clock: Clock
  /** By the owner's key. */
  readonly #reached = new Map<string, Reached>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  startWidth(owner: KubeObject, kind: string): number {
    const known = this.#reached.get(keyOf(owner))
    if (!known || known.uid !== owner.metadata.uid || known.kind !== kind) return 1
    const agoMs = this.#clock.now() - known.atMs
    // A clock that was set back says nothing of how long ago it was.
    const isRecent = agoMs >= 0 && agoMs <= lastsMs
    return isRecent && deepEqual(known.template, templateOf(owner)) ? known.width : 1
  }

  keep(owner: KubeObject, kind: string, width: number): void {
    this.#reached.set(keyOf(owner), { uid: owner.metadata.uid, kind, template: templateOf(owner), width, atMs: this.#clock.now() })
  }

  forget(key: string): void {
    this.#reached.delete(key)
  }
}
