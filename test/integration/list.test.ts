import { beforeEach, describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const letters = [...'abcdefghij']
const namesOf = (list: { items: { metadata: { name: string } }[] }) => list.items.map((i) => i.metadata.name)

async function makeAll(): Promise<void> {
  for (const name of letters) await server.create(configMaps, configMap(name, {}, { parity: letters.indexOf(name) % 2 ? 'odd' : 'even' }))
}

/** Reads a list to its end in pages, calling `between` after each. */
async function readInPages(limit: number, query = '', between: (page: number) => Promise<unknown> = async () => {}) {
  const names: string[] = []
  const metas: { resourceVersion: string; continue?: string; remainingItemCount?: number }[] = []
  let token = ''
  do {
    const { code, body } = await server.get(`${configMaps}?limit=${limit}${query}${token && `&continue=${token}`}`)
    expect(code).toBe(200)
    names.push(...namesOf(body))
    metas.push(body.metadata)
    token = body.metadata.continue ?? ''
    await between(metas.length)
  } while (token && metas.length < 1000)
  expect(token, 'a list has no end').toBe('')
  return { names, metas }
}

describe('a list in pages', () => {
  beforeEach(makeAll)

  it('has each object once, says how many remain, and ends without a token', async () => {
    const { names, metas } = await readInPages(4)
    expect(names).toEqual(letters)
    expect(metas.map((m) => m.remainingItemCount)).toEqual([6, 2, undefined])
    expect(metas.at(-1)!.continue).toBeUndefined()
  })

  it('that fits into one page has no token', async () => {
    const { metas } = await readInPages(10)
    expect(metas).toHaveLength(1)
  })

  it('shows all pages as they were at the first, whatever is written meanwhile', async () => {
    const { names, metas } = await readInPages(3, '', async (page) => {
      if (page > 1) return
      await server.create(configMaps, configMap('aa'))
      await server.create(configMaps, configMap('zz'))
      await server.delete(`${configMaps}/e`)
      await server.patch(`${configMaps}/f`, { data: { changed: 'yes' } })
    })
    expect(names).toEqual(letters)
    expect(new Set(metas.map((m) => m.resourceVersion)).size).toBe(1)
    expect(namesOf((await server.get(configMaps)).body)).toEqual(['a', 'aa', 'b', 'c', 'd', 'f', 'g', 'h', 'i', 'j', 'zz'])
  })

  it('shows old content on a later page, too', async () => {
    const { body } = await server.get(`${configMaps}?limit=5`)
    await server.patch(`${configMaps}/f`, { data: { changed: 'yes' } })
    const next = await server.get(`${configMaps}?limit=5&continue=${body.metadata.continue}`)
    expect(next.body.items[0].metadata.name).toBe('f')
    expect(next.body.items[0].data).toBeUndefined()
  })

  it('pages what a selector lets through, without a count of what remains', async () => {
    const { names, metas } = await readInPages(2, '&labelSelector=parity%3Dodd', (page) => server.create(configMaps, configMap(`b${page}`, {}, { parity: 'odd' })))
    expect(names).toEqual(['b', 'd', 'f', 'h', 'j'])
    expect(metas.every((m) => m.remainingItemCount === undefined)).toBe(true)
  })

  it('stays consistent while many write at once', async () => {
    const { names } = await readInPages(1, '', async (page) => {
      await Promise.all([
        server.create(configMaps, configMap(`${letters[page % 10]}-new-${page}`)),
        server.patch(`${configMaps}/a`, { data: { n: String(page) } }),
        server.delete(`${configMaps}/${letters[9 - (page % 5)]}`),
      ])
    })
    expect(names).toEqual(letters)
  })
})

describe('a continue token whose revision is compacted away', () => {
  beforeEach(makeAll)

  it('is refused with another that goes on with what is there now', async () => {
    const first = await server.get(`${configMaps}?limit=4`)
    await server.create(configMaps, configMap('ee'))
    await server.delete(`${configMaps}/g`)
    await server.store.compact(server.store.revision)
    const refused = await server.get(`${configMaps}?limit=4&continue=${first.body.metadata.continue}`)
    expect(refused.code).toBe(410)
    expect(refused.body).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 })
    expect(refused.body.message).toMatch(/^The provided continue parameter is too old to display a consistent list result\./)

    const rest = await server.get(`${configMaps}?continue=${refused.body.metadata.continue}`)
    expect(rest.code).toBe(200)
    expect(namesOf(rest.body)).toEqual(['e', 'ee', 'f', 'h', 'i', 'j'])
    expect(rest.body.metadata.resourceVersion).toBe(String(server.store.revision))
  })
})

describe('resourceVersion of a list', () => {
  beforeEach(makeAll)

  it('with Exact shows what was then', async () => {
    const { body } = await server.get(configMaps)
    await server.delete(`${configMaps}/a`)
    const exact = await server.get(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`)
    expect(namesOf(exact.body)).toEqual(letters)
    expect(exact.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
  })

  it('with Exact is Expired once that is compacted', async () => {
    const { body } = await server.get(configMaps)
    await server.delete(`${configMaps}/a`)
    await server.store.compact(server.store.revision)
    const { code, body: status } = await server.get(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`)
    expect([code, status.reason]).toEqual([410, 'Expired'])
  })

  it('that is not older than asked for shows the newest', async () => {
    const { body } = await server.get(configMaps)
    await server.delete(`${configMaps}/a`)
    const newer = await server.get(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`)
    expect(namesOf(newer.body)).toEqual(letters.slice(1))
  })

  it('of the future is a Timeout that may be tried again', async () => {
    const { code, headers, body } = await server.get(`${configMaps}?resourceVersion=${server.store.revision + 100}`)
    expect([code, headers['retry-after'], body.reason, body.details.causes[0].reason]).toEqual([504, '1', 'Timeout', 'ResourceVersionTooLarge'])
  })
})

it('a list of several megabytes arrives whole', async () => {
  const big = 'é'.repeat(200_000)
  for (let i = 0; i < 12; i++) await server.create(configMaps, configMap(`o-${i}`, { big }))
  const { body } = await server.get(configMaps)
  expect(body.items).toHaveLength(12)
  expect(body.items.every((i: { data: { big: string } }) => i.data.big === big)).toBe(true)
})
