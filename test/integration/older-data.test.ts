import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { findByKey } from '../../src/server/objects/stored-keys.ts'
import { openLmdbStore } from '../../src/store/index.ts'
import { TestServer } from './server.ts'

// Written by test/fixtures/write-data-directory.ts in a checkout of the last release with that format.
const formats = ['format-1']

interface Recorded {
  /** The revision before the objects were written. */
  begin: string
  /** The answers to lists, by URL. */
  lists: Record<string, { items: KubeObject[] }>
}

const isGone = ({ metadata }: KubeObject) => metadata.name === 'gone'
const nameOf = ({ metadata: { namespace = '', name = '' } }: KubeObject) => `${namespace}/${name}`

describe.each(formats)('a data directory of %s', (format) => {
  const folder = new URL(`../fixtures/${format}/`, import.meta.url)
  const fixture = (file: string) => gunzipSync(readFileSync(new URL(`${file}.gz`, folder)))
  const { begin, lists } = JSON.parse(fixture('lists.json').toString()) as Recorded
  let dir: string
  let conversions = 0
  let server: TestServer

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'older-data-'))
    writeFileSync(path.join(dir, 'data.mdb'), fixture('data.mdb'))
    server = await TestServer.start({ store: await openLmdbStore({ dir, onConverted: () => conversions++ }) })
  })

  afterAll(async () => {
    expect(server.errors).toEqual([])
    await server.close()
    rmSync(dir, { recursive: true })
  })

  it('is converted, and nothing in it lies where nobody looks', async () => {
    expect(conversions).toBe(1)
    const places = new Map(server.api.parts.registry.storages().map((place) => [place.prefix, place]))
    const { items } = await server.store.range('')
    expect(items.filter(({ key }) => !findByKey(places, key)).map(({ key }) => key)).toEqual([])
  })

  it('holds an object of every kind', () => {
    const isSample = ({ metadata: { name = '' } }: KubeObject) => name.startsWith('sample')
    const isFull = ({ items }: { items: KubeObject[] }) => items.some(isSample)
    expect(Object.entries(lists).filter(([, list]) => !isFull(list)).map(([url]) => url)).toEqual([])
    expect(Object.keys(lists).length).toBeGreaterThan(40)
  })

  it.each(Object.keys(lists))('is served as it was: %s', async (url) => {
    const { code, body } = await server.get<{ items: KubeObject[] }>(url)
    expect(code).toBe(200)
    const served = new Map(body.items.map((object) => [nameOf(object), object]))
    expect(body.items.some(isGone)).toBe(lists[url]!.items.some(isGone))
    // Later releases may know more fields.
    for (const object of lists[url]!.items) expect(served.get(nameOf(object))).toMatchObject(object)
  })

  it.each(Object.keys(lists))('has its history: a watch of %s from before', async (url) => {
    const watch = await server.watch(`${url}?resourceVersion=${begin}`)
    const lines = await watch.take()
    const told = lines.map(({ type, object }) => `${type} ${object.metadata.name}`)
    expect(told.slice(0, 2)).toEqual(['ADDED sample', 'MODIFIED sample'])
    const current = lists[url]!.items.find(({ metadata }) => metadata.name === 'sample')
    expect(lines[1]!.object.metadata.resourceVersion).toBe(current!.metadata.resourceVersion)
    // A namespace has none, and a finalizer keeps those of three kinds.
    const wasDeleted = url !== '/api/v1/namespaces' && !lists[url]!.items.some(isGone)
    expect(told.includes('DELETED gone')).toBe(wasDeleted)
  })

  it('takes writes as before', async () => {
    for (const url of ['/api/v1/namespaces/default/services/sample', '/api/v1/nodes/sample']) {
      const { code, body } = await server.patch(url, { metadata: { labels: { again: 'yes' } } })
      expect([code, body.metadata.labels]).toEqual([200, { sample: 'yes', changed: 'yes', again: 'yes' }])
    }
    const again = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'sample' }, spec: { ports: [{ port: 80 }] } }
    expect((await server.create('/api/v1/namespaces/default/services', again)).code).toBe(409)
  })
})
