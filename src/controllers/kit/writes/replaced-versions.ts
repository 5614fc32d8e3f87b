import { isNotFound } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import { compareResourceVersions } from '../../../api/resource-version.ts'

/** The limit of entries. Without an entry, a repeated write is rejected anyway, because it names its version. */
const mostRemembered = 10_000

/**
 * The object versions that this process's own writes have replaced, by UID. Each write of a free controller names the
 * version that it is based on. After a success that version is outdated, and a cache that has it is behind.
 */
export class ReplacedVersions {
  readonly #replaced = new Map<string, string>()

  /** The number of written objects whose new version the caches have not shown yet. */
  get size(): number {
    return this.#replaced.size
  }

  /**
   * Sends a write that changes or deletes this version. It is recorded before the response, because the watch may be
   * faster.
   */
  async write<T>({ metadata: { uid = '', resourceVersion = '' } }: KubeObject, send: () => Promise<T>): Promise<T> {
    const before = this.#replaced.get(uid)
    this.#set(uid, resourceVersion)
    try {
      return await send()
    } catch (e) {
      // A deleted object is not written again. After any other failure the object may be unchanged.
      if (!isNotFound(e) && this.#replaced.get(uid) === resourceVersion) this.#set(uid, before)
      throw e
    }
  }

  /** Reports whether the cache that contains this object is behind. Nothing may be decided from it. */
  has({ metadata: { uid = '', resourceVersion = '' } }: KubeObject): boolean {
    const replaced = this.#replaced.get(uid)
    return replaced !== undefined && compareResourceVersions(resourceVersion, replaced) <= 0
  }

  /** The cache contains this version of an object now. */
  saw(object: KubeObject): void {
    if (this.#replaced.size > 0 && !this.has(object)) this.gone(object)
  }

  /** The cache no longer contains the object. */
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
