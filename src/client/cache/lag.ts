import { compareResourceVersions } from '../../api/resource-version.ts'
import type { Clock } from '../../base/clock.ts'
import type { InformerLag } from '../informer.ts'

/** How far a cache may be behind before readiness fails. */
export interface LagLimits {
  unseenWriteSeconds: number
  silentSeconds: number
}

/** A write is seen in milliseconds; a server says something every minute. */
export const defaultLagLimits: LagLimits = { unseenWriteSeconds: 10, silentSeconds: 150 }

/** More writes than this are not remembered at a time: the oldest is what counts. */
const maxNoted = 10_000

interface Noted {
  resourceVersion: string
  atMs: number
}

/** Measures how far a cache is behind: by writes it should have seen, and by how long it has heard nothing. */
export class LagMeter implements InformerLag {
  readonly #name: string
  readonly #clock: Clock
  readonly #limits: LagLimits
  /** Writes in the order in which they were noted, so that the first is the oldest. The first has not been seen. */
  #unseen: Noted[] = []
  #seen = ''
  #heardAtMs: number
  /** When the server last accepted a watch, as far as that is a sign of life. */
  #openedAtMs = Number.NEGATIVE_INFINITY
  /** Whether the server is known to send bookmarks: then two silent watches in a row are a fault. */
  #sendsBookmarks = false
  #isSynced = false

  constructor(name: string, clock: Clock, limits: LagLimits) {
    this.#name = name
    this.#clock = clock
    this.#limits = limits
    this.#heardAtMs = clock.now()
  }

  /** Somebody has written what the cache will be told of. What is no resource version is passed over. */
  noteWrite(resourceVersion: string): void {
    if (this.#unseen.length >= maxNoted || !/^[0-9]+$/.test(resourceVersion) || this.#isSeen(resourceVersion)) return
    this.#unseen.push({ resourceVersion, atMs: this.#clock.now() })
  }

  /** Something was heard: everything up to here has been seen. */
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
   * The server has accepted a watch from what has been seen: whatever came after that would be told. Where nothing
   * happens and no bookmarks are sent, that is the only sign of life: a silent watch is replaced after 120 s. A server
   * that has sent bookmarks is given one watch to go on with that.
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
    if (!this.#isSynced) return `informer ${this.#name} has not listed what there is`
    const unseen = this.unseenWriteSeconds()
    if (unseen > this.#limits.unseenWriteSeconds) return `informer ${this.#name} has not seen a write of ${Math.round(unseen)} s ago`
    const silent = Math.min(this.silentSeconds(), (this.#clock.now() - this.#openedAtMs) / 1000)
    if (silent > this.#limits.silentSeconds) return `informer ${this.#name} has heard nothing for ${Math.round(silent)} s`
    return undefined
  }

  #isSeen(resourceVersion: string): boolean {
    return this.#seen !== '' && compareResourceVersions(resourceVersion, this.#seen) <= 0
  }
}
