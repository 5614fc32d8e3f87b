import { deepEqual } from '../../../api/deep-equal.ts'
import type { KubeObject } from '../../../api/object.ts'
import { KeyedHeap } from '../../../base/keyed-heap.ts'
import { type Turns, endlessTurn, everySteps, shortSteps } from '../../../base/turns.ts'
import type { Informers } from '../caches.ts'

/** Defines how a controller reads the objects of an owner, one at a time, and what it counts. */
export interface RosterReader<T extends KubeObject, Member, Tally> {
  /** Identifies everything else that members depend on. If it changes, all members are read again. */
  basis: string
  /** Returns undefined for an object that does not count. */
  read(object: T, nowMs: number): Member | undefined
  empty(): Tally
  add(tally: Tally, key: string, member: Member): void
  remove(tally: Tally, key: string, member: Member): void
  /** The tally as plain data, for audits. */
  sumOf?(tally: Tally): unknown
  /** The time at which a member must be read again although its object does not change. */
  changesAtMs?(member: Member): number | undefined
}

/** The objects of an owner. */
export interface RosterSource<T extends KubeObject> {
  /** All objects of the owner. */
  all(): Iterable<readonly [key: string, object: T]>
  /** The object of a key, if it belongs to the owner. */
  get(key: string): T | undefined
}

/** Thrown by a roster that has more objects to read when the turn is spent. The next call continues. */
export const stillReading = new Error('the objects of the owner have not all been read yet')

const timetable = () => new KeyedHeap<string, { key: string; atMs: number }>((a, b) => a.atMs < b.atMs)

/**
 * The objects of one owner. Each version of an object is read once, so that the cost of a reconcile depends on what has
 * changed, not on the number of objects. Members and tally are read-only for callers.
 */
export class Roster<T extends KubeObject, Member, Tally> {
  readonly #source: RosterSource<T>
  readonly #members = new Map<string, Member>()
  /** The keys of objects that have changed since they were read. */
  readonly #changed = new Set<string>()
  #due = timetable()
  #reader: RosterReader<T, Member, Tally> | undefined
  #tally: Tally | undefined
  #refreshedMs = 0
  /** The objects still to be read after a change of the basis. 10,000 objects need several turns. */
  #unread: { keys: readonly string[]; at: number } | undefined

  constructor(source: RosterSource<T>) {
    this.#source = source
  }

  get members(): ReadonlyMap<string, Member> {
    return this.#members
  }

  get tally(): Tally {
    return this.#tally!
  }

  /** The time at which the next member changes by itself. */
  get changesAtMs(): number | undefined {
    return this.#due.peek()?.atMs
  }

  /** An object of the owner was added, changed or deleted. */
  note(key: string): void {
    if (this.#reader) this.#changed.add(key)
  }

  /** Updates the roster. Throws `stillReading` if that needs another turn. */
  refresh(reader: RosterReader<T, Member, Tally>, nowMs: number, turns: Turns = endlessTurn): this {
    // If the clock was set back, time-dependent members may have changed back.
    const isAnew = this.#reader?.basis !== reader.basis || nowMs < this.#refreshedMs
    // A basis that changes again and again must not prevent progress.
    const slices = isAnew && this.#unread ? endlessTurn : everySteps(shortSteps, turns)
    if (isAnew) this.#begin(reader)
    this.#reader = reader
    this.#refreshedMs = nowMs
    if (this.#unread) this.#readOn(this.#unread, nowMs, slices)
    for (const key of this.#changed) this.#read(key, this.#source.get(key), nowMs)
    for (let next = this.#due.peek(); next && next.atMs <= nowMs; next = this.#due.peek()) {
      this.#read(next.key, this.#source.get(next.key), nowMs)
    }
    this.#changed.clear()
    return this
  }

  #begin(reader: RosterReader<T, Member, Tally>): void {
    this.#tally = reader.empty()
    this.#members.clear()
    this.#changed.clear()
    this.#due = timetable()
    this.#unread = { keys: Array.from(this.#source.all(), ([key]) => key), at: 0 }
  }

  #readOn(unread: { keys: readonly string[]; at: number }, nowMs: number, slices: Turns): void {
    while (unread.at < unread.keys.length) {
      const key = unread.keys[unread.at++]!
      this.#read(key, this.#source.get(key), nowMs)
      if (slices.isSpent) throw stillReading
    }
    this.#unread = undefined
  }

  #read(key: string, object: T | undefined, nowMs: number): void {
    const reader = this.#reader!
    const before = this.#members.get(key)
    const after = object && reader.read(object, nowMs)
    if (before) reader.remove(this.tally, key, before)
    if (after) {
      this.#members.set(key, after)
      reader.add(this.tally, key, after)
    } else this.#members.delete(key)
    const atMs = after && reader.changesAtMs?.(after)
    if (atMs !== undefined && atMs > nowMs) this.#due.set(key, { key, atMs })
    else this.#due.delete(key)
  }
}

