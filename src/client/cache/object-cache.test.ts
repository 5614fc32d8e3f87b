import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import type { ChangeType } from '../watcher/index.ts'
import { type CacheChange, ObjectCache } from './object-cache.ts'

const object = (name: string, resourceVersion: number, uid = `uid-${name}`): KubeObject => ({ metadata: { namespace: 'n', name, uid, resourceVersion: String(resourceVersion) } })
const shown = ({ metadata }: KubeObject) => `${metadata.name}@${metadata.resourceVersion}`

const told = (change: CacheChange<KubeObject>): string =>
  change.kind === 'update' ? `update ${shown(change.old)} to ${shown(change.object)}` : `${change.kind} ${shown(change.object)}${change.kind === 'delete' && !change.isFinal ? ', missed' : ''}`

const cacheOf = () =>
  new ObjectCache<KubeObject>((_, e) => {
    throw e
  })

type Step = [ChangeType, KubeObject] | 'bookmark' | KubeObject[]

/** Applies a series of events, bookmarks and lists to a cache. */
function play(steps: Step[]): { changes: string[]; left: string[] } {
  const cache = cacheOf()
  const changes: string[] = []
  for (const step of steps) {
    if (step === 'bookmark') cache.bookmark()
    else if (typeof step[0] === 'string') changes.push(...cache.apply(...(step as [ChangeType, KubeObject])).map(told))
    else changes.push(...cache.replace(new Map((step as KubeObject[]).map((o) => [`n/${o.metadata.name}`, o]))).map(told))
  }
  return { changes, left: [...cache.all.values()].map(shown) }
}

describe('ObjectCache', () => {
  const rows: [what: string, steps: Step[], changes: string[], left: string[]][] = [
    ['takes events in order', [['ADDED', object('a', 1)], ['MODIFIED', object('a', 2)], ['DELETED', object('a', 3)]], ['add a@1', 'update a@1 to a@2', 'delete a@3'], []],
    ['passes over an event that it has had', [['ADDED', object('a', 1)], ['ADDED', object('a', 1)]], ['add a@1'], ['a@1']],
    ['passes over an event that is older than what it has', [['ADDED', object('a', 5)], ['MODIFIED', object('a', 4)]], ['add a@5'], ['a@5']],
    ['compares versions as numbers', [['ADDED', object('a', 9)], ['MODIFIED', object('a', 10)]], ['add a@9', 'update a@9 to a@10'], ['a@10']],
    ['takes events of different objects in any order', [['ADDED', object('a', 6)], ['ADDED', object('b', 5)]], ['add a@6', 'add b@5'], ['a@6', 'b@5']],
    ['does not bring back what is gone', [['ADDED', object('a', 1)], ['DELETED', object('a', 3)], ['MODIFIED', object('a', 2)]], ['add a@1', 'delete a@3'], []],
    ['nor after one bookmark', [['ADDED', object('a', 1)], ['DELETED', object('a', 3)], 'bookmark', ['MODIFIED', object('a', 2)]], ['add a@1', 'delete a@3'], []],
    ['takes what is made anew', [['ADDED', object('a', 1)], ['DELETED', object('a', 3)], ['ADDED', object('a', 4, 'other')]], ['add a@1', 'delete a@3', 'add a@4'], ['a@4']],
    ['passes over the deletion of what it does not know', [['DELETED', object('a', 3)]], [], []],
    ['but remembers it', [['DELETED', object('a', 3)], ['ADDED', object('a', 2)]], [], []],
    ['tells of another object under the same name as of two', [['ADDED', object('a', 1)], ['MODIFIED', object('a', 5, 'other')]], ['add a@1', 'delete a@1, missed', 'add a@5'], ['a@5']],
    ['tells how a list differs', [[object('a', 1), object('b', 2), object('c', 3)], [object('b', 2), object('c', 5), object('d', 4)]],
      ['add a@1', 'add b@2', 'add c@3', 'delete a@1, missed', 'update c@3 to c@5', 'add d@4'], ['b@2', 'c@5', 'd@4']],
    ['keeps what is newer than the same in a list', [['ADDED', object('a', 5)], [object('a', 4)]], ['add a@5'], ['a@5']],
  ]
  test.each(rows)('%s', (_, steps, changes, left) => {
    expect(play(steps)).toEqual({ changes, left })
  })

  test('forgets what went long ago', () => {
    const steps: Step[] = [['DELETED', object('a', 3)], 'bookmark', 'bookmark', ['ADDED', object('a', 2)]]
    expect(play(steps).changes).toEqual(['add a@2'])
  })
})

