import { isNotFound } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'

/** More are not remembered at a time: a repeated write is refused anyway, as it names its version. */
const mostRemembered = 10_000

/**
 * The versions of objects that this process's own writes have replaced, by uid. Each write of a free controller names
 * the version that it is meant for. So a success says: this version is over, and a cache that has it is behind.
 */
export class ReplacedVersions {
  readonly #replaced = new Map<string, string>()

  /** How many objects have been written that the caches have not been seen to have. */
  get size(): number {
    return this.#replaced.size
  }

  /** Sends a write that changes or removes this very version. It counts before its answer: the watch may be faster. */
  async write<T>({ metadata: { uid = '', resourceVersion = '' } }: KubeObject, send: () => Promise<T>): Promise<T> {
    const before = this.#replaced.get(uid)
    this.#set(uid, resourceVersion)
    try {
      return await send()
    } catch (e) {
      // What is gone is not written again. After any other failure the object may be what it was.
      if (!isNotFound(e) && this.#replaced.get(uid) === resourceVersion) this.#set(uid, before)
      throw e
    }
  }

  /** Whether the cache that has this object is behind: nothing may be decided from it. */
  has({ metadata: { uid = '', resourceVersion = '' } }: KubeObject): boolean {
    const replaced = this.#replaced.get(uid)
    return replaced !== undefined && compareResourceVersions(resourceVersion, replaced) <= 0
  }

  /** The cache has this version of an object now. */
  saw(object: KubeObject): void {
    if (this.#replaced.size > 0 && !this.has(object)) this.gone(object)
  }

  /** The cache has lost the object. */
  gone({ metadata: { uid = '' } }: KubeObject): void {
    this.#replaced.delete(uid)
  }

  #set(uid: string, resourceVersion: string | undefined): void {
    this.#replaced.delete(uid)
    if (!resourceVersion) return
    if (this.#replaced.size >= mostRemembered) this.#replaced.delete(this.#replaced.keys().next().value!)
    this.#replaced.set(uid, resourceVersion)
  }
}
