import { beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { type Store, openMemoryStore } from '../../store/index.ts'
import { ObjectStore } from './object-store.ts'
import { type Registered, Registry } from '../registry/registry.ts'
import { defineResource } from '../registry/resource.ts'
import { parseObject } from './stored-object.ts'
import { subdomainName } from '../../api/validation/names.ts'

const plain = { version: 'v1', nameRule: subdomainName, validate: () => [], validateUpdate: () => [] }
const resources = [
  defineResource({ ...plain, group: '', kind: 'Thing', plural: 'things', namespaced: true }),
  defineResource({ ...plain, group: 'x.io', kind: 'Place', plural: 'places', namespaced: false }),
]

let store: Store
let objects: ObjectStore
let things: Registered
let places: Registered
const registry = new Registry(resources, [])

const thing = (name: string, more: object = {}): KubeObject => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name, namespace: 'ns' }, ...more })

beforeEach(async () => {
  store = openMemoryStore()
  objects = await ObjectStore.open(store, registry, () => {})
  things = registry.find('v1', 'things')!
  places = registry.find('x.io/v1', 'places')!
})

describe('ObjectStore', () => {
  it('has what it wrote in its cache when the write is answered', async () => {
    const written = await objects.create(things, thing('a'))
    expect(objects.get(things, 'ns', 'a')).toBe(written)
    expect([written.key, written.revision, objects.revision]).toEqual(['/registry/things/ns/a', 1, 1])
    expect(written.object.metadata.resourceVersion).toBe('1')
  })

  it('keeps cluster-wide objects by their name alone', async () => {
    const written = await objects.create(places, { apiVersion: 'x.io/v1', kind: 'Place', metadata: { name: 'p' } })
    expect(written.key).toBe('/registry/x.io/places/p')
  })

  it('refuses a name that is taken', async () => {
    await objects.create(things, thing('a'))
    await expect(objects.create(things, thing('a'))).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' })
  })

  it('refuses to replace or remove what is no longer current', async () => {
    const first = await objects.create(things, thing('a'))
    const second = await objects.update(things, first, thing('a', { spec: 1 }))
    await expect(objects.update(things, first, thing('a', { spec: 2 }))).rejects.toMatchObject({ reason: 'Conflict' })
    await expect(objects.remove(things, first)).rejects.toMatchObject({ reason: 'Conflict' })
    expect(objects.get(things, 'ns', 'a')).toBe(second)
    expect(await objects.remove(things, second)).toBe(3)
    expect(objects.get(things, 'ns', 'a')).toBeUndefined()
  })

  it('writes nothing where nothing changes', async () => {
    const first = await objects.create(things, thing('a', { spec: { x: 1 } }))
    expect(await objects.update(things, first, thing('a', { spec: { x: 1 } }))).toBe(first)
    expect(store.revision).toBe(1)
  })

  it('refuses what is too large', async () => {
    await expect(objects.create(things, thing('a', { spec: 'x'.repeat(1_600_000) }))).rejects.toMatchObject({ code: 413 })
    expect(store.revision).toBe(0)
  })

  it('answers each writer with its own version, though another has followed', async () => {
    const first = await objects.create(things, thing('a'))
    const [second, third] = await Promise.allSettled([objects.update(things, first, thing('a', { spec: 1 })), objects.update(things, first, thing('a', { spec: 2 }))])
    expect(second).toMatchObject({ status: 'fulfilled', value: { revision: 2 } })
    expect(third).toMatchObject({ status: 'rejected', reason: { reason: 'Conflict' } })
  })

  it('loads what is stored when it is opened', async () => {
    await objects.create(things, thing('a', { spec: 1 }))
    const again = await ObjectStore.open(store, registry, () => {})
    expect(again.get(things, 'ns', 'a')!.object).toEqual(objects.get(things, 'ns', 'a')!.object)
    expect(again.revision).toBe(1)
  })

  it('has objects of other processes read, at any revision, and never its own', async () => {
    await objects.create(things, thing('a', { spec: 1 }))
    await objects.create(places, { apiVersion: 'x.io/v1', kind: 'Place', metadata: { name: 'p' } })
    const again = await ObjectStore.open(store, registry, () => {}, {
      reader: ({ resource }) => (value) => ({ ...parseObject(value), readAs: resource.plural }) as KubeObject,
    })
    const at = async (revision: number) => {
      const { items } = await again.rangeAt(things, things.prefix, revision, undefined, undefined)
      return items.map((i) => i.object)
    }
    const first = again.get(things, 'ns', 'a')!
    expect(first.object).toMatchObject({ readAs: 'things' })
    expect(again.get(places, '', 'p')!.object).toMatchObject({ readAs: 'places' })
    expect(await again.update(things, first, thing('a', { spec: 1, readAs: 'things' }))).toBe(first)
    expect((await again.update(things, first, thing('a', { spec: 2 }))).object).not.toHaveProperty('readAs')
    await again.create(things, thing('b'))
    expect(await at(2)).toMatchObject([{ spec: 1, readAs: 'things', metadata: { resourceVersion: '1' } }])
    expect(await at(4)).toEqual([again.get(things, 'ns', 'a')!.object, again.get(things, 'ns', 'b')!.object])
    expect(JSON.stringify(await at(3))).not.toContain('readAs')
  })

  it('has objects of another program read, and never those that the same one stored before', async () => {
    const openAs = (mark: number) =>
      ObjectStore.open(store, registry, () => {}, {
        mark,
        reader: () => (value) => ({ ...parseObject(value), isRead: true }) as KubeObject,
      })
    const isRead = (opened: ObjectStore, name: string) => 'isRead' in opened.get(things, 'ns', name)!.object
    const one = await openAs(1)
    await one.create(things, thing('a'))
    await one.update(things, await one.create(things, thing('b')), thing('b', { spec: 1 }))
    const two = await openAs(2)
    await two.update(things, two.get(things, 'ns', 'b')!, thing('b', { spec: 2 }))
    const again = await Promise.all([openAs(1), openAs(2), openAs(3)])
    expect(again.map((opened) => isRead(opened, 'a'))).toEqual([false, true, true])
    expect(again.map((opened) => isRead(opened, 'b'))).toEqual([true, false, true])
  })

  it('follows what another server on the same store writes', async () => {
    const other = await ObjectStore.open(store, registry, () => {})
    await other.create(things, thing('a'))
    expect(objects.get(things, 'ns', 'a')).toBeDefined()
  })

  it('keeps kinds of one name in different groups apart, and those whose keys begin alike', async () => {
    const kinds = [['', 'services'], ['', 'endpoints'], ['example.com', 'services'], ['other.io', 'endpoints']] as const
    const four = new Registry(
      kinds.map(([group, plural]) => defineResource({ ...plain, group, kind: 'Thing', plural, namespaced: true })),
      [],
    )
    const places = four.storages()
    const writer = await ObjectStore.open(store, four, () => {})
    for (const place of places) await writer.create(place, { ...thing('a'), apiVersion: place.apiVersion })
    const reader = await ObjectStore.open(store, four, () => {})
    for (const opened of [writer, reader]) {
      expect(places.map((place) => opened.get(place, 'ns', 'a')?.revision)).toEqual([1, 2, 3, 4])
      for (const place of places) {
        const { items } = await opened.rangeAt(place, place.prefix, 4, undefined, undefined)
        expect(items.map(({ object }) => object.apiVersion)).toEqual([place.apiVersion])
      }
    }
  })

  it('leaves keys of kinds it does not know alone', async () => {
    await store.write({ key: '/registry/bogus/a', expected: 0, value: Buffer.from('{}') })
    await objects.create(things, thing('a'))
    expect(objects.revision).toBe(2)
  })

  it('tells when the watch of the store has failed', async () => {
    let lost: Error | undefined
    await ObjectStore.open(store, registry, (why) => (lost = why))
    await store.close()
    expect(lost?.message).toBe('the store is closed')
  })

  it('keeps the order of one commit within each kind', async () => {
    const seen: string[] = []
    objects.cache(things).listen((events) => seen.push(events.map((e) => e.object.object.metadata.name).join()))
    await Promise.all([
      objects.create(things, thing('a')),
      objects.create(places, { apiVersion: 'x.io/v1', kind: 'Place', metadata: { name: 'p' } }),
      objects.create(things, thing('b')),
      objects.create(things, thing('c')),
    ])
    expect(seen.join(',')).toBe('a,b,c')
  })
})
