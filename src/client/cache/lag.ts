import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Clock } from '../../base/clock.ts'
import type { InformerLag } from './informer.ts'

/** The maximum lag of a cache before readiness fails. */
export interface LagLimits {
  unseenWriteSeconds: number
  silentSeconds: number
}

/** A write is normally seen within milliseconds, and a server sends a bookmark every minute. */
export const defaultLagLimits: LagLimits = { unseenWriteSeconds: 10, silentSeconds: 150 }

/** Maximum number of noted writes; only the oldest matters. */
const maxNoted = 10_000

interface Noted {
  resourceVersion: string
  atMs: number
}

/** Measures the lag of a cache by the writes that it should have seen and by the time without any message. */
export class LagMeter implements InformerLag {
  readonly #name: string
  readonly #clock: Clock
  readonly #limits: LagLimits
  /** Noted writes in order; the first one has not been seen. */
  #unseen: Noted[] = []
  #seen = ''
  #heardAtMs: number
  /** Time at which the server last accepted a watch, if that counts as a sign of life. */
  #openedAtMs = Number.NEGATIVE_INFINITY
  /** True once the server has sent a bookmark: two consecutive silent watches are then a fault. */
  #sendsBookmarks = false
  #isSynced = false

  constructor(name: string, clock: Clock, limits: LagLimits) {
    this.#name = name
    this.#clock = clock
    this.#limits = limits
    this.#heardAtMs = clock.now()
  }

  /** Records a write that the cache will receive. A value that is not a resource version is ignored. */
  noteWrite(resourceVersion: string): void {
    if (this.#unseen.length >= maxNoted || !/^[0-9]+$/.test(resourceVersion) || this.#isSeen(resourceVersion)) return
    this.#unseen.push({ resourceVersion, atMs: this.#clock.now() })
  }

  /** Records a message: the cache is complete up to this version. */
  heard(seen: string, isBookmark = false): void {
    this.#seen = seen
    this.#sendsBookmarks ||= isBookmark
    this.#isSynced = true
    this.#heardAtMs = this.#clock.now()
    if (this.#unseen.length === 0) return
    const first = this.#unseen.findIndex((write) => !this.#isSeen(write.resourceVersion))
    this.#unseen.splice(0, first < 0 ? this.#unseen.length : first)
  }

  /**
   * The server has accepted a watch from the last seen version, so the cache misses nothing. If nothing changes and no
   * bookmarks are sent, this is the only sign of life: a silent watch is replaced after 120 s. A server that has sent
   * bookmarks may stay silent for one watch.
   */
  opened(): void {
    if (!this.#sendsBookmarks || this.#openedAtMs < this.#heardAtMs) this.#openedAtMs = this.#clock.now()
  }

  unseenWriteSeconds(): number {
    const oldest = this.#unseen[0]
    return oldest ? (this.#clock.now() - oldest.atMs) / 1000 : 0
  }

  silentSeconds(): number {
    return (this.#clock.now() - this.#heardAtMs) / 1000
  }

  problem(): string | undefined {
    if (!this.#isSynced) return `informer ${this.#name} has not completed its first list`
    const unseen = this.unseenWriteSeconds()
    if (unseen > this.#limits.unseenWriteSeconds)
      return `informer ${this.#name} has not seen a write of ${Math.round(unseen)} s ago`
    const silent = Math.min(this.silentSeconds(), (this.#clock.now() - this.#openedAtMs) / 1000)
    if (silent > this.#limits.silentSeconds)
      return `informer ${this.#name} has heard nothing for ${Math.round(silent)} s`
    return undefined
  }

  #isSeen(resourceVersion: string): boolean {
    return this.#seen !== '' && compareResourceVersions(resourceVersion, this.#seen) <= 0
  }
}
