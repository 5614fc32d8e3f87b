import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { ConsistencyStore } from './consistency-store.ts'

const web = 'default/web'
const isReady = (store: ConsistencyStore, owner = web, uid?: string) => store.ensureReady(owner, uid).ready

describe('ConsistencyStore', () => {
  it('is ready for an owner that nothing was written for', () => {
    expect(new ConsistencyStore().ensureReady(web)).toEqual({ ready: true })
  })

  it('says what is missing', () => {
    const store = new ConsistencyStore()
    store.bookmark('pods', '9')
    store.wroteAt(web, 'u1', 'pods', '10')
    expect(store.ensureReady(web)).toEqual({ ready: false, resource: 'pods', wanted: '10', seen: '9' })
  })

  it('waits for every resource that was written', () => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u1', 'pods', '10')
    store.wroteAt(web, 'u1', 'replicasets.apps', '11')
    store.bookmark('pods', '12')
    expect(store.ensureReady(web)).toMatchObject({ resource: 'replicasets.apps', seen: '' })
    store.bookmark('replicasets.apps', '11')
    expect(isReady(store)).toBe(true)
  })

  it('does not hold up one owner for the writes of another', () => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u1', 'pods', '10')
    expect(isReady(store, 'default/db')).toBe(true)
    expect(isReady(store, web)).toBe(false)
  })

  it('forgets what is satisfied: an owner costs nothing then', () => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u1', 'pods', '10')
    store.bookmark('pods', '10')
    expect(store.size).toBe(1)
    isReady(store)
    expect(store.size).toBe(0)
  })

  it('does not even remember what was seen before it was told', () => {
    const store = new ConsistencyStore()
    store.bookmark('pods', '10')
    store.wroteAt(web, 'u1', 'pods', '10')
    expect(store.size).toBe(0)
  })

  it('starts clean for an owner that was made anew under the same name', () => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u1', 'pods', '10')
    expect(isReady(store, web, 'u2')).toBe(true)
    store.wroteAt(web, 'u1', 'pods', '10')
    store.wroteAt(web, 'u2', 'replicasets.apps', '11')
    store.bookmark('replicasets.apps', '11')
    expect(isReady(store)).toBe(true)
  })

  it('clear() with a uid spares another owner of that name', () => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u2', 'pods', '10')
    store.clear(web, 'u1')
    expect(isReady(store)).toBe(false)
    store.clear(web)
    expect(isReady(store)).toBe(true)
  })

  test.each(['', 'x', '1x', '-1', '1.5', ' 7', '0x10', '1e3'])('%j is no version: it is refused and blocks nothing', (text) => {
    const store = new ConsistencyStore()
    expect(store.wroteAt(web, 'u1', 'pods', text)).toBe(false)
    expect(isReady(store)).toBe(true)
    store.wroteAt(web, 'u1', 'pods', '5')
    store.bookmark('pods', text)
    expect(store.ensureReady(web)).toMatchObject({ ready: false, seen: '' })
  })

  test.each([
    ['9', '10', false],
    ['10', '9', true],
    ['99999999999999999999999999', '100000000000000000000000000', false],
    ['100000000000000000000000000', '99999999999999999999999999', true],
    ['9007199254740992', '9007199254740993', false],
  ])('a cache at %s and a write at %s: ready is %s', (seen, wrote, ready) => {
    const store = new ConsistencyStore()
    store.wroteAt(web, 'u1', 'pods', wrote)
    store.bookmark('pods', seen)
    expect(isReady(store)).toBe(ready)
  })

  describe('a delete without a version', () => {
    const cache = new Map<string, string>()
    const holding = (...entries: [string, string][]) => {
      cache.clear()
      for (const [key, uid] of entries) cache.set(key, uid)
      return new ConsistencyStore({ cachedUid: (_resource, key) => cache.get(key) })
    }

    it('is waited for until the object is no longer cached', () => {
      const store = holding(['default/web-1', 'p1'])
      store.expectGone(web, 'u1', 'pods', 'default/web-1', 'p1')
      expect(store.ensureReady(web)).toMatchObject({ ready: false, resource: 'pods', wanted: 'default/web-1 gone' })
      cache.clear()
      expect(isReady(store)).toBe(true)
      expect(store.size).toBe(0)
    })

    it('is done when another object has the name', () => {
      const store = holding(['default/web-1', 'p1'])
      store.expectGone(web, 'u1', 'pods', 'default/web-1', 'p1')
      cache.set('default/web-1', 'p2')
      expect(isReady(store)).toBe(true)
    })

    it('is done when it was noticed before the answer came', () => {
      const store = holding()
      store.expectGone(web, 'u1', 'pods', 'default/web-1', 'p1')
      expect(isReady(store)).toBe(true)
    })

    it('is not done while the cache has yet to see the object itself', () => {
      const store = holding()
      store.wroteAt(web, 'u1', 'pods', '10')
      store.expectGone(web, 'u1', 'pods', 'default/web-1', 'p1')
      cache.set('default/web-1', 'p1')
      store.bookmark('pods', '10')
      expect(isReady(store)).toBe(false)
      cache.clear()
      expect(isReady(store)).toBe(true)
    })
  })
})

