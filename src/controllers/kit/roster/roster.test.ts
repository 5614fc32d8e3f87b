import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import type { Turns } from '../../../base/turns.ts'
import { Roster, type RosterReader, Rosters, stillReading } from './roster.ts'

interface Thing extends KubeObject {
  size: number
  growsAtMs?: number
}

const thing = (name: string, size: number, growsAtMs?: number): Thing => ({ metadata: { name }, size, ...(growsAtMs === undefined ? {} : { growsAtMs }) })

/** Counts sizes. A thing that grows is twice as large from its time on; one without a size does not count. */
const reader = (basis = 'a', factor = 1): RosterReader<Thing, { size: number; growsAtMs: number | undefined }, { sum: number }> & { reads: string[] } => {
  const reads: string[] = []
  return {
    reads,
    basis,
    read({ metadata, size, growsAtMs }, nowMs) {
      reads.push(metadata.name!)
      const hasGrown = growsAtMs !== undefined && growsAtMs <= nowMs
      return size === 0 ? undefined : { size: size * factor * (hasGrown ? 2 : 1), growsAtMs: hasGrown ? undefined : growsAtMs }
    },
    empty: () => ({ sum: 0 }),
    add: (tally, _, { size }) => void (tally.sum += size),
    remove: (tally, _, { size }) => void (tally.sum -= size),
    sumOf: ({ sum }) => sum,
    changesAtMs: ({ growsAtMs }) => growsAtMs,
  }
}

const source = (things: Map<string, Thing>) => ({ all: () => things, get: (key: string) => things.get(key) })

describe('Roster', () => {
  it('reads only what has changed', () => {
    const things = new Map(['a', 'b', 'c'].map((name, i) => [name, thing(name, i + 1)]))
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(things))
    const r = reader()
    expect(roster.refresh(r, 0).tally.sum).toBe(6)
    things.set('b', thing('b', 20))
    roster.note('b')
    things.delete('a')
    roster.note('a')
    expect(roster.refresh(r, 1).tally.sum).toBe(23)
    expect(r.reads).toEqual(['a', 'b', 'c', 'b'])
    expect([...roster.members.keys()]).toEqual(['b', 'c'])
  })

  it('reads a member again at its time, and tells when that is', () => {
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(new Map([['a', thing('a', 1, 100)], ['b', thing('b', 1)]])))
    const r = reader()
    expect([roster.refresh(r, 0).tally.sum, roster.changesAtMs]).toEqual([2, 100])
    expect([roster.refresh(r, 99).tally.sum, roster.changesAtMs]).toEqual([2, 100])
    expect([roster.refresh(r, 100).tally.sum, roster.changesAtMs]).toEqual([3, undefined])
    expect(r.reads).toEqual(['a', 'b', 'a'])
  })

  it('reads all anew under another basis, and when the clock was set back', () => {
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(new Map([['a', thing('a', 1, 100)]])))
    expect(roster.refresh(reader(), 200).tally.sum).toBe(2)
    expect(roster.refresh(reader('b', 10), 200).tally.sum).toBe(20)
    expect(roster.refresh(reader('b', 10), 50).tally.sum).toBe(10)
  })
})

describe('Rosters', () => {
  it('keeps a roster while the reconciles of a key ask for it', () => {
    const things = new Map([['a', thing('a', 1)]])
    const rosters = new Rosters<Thing>(() => source(things))
    const r = reader()
    const reconcile = (...uids: string[]) => {
      const of = rosters.forReconcile('key')
      for (const uid of uids) of(uid, r, 0)
      of.end()
    }
    reconcile('x', 'y')
    reconcile('x')
    expect(r.reads).toHaveLength(2)
    reconcile('x', 'y')
    expect(r.reads).toHaveLength(3)
    rosters.forget('key')
    reconcile('x')
    expect(r.reads).toHaveLength(4)
  })

  it('tells its audit of a change that it was not told of', () => {
    const things = new Map([['a', thing('a', 1)], ['b', thing('b', 1)]])
    const problems: string[] = []
    const rosters = new Rosters<Thing>(() => source(things), ({ message }) => problems.push(message))
    const look = () => rosters.forReconcile('key')('x', reader(), 0)
    look()
    things.set('a', thing('a', 2))
    rosters.note('x', 'a')
    look()
    expect(problems).toEqual([])
    things.set('b', thing('b', 3))
    look()
    expect(problems).toEqual(['the roster of x differs from its objects: b has changed'])
  })
})

describe('A roster of very many objects', () => {
  const spent: Turns = { isSpent: true, next: () => Promise.resolve() }
  const many = (count: number) => new Map<string, Thing>(Array.from({ length: count }, (_, i) => [`t${i}`, thing(`t${i}`, 1)]))

  /** Refreshes as a reconcile does, and answers how many turns that took. */
  function refreshInTurns(roster: Roster<Thing, { size: number }, { sum: number }>, r: ReturnType<typeof reader>, between = (_: number) => {}): number {
    for (let turn = 1; turn < 100; turn++) {
      try {
        roster.refresh(r, turn, spent)
        return turn
      } catch (e) {
        if (e !== stillReading) throw e
      }
      between(turn)
    }
    throw new Error('it never ends')
  }

  it('is read in several turns, each object once', () => {
    const things = many(100)
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(things))
    const r = reader()
    expect(refreshInTurns(roster, r)).toBeGreaterThan(3)
    expect([roster.tally.sum, r.reads.length]).toEqual([100, 100])
  })

  it('has what comes, changes and goes between the turns, read and unread', () => {
    const things = many(100)
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(things))
    const change = (name: string, size: number | undefined) => {
      if (size === undefined) things.delete(name)
      else things.set(name, thing(name, size))
      roster.note(name)
    }
    refreshInTurns(roster, reader(), (turn) => {
      if (turn !== 1) return
      change('t0', 10)
      change('t1', undefined)
      change('t90', 10)
      change('t91', undefined)
      change('new', 100)
    })
    expect([roster.tally.sum, roster.members.size]).toEqual([96 + 20 + 100, 99])
  })

  it('is read at once when its basis changes while it is read, so that it comes to an end', () => {
    const things = many(100)
    const roster = new Roster<Thing, { size: number }, { sum: number }>(source(things))
    expect(() => roster.refresh(reader('a'), 0, spent)).toThrow(stillReading)
    expect(roster.refresh(reader('b', 2), 1, spent).tally.sum).toBe(200)
  })

  it('keeps what it has read until the reconcile goes on, and is forgotten with its key', () => {
    const [first, second] = [many(20), many(100)]
    const rosters = new Rosters<Thing>((uid) => source(uid === 'first' ? first : second))
    const reads = { first: reader(), second: reader() }
    const look = () => {
      const roster = rosters.forReconcile('key', spent)
      try {
        roster('first', reads.first, 0)
        roster('second', reads.second, 0)
        roster.end()
        return true
      } catch {
        roster.pause()
        return false
      }
    }
    let turns = 1
    while (!look() && turns < 100) turns++
    expect([reads.first.reads.length, reads.second.reads.length, rosters.membersOf('key')]).toEqual([20, 100, 120])
    rosters.forget('key')
    expect(rosters.membersOf('key')).toBe(0)
  })
})
