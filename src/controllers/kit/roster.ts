import { deepEqual } from '../../api/deep-equal.ts'
import type { KubeObject } from '../../api/object.ts'
import { KeyedHeap } from '../../base/keyed-heap.ts'
import { type Turns, endlessTurn, everySteps, shortSteps } from '../../base/turns.ts'

/** How a controller reads the objects of an owner, one at a time, and what it counts of them. */
export interface RosterReader<T extends KubeObject, Member, Tally> {
  /** Says what members are read by, besides the object itself. Under another basis all of them are read anew. */
  basis: string
  /** Undefined for an object that does not count at all. */
  read(object: T, nowMs: number): Member | undefined
  empty(): Tally
  add(tally: Tally, key: string, member: Member): void
  remove(tally: Tally, key: string, member: Member): void
  /** A tally as plain data, for audits. */
  sumOf?(tally: Tally): unknown
  /** The time at which a member has to be read again, though its object does not change. */
  changesAtMs?(member: Member): number | undefined
}

/** Where a roster finds the objects of its owner. */
export interface RosterSource<T extends KubeObject> {
  /** All of them. */
  all(): Iterable<readonly [key: string, object: T]>
  /** The object of a key, if it is the owner's. */
  get(key: string): T | undefined
}

/** Thrown by a roster that is not through with its objects when the turn is spent. Asked again in another, it goes on. */
export const stillReading = new Error('the objects of the owner have not all been read yet')

const timetable = () => new KeyedHeap<string, { key: string; atMs: number }>((a, b) => a.atMs < b.atMs)

/**
 * The objects of one owner, each read once for each of its versions: a reconcile costs what has changed, and not what
 * there is. Members and tally are for reading only.
 */
export class Roster<T extends KubeObject, Member, Tally> {
  readonly #source: RosterSource<T>
  readonly #members = new Map<string, Member>()
  /** Keys of objects that have changed since they were read. */
  readonly #changed = new Set<string>()
  #due = timetable()
  #reader: RosterReader<T, Member, Tally> | undefined
  #tally: Tally | undefined
  #refreshedMs = 0
  /** What is left to be read under a new basis: of 10,000 objects it takes several turns. */
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

  /** An object of the owner has come, changed or gone. */
  note(key: string): void {
    if (this.#reader) this.#changed.add(key)
  }

  /** Brings the roster up to date. Throws `stillReading` where that needs another turn. */
  refresh(reader: RosterReader<T, Member, Tally>, nowMs: number, turns: Turns = endlessTurn): this {
    // If the clock was set back, a member may not be any more what it had become by itself.
    const isAnew = this.#reader?.basis !== reader.basis || nowMs < this.#refreshedMs
    // A basis that never stays for long must not keep it reading for ever.
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

/** Hears of a roster that is not what its objects say: for tests. */
export type Audit = (problem: Error) => void

/** The rosters of a controller. Each is kept for as long as the reconciles of one key ask for it. */
export class Rosters<T extends KubeObject> {
  readonly #sourceOf: (ownerUid: string) => RosterSource<T>
  readonly #audit: Audit | undefined
  /** By the uid of the owner. */
  readonly #rosters = new Map<string, Roster<T, any, any>>()
  /** By the key that is reconciled: the uids of the owners whose rosters it used last. */
  readonly #used = new Map<string, Set<string>>()

  /** With `audit`, each roster is also made from scratch, and must come out the same. */
  constructor(sourceOf: (ownerUid: string) => RosterSource<T>, audit?: Audit) {
    this.#sourceOf = sourceOf
    this.#audit = audit
  }

  /** An object of this owner has come, changed or gone. */
  note(ownerUid: string, key: string): void {
    this.#rosters.get(ownerUid)?.note(key)
  }

  /** An object that all owners have to do with has come, changed or gone. */
  noteAll(key: string): void {
    for (const roster of this.#rosters.values()) roster.note(key)
  }

  /**
   * Gives the rosters for one reconcile of a key. At its `end`, those that it did not ask for are forgotten; one that
   * broke off, since it has to go on in another turn, takes a `pause` instead.
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

  /** How many members the rosters have that the last reconcile of a key asked for. */
  membersOf(key: string): number {
    let members = 0
    for (const uid of this.#used.get(key) ?? []) members += this.#rosters.get(uid)?.members.size ?? 0
    return members
  }

  /** The key is gone, and with it what was kept for it. */
  forget(key: string): void {
    this.forReconcile(key).end()
  }

  #compare(ownerUid: string, kept: Roster<T, any, any>, reader: RosterReader<T, any, any>, nowMs: number): void {
    const anew = new Roster(this.#sourceOf(ownerUid)).refresh(reader, nowMs)
    const seen = (roster: Roster<T, any, any>) => [...roster.members].sort(([a], [b]) => (a < b ? -1 : 1))
    if (deepEqual(seen(kept), seen(anew)) && deepEqual(reader.sumOf?.(kept.tally), reader.sumOf?.(anew.tally))) return
    this.#audit!(new Error(`the roster of ${ownerUid} is not what its objects say: ${problemOf(kept, anew)}`))
  }
}

/** Asks for the roster of an owner. */
export type RosterOf<T extends KubeObject = KubeObject> = <Member, Tally>(
  ownerUid: string, reader: RosterReader<T, Member, Tally>, nowMs: number,
) => Roster<T, Member, Tally>

function problemOf(kept: Roster<any, unknown, unknown>, anew: Roster<any, unknown, unknown>): string {
  for (const [key, member] of kept.members) if (!deepEqual(member, anew.members.get(key))) return `${key} has changed`
  for (const key of anew.members.keys()) if (!kept.members.has(key)) return `${key} is missing`
  return 'its tally is another'
}