/** Called if a roster differs from its objects. For tests. */
export type Audit = (problem: Error) => void

/** The rosters of a controller. Each is kept while the reconciles of a key request it. */
export class Rosters<T extends KubeObject> {
  readonly #sourceOf: (ownerUid: string) => RosterSource<T>
  readonly #audit: Audit | undefined
  /** By the UID of the owner. */
  readonly #rosters = new Map<string, Roster<T, any, any>>()
  /** By reconciled key: the UIDs of the owners whose rosters were used last. */
  readonly #used = new Map<string, Set<string>>()

  /** With `audit`, each roster is built from scratch as well, and must be equal. */
  constructor(sourceOf: (ownerUid: string) => RosterSource<T>, audit?: Audit) {
    this.#sourceOf = sourceOf
    this.#audit = audit
  }

  /** An object of this owner was added, changed or deleted. */
  note(ownerUid: string, key: string): void {
    this.#rosters.get(ownerUid)?.note(key)
  }

  /** An object that concerns all owners was added, changed or deleted. */
  noteAll(key: string): void {
    for (const roster of this.#rosters.values()) roster.note(key)
  }

  /**
   * Provides the rosters of one reconcile of a key. `end` drops those that it did not request. A reconcile that
   * continues in another turn calls `pause` instead.
   */
  forReconcile(key: string, turns?: Turns): RosterOf<T> & { end(): void; pause(): void } {
    const before = this.#used.get(key)
    const used = new Set<string>()
    const of: RosterOf<T> = (ownerUid, reader, nowMs) => {
      used.add(ownerUid)
      let roster = this.#rosters.get(ownerUid)
      if (!roster) this.#rosters.set(ownerUid, (roster = new Roster(this.#sourceOf(ownerUid))))
      roster.refresh(reader, nowMs, turns)
      if (this.#audit) this.#compare(ownerUid, roster, reader, nowMs)
      return roster
    }
    const end = () => {
      for (const uid of before ?? []) if (!used.has(uid)) this.#rosters.delete(uid)
      if (used.size > 0) this.#used.set(key, used)
      else this.#used.delete(key)
    }
    const pause = () => void this.#used.set(key, new Set([...(before ?? []), ...used]))
    return Object.assign(of, { end, pause })
  }

  /** The number of members in the rosters of a key's last reconcile. */
  membersOf(key: string): number {
    let members = 0
    for (const uid of this.#used.get(key) ?? []) members += this.#rosters.get(uid)?.members.size ?? 0
    return members
  }

  /** Drops the rosters of a key whose owner is deleted. */
  forget(key: string): void {
    this.forReconcile(key).end()
  }

  #compare(ownerUid: string, kept: Roster<T, any, any>, reader: RosterReader<T, any, any>, nowMs: number): void {
    const anew = new Roster(this.#sourceOf(ownerUid)).refresh(reader, nowMs)
    const seen = (roster: Roster<T, any, any>) => [...roster.members].sort(([a], [b]) => (a < b ? -1 : 1))
    if (deepEqual(seen(kept), seen(anew)) && deepEqual(reader.sumOf?.(kept.tally), reader.sumOf?.(anew.tally))) return
    this.#audit!(new Error(`the roster of ${ownerUid} differs from its objects: ${problemOf(kept, anew)}`))
  }
}

/** Returns the roster of an owner. */
export type RosterOf<T extends KubeObject = KubeObject> = <Member, Tally>(
  ownerUid: string,
  reader: RosterReader<T, Member, Tally>,
  nowMs: number,
) => Roster<T, Member, Tally>

function problemOf(kept: Roster<any, unknown, unknown>, anew: Roster<any, unknown, unknown>): string {
  for (const [key, member] of kept.members) if (!deepEqual(member, anew.members.get(key))) return `${key} has changed`
  for (const key of anew.members.keys()) if (!kept.members.has(key)) return `${key} is missing`
  return 'its tally differs'
}

/** Reports that the object of a key may have changed, in the roster of one owner or in all rosters. */
type Note = (key: string, ownerUid?: string) => void

/** Defines the objects and the events of a controller's rosters. */
export interface RosterKind {
  sourceOf(informers: Informers, ownerUid: string): RosterSource<KubeObject>
  /** Starts to report changes. Returns functions that end it. */
  follow(informers: Informers, note: Note): (() => void)[]
}
