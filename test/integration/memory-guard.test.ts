import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestServer, configMap, configMaps } from './server.ts'

const mb = 2 ** 20
const json = { 'content-type': 'application/json' }
/** Longer than a heartbeat, and of few values. */
const long = Buffer.from(JSON.stringify({ ...configMap('long'), data: { a: 'x'.repeat(300_000) } }))
const short = (name: string) => Buffer.from(JSON.stringify(configMap(name)))
const lengthOf = (body: Buffer) => ({ 'content-length': String(body.length) })

let usedMb: number
let server: TestServer
beforeEach(async () => {
  usedMb = 0
  const amount = () => ({ usedBytes: usedMb * mb, limitBytes: 100 * mb })
  server = await TestServer.start({ memory: { heap: amount, machine: amount } })
  await server.create(configMaps, configMap('there'))
})
afterEach(() => server.close())

describe('while memory is short', () => {
  it.each<[string, string, Buffer, Record<string, string>, number]>([
    ['a long body', 'POST', long, lengthOf(long), 429],
    ['a long body without a length', 'POST', long, {}, 429],
    ['a long patch without a length', 'PATCH', long, {}, 429],
    ['a short body', 'POST', short('a'), lengthOf(short('a')), 201],
    ['a short body without a length', 'POST', short('b'), {}, 201],
  ])('%s', async (_, method, body, headers, code) => {
    usedMb = 96
    await server.clock.advance(1000)
    const isPatch = method === 'PATCH'
    const type = isPatch ? { 'content-type': 'application/merge-patch+json' } : json
    const answer = await server.send({ method, url: isPatch ? `${configMaps}/there` : configMaps, headers: { ...type, ...headers }, body })
    expect([answer.code, answer.headers['retry-after']]).toEqual([code, code === 429 ? '1' : undefined])
  })
})

it('what is reserved for a body without a length is free again after the answer', async () => {
  usedMb = 79
  await server.clock.advance(1000)
  for (let i = 0; i < 20; i++) expect((await server.send({ method: 'POST', url: `${configMaps}?dryRun=All`, headers: json, body: long })).code).toBe(201)
})