describe('ObjectCache shares parts that have not changed', () => {
  type Full = KubeObject & { spec: { a: number[] }; status?: object | null }
  const full = (version: number, a = [1]): Full => ({ ...object('a', version), metadata: { ...object('a', version).metadata, labels: { x: 'y' } }, spec: { a }, status: null })
  const after = (...versions: Full[]): Full => {
    const cache = cacheOf()
    for (const version of versions) cache.apply('MODIFIED', version)
    return cache.all.get('n/a') as Full
  }

  test('of the object and of its metadata, with the version before', () => {
    const [first, second] = [full(1), full(2)]
    const kept = after(first, second)
    expect(kept).toBe(second)
    expect(kept).toEqual(full(2))
    expect(kept.spec).toBe(first.spec)
    expect(kept.metadata.labels).toBe(first.metadata.labels)
    expect(kept.metadata.resourceVersion).toBe('2')
  })

  test('and takes those that have', () => {
    const second = full(2, [1, 2])
    expect(after(full(1), second).spec).toEqual({ a: [1, 2] })
    expect(after(full(1), { ...second, status: { b: 1 } }).status).toEqual({ b: 1 })
  })

  test('but leaves an object alone that is frozen', () => {
    const [first, second] = [full(1), Object.freeze(full(2))]
    expect(after(first, second).spec).not.toBe(first.spec)
  })
})

describe('ObjectCache.indexes', () => {
  const labelled = (name: string, version: number, ...values: string[]) => {
    const o = object(name, version)
    return { ...o, metadata: { ...o.metadata, labels: Object.fromEntries(values.map((v) => [v, ''])) } }
  }
  const byLabel = (o: KubeObject) => Object.keys(o.metadata.labels ?? {})

  test('find objects by their values through adds, updates and deletes', () => {
    const cache = cacheOf()
    cache.indexes.add('label', byLabel)
    const found = (value: string) => cache.indexes.get('label', value).map(shown)
    cache.apply('ADDED', labelled('a', 1, 'x', 'y'))
    cache.apply('ADDED', labelled('b', 2, 'x'))
    expect([found('x'), found('y'), found('z')]).toEqual([['a@1', 'b@2'], ['a@1'], []])
    cache.apply('MODIFIED', labelled('a', 3, 'y', 'z'))
    expect([found('x'), found('y'), found('z')]).toEqual([['b@2'], ['a@3'], ['a@3']])
    cache.apply('DELETED', labelled('a', 4, 'y', 'z'))
    expect([found('x'), found('y'), found('z')]).toEqual([['b@2'], [], []])
    cache.replace(new Map([['n/c', labelled('c', 9, 'z')]]))
    expect([found('x'), found('y'), found('z')]).toEqual([[], [], ['c@9']])
  })

  test('find an object as it is now, also where its values have not changed', () => {
    const cache = cacheOf()
    cache.indexes.add('label', byLabel)
    for (const version of [1, 2, 3]) cache.apply('MODIFIED', labelled('a', version, 'x', 'y'))
    expect([cache.indexes.get('label', 'x').map(shown), cache.indexes.get('label', 'y').map(shown)]).toEqual([['a@3'], ['a@3']])
  })

  test('take in what was there before them', () => {
    const cache = cacheOf()
    cache.apply('ADDED', labelled('a', 1, 'x'))
    cache.indexes.add('label', byLabel)
    expect(cache.indexes.get('label', 'x').map(shown)).toEqual(['a@1'])
  })

  test('have one function each', () => {
    const cache = cacheOf()
    cache.indexes.add('label', byLabel)
    cache.indexes.add('label', byLabel)
    expect(() => cache.indexes.add('label', () => [])).toThrow('index "label" already exists')
    expect(() => cache.indexes.get('owner', 'x')).toThrow('index "owner" does not exist')
  })

  test('leave out an object for which their function throws', () => {
    const errors: string[] = []
    const cache = new ObjectCache<KubeObject>((index, e) => errors.push(`${index}: ${(e as Error).message}`))
    cache.indexes.add('bad', () => { throw new Error('no') })
    cache.apply('ADDED', object('a', 1))
    expect(errors).toEqual(['bad: no'])
    expect(cache.all.size).toBe(1)
  })
})
