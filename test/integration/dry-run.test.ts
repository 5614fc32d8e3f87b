import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'
import { type Reply, TestServer, settle } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

/** The path of the objects of a kind. */
function collectionOf({ apiVersion = '', kind }: KubeObject): string {
  const all = server.api.parts.registry.all()
  const { resource } = all.find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${root}/${resource.namespaced ? 'namespaces/default/' : ''}${resource.plural}`
}

/** Sends what must change nothing, whatever it is answered with. */
async function unstored(send: () => Promise<Reply>): Promise<Reply> {
  const before = server.api.parts.objects.revision
  const reply = await send()
  await settle()
  expect([reply.code < 500, server.api.parts.objects.revision]).toEqual([true, before])
  return reply
}

const parts = ['', '/status', '/scale', '/approval', '/finalize', '/resize', '/ephemeralcontainers']
const labelled = { metadata: { labels: { dry: 'run' } } }
const deletions = ['', '&gracePeriodSeconds=0', '&propagationPolicy=Foreground', '&propagationPolicy=Orphan']
const dry = '?dryRun=All'

describe('a dry run stores nothing', () => {
  const rows = oneOfEachKind.map((sample) => [`${sample.apiVersion} ${sample.kind}`, sample] as const)

  it.each(rows)('of %s', async (_kind, sample) => {
    const collection = collectionOf(sample)
    const itself = `${collection}/${sample.metadata.name}`
    expect((await unstored(() => server.create(`${collection}${dry}`, sample))).code).toBe(201)
    expect([201, 404]).toContain((await unstored(() => server.update(`${itself}${dry}`, sample))).code)
    expect((await server.get(itself)).code).toBe(404)

    expect((await server.create(collection, sample)).code).toBe(201)
    for (const part of parts) {
      const { code, body } = await server.get(`${itself}${part}`)
      if (code !== 200) continue
      const url = `${itself}${part}${dry}`
      const marks = { ...labelled.metadata, finalizers: ['example.com/kept'] }
      const changed = { ...body, metadata: { ...body.metadata, ...marks } }
      await unstored(() => server.update(url, changed))
      await unstored(() => server.patch(url, labelled, 'merge'))
      await unstored(() => server.patch(url, labelled, 'strategic'))
      await unstored(() => server.patch(url, [{ op: 'add', path: '/metadata/labels', value: { dry: 'run' } }], 'json'))
    }
    for (const how of deletions) expect((await unstored(() => server.delete(`${itself}${dry}${how}`))).code).toBe(200)
    expect((await unstored(() => server.delete(itself, { dryRun: ['All'] }))).code).toBe(200)
    await unstored(() => server.delete(`${collection}${dry}`))
    await unstored(() => server.delete(collection, { dryRun: ['All'] }))
    expect((await server.get(itself)).code).toBe(200)
  })

  it.each([
    ['an eviction', 'eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'dry' } }],
    ['a binding', 'binding', { metadata: { name: 'dry' }, target: { kind: 'Node', name: 'n' } }],
  ])('of %s', async (_what, subresource, body) => {
    const pod = oneOfEachKind.find(({ kind }) => kind === 'Pod')!
    const pods = collectionOf(pod)
    await server.create(pods, { ...pod, metadata: { name: 'dry' } })
    expect((await unstored(() => server.create(`${pods}/dry/${subresource}${dry}`, body))).code).toBe(201)
  })
})