type Step =
  | { do: 'wrote'; owner: string; uid: string; resource: string; version: bigint }
  | { do: 'seen'; resource: string; version: bigint }
  | { do: 'ask'; owner: string }
  | { do: 'clear'; owner: string; uid: string | undefined }
  | { do: 'delete'; owner: string; uid: string; object: string }
  | { do: 'lose'; object: string }

const owner = fc.constantFrom('a', 'b')
const uid = fc.constantFrom('1', '2')
const resource = fc.constantFrom('pods', 'jobs.batch')
// Numbers around a change of length, far past what a double can hold.
const version = fc.oneof(fc.bigInt(8n, 12n), fc.bigInt(10n ** 24n - 2n, 10n ** 24n + 2n))
const object = fc.constantFrom('x', 'y', 'z')
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('wrote' as const), owner, uid, resource, version }),
  fc.record({ do: fc.constant('seen' as const), resource, version }),
  fc.record({ do: fc.constant('ask' as const), owner }),
  fc.record({ do: fc.constant('clear' as const), owner, uid: fc.option(uid, { nil: undefined }) }),
  fc.record({ do: fc.constant('delete' as const), owner, uid, object }),
  fc.record({ do: fc.constant('lose' as const), object }),
)

/** The same promises, kept by remembering everything. */
class Model {
  writes: { owner: string; uid: string; resource: string; version: bigint }[] = []
  departures: { owner: string; uid: string; object: string }[] = []
  seen: { resource: string; version: bigint }[] = []
  cached = new Set(['x', 'y', 'z'])

  isUnseen = (w: Model['writes'][number]) => !this.seen.some((s) => s.resource === w.resource && s.version >= w.version)

  dropOthers(owner: string, uid: string): void {
    this.writes = this.writes.filter((w) => w.owner !== owner || w.uid === uid)
    this.departures = this.departures.filter((d) => d.owner !== owner || d.uid === uid)
  }

  missing(owner: string): Set<string> {
    const resources = this.writes.filter((w) => w.owner === owner && this.isUnseen(w)).map((w) => w.resource)
    const held = this.departures.some((d) => d.owner === owner && this.cached.has(d.object))
    return new Set([...resources, ...(held ? ['objects'] : [])])
  }
}

it('ConsistencyStore agrees with a model that remembers everything', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model()
      const store = new ConsistencyStore({ cachedUid: (_resource, key) => (model.cached.has(key) ? `uid-${key}` : undefined) })
      for (const s of steps) {
        switch (s.do) {
          case 'wrote':
            // An observed write need not be waited for, so it does not replace an owner either.
            if (model.isUnseen(s)) model.dropOthers(s.owner, s.uid)
            model.writes.push(s)
            store.wroteAt(s.owner, s.uid, s.resource, String(s.version))
            break
          case 'seen':
            model.seen.push(s)
            store.bookmark(s.resource, String(s.version))
            break
          case 'ask': {
            const missing = model.missing(s.owner)
            const answer = store.ensureReady(s.owner)
            expect(answer.ready).toBe(missing.size === 0)
            if (!answer.ready) expect([...missing]).toContain(answer.resource)
            break
          }
          case 'clear':
            model.writes = model.writes.filter((w) => w.owner !== s.owner || (s.uid !== undefined && w.uid !== s.uid))
            model.departures = model.departures.filter((d) => d.owner !== s.owner || (s.uid !== undefined && d.uid !== s.uid))
            store.clear(s.owner, s.uid)
            break
          case 'delete':
            model.dropOthers(s.owner, s.uid)
            model.departures.push(s)
            store.expectGone(s.owner, s.uid, 'objects', s.object, `uid-${s.object}`)
            break
          case 'lose':
            model.cached.delete(s.object)
            store.bookmark('objects', '1')
            break
        }
      }
    }),
    { numRuns: 500 },
  )
})

it('ConsistencyStore.ensureReady() does not look again at objects it has found gone', () => {
  const cached = new Set(Array.from({ length: 1000 }, (_, i) => `p${i}`))
  let looks = 0
  const store = new ConsistencyStore({
    cachedUid: (_resource, key) => {
      looks++
      return cached.has(key) ? key : undefined
    },
  })
  for (const key of cached) store.expectGone(web, 'u1', 'pods', key, key)
  for (const key of cached) {
    cached.delete(key)
    store.ensureReady(web)
  }
  expect(looks).toBeLessThanOrEqual(2000)
  expect(store.size).toBe(0)
})
