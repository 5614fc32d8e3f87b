import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningServer, startServer } from '../kubectl/coxswain.ts'
import { SeededRandom } from '../seeded-random.ts'
import { misbehaviours } from './malformed-connections.ts'
import { type Malformed, malformedRequest, target } from './malformed-requests.ts'
import { type ClientAnswer, TlsClient } from './tls-client.ts'

const seed = Number(process.env.MALFORMED_SEED ?? 20260131)
const requests = 9_600
const connections = 400
const atOnce = 24
/** The allowed difference in memory between a process after ten thousand requests and one after a thousand. */
const maxGrowthBytes = 48 << 20
/** Little room for garbage: what the process holds is then what it needs, and what it never lets go of would end it. */
const thrifty = { NODE_OPTIONS: '--max-old-space-size=160 --max-semi-space-size=4', MALLOC_ARENA_MAX: '1' }

const configMaps = '/api/v1/namespaces/default/configmaps'

let dir: string
let server: RunningServer
let client: TlsClient

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'malformed-'))
  for (const [name, value] of Object.entries(thrifty)) vi.stubEnv(name, value)
  server = await startServer(dir, ['--store', 'memory', '--log-level', 'error'])
  vi.unstubAllEnvs()
  client = new TlsClient(server.kubeconfig, atOnce)
  await client.http1({ method: 'POST', path: configMaps, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ metadata: { name: 'target' }, data: { a: 'b' } }) })
})

afterAll(async () => {
  client?.close()
  const ended = await server?.stop()
  rmSync(dir, { recursive: true, force: true })
  // Not a word about anything that would be the server's own fault, and an end in peace.
  expect(ended).toMatchObject({ code: 0, err: '' })
})

/** The defect of a response. Undefined if it is appropriate for a malformed request. */
function judge(sent: Malformed, { code, headers, text }: ClientAnswer): string | undefined {
  if ((code < 400 || code >= 500) && !sent.also?.includes(code)) return `was answered with ${code}: ${text.slice(0, 300)}`
  if (Object.keys(headers).some((name) => /cookie/i.test(name))) return 'put a header of its own into the answer'
  if (code === 201 || sent.method === 'HEAD' || !String(headers['content-type']).startsWith('application/json')) return undefined
  const status = JSON.parse(text) as { kind?: string; status?: string; code?: number; message?: string }
  if (status.kind !== 'Status' || status.status !== 'Failure' || status.code !== code || !status.message) return `was answered with no proper Status: ${text.slice(0, 300)}`
  return undefined
}

async function sendOne(sent: Malformed): Promise<string | undefined> {
  try {
    return judge(sent, await (sent.over === 'http2' ? client.http2(sent) : client.http1(sent)))
  } catch (e) {
    // A client that is rejected during a long body may find the connection closed before it has read the reason.
    const isCutShort = (sent.body?.length ?? 0) > 3 * 1024 * 1024 && /EPIPE|ECONNRESET|socket hang up/.test(String(e))
    return isCutShort ? undefined : `got no answer: ${String(e)}`
  }
}

const describeRequest = ({ name, method = 'GET', path, headers, body }: Malformed) =>
  `${name}: ${method} ${path.slice(0, 200)} ${JSON.stringify(headers ?? {}).slice(0, 200)} ${String(body ?? '').slice(0, 200)}`

/** Sends so many; each has a seed of its own, which a failure names. */
async function sendMany(from: number, count: number): Promise<string[]> {
  const wrong: string[] = []
  let next = from
  const work = async () => {
    while (next < from + count) {
      const own = seed + next++
      const sent = malformedRequest(new SeededRandom(own))
      const problem = await sendOne(sent)
      if (problem) wrong.push(`seed ${own}: ${describeRequest(sent)}\n  ${problem}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return wrong
}

async function misbehaveOften(from: number, count: number): Promise<string[]> {
  const wrong: string[] = []
  let next = from
  const work = async () => {
    while (next < from + count) {
      const own = next++
      const { name, run } = misbehaviours[own % misbehaviours.length]!
      const read = await run(client, new SeededRandom(seed + own)).catch((e: unknown) => (/EPIPE|ECONNRESET/.test(String(e)) ? '' : `${String(e)}`))
      if (read !== '' && !/^HTTP\/1\.[01] 4\d\d /.test(`${read} `)) wrong.push(`${name}: ${read.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return wrong
}

async function residentBytes(): Promise<number> {
  const { text } = await client.http1({ path: '/metrics' })
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)![1])
}

/** A long body with a mistake at its end: read in full and forgotten, it gives the server a reason to collect its garbage. */
const laborious = `{"data":{${Array.from({ length: 40_000 }, (_, i) => `"k${i}":"${i}"`).join(',')}}}x`

/** The least that the server holds while it works; it need not work longer than until that is little enough. */
async function settledBytes(enough: number): Promise<number> {
  let least = Infinity
  for (let look = 0; look < 80 && least > enough; look++) {
    for (let i = 0; i < 5; i++) await client.http1({ method: 'POST', path: configMaps, headers: { 'content-type': 'application/json' }, body: laborious })
    least = Math.min(least, await residentBytes())
  }
  return least
}

const series = async () => (await client.http1({ path: '/metrics' })).text.match(/^apiserver_request_total\{/gm)!.length

describe('a server that is sent ten thousand malformed requests', () => {
  it('refuses each in its own words, and is as before', async () => {
    expect(await sendMany(0, 1_000)).toEqual([])
    expect(await misbehaveOften(0, misbehaviours.length * 2)).toEqual([])
    const [bytesBefore, seriesBefore] = [await settledBytes(120 << 20), await series()]

    expect(await sendMany(1_000, requests - 1_000)).toEqual([])
    expect(await misbehaveOften(misbehaviours.length * 2, connections - misbehaviours.length * 2)).toEqual([])

    expect((await settledBytes(bytesBefore + maxGrowthBytes)) - bytesBefore).toBeLessThanOrEqual(maxGrowthBytes)
    // Nobody can make up metrics: a few more combinations of what there is, at the most.
    expect((await series()) - seriesBefore).toBeLessThan(50)
    const { text } = await client.http1({ path: '/metrics' })
    expect(text).toMatch(/^apiserver_current_inflight_requests\{request_kind="mutating"\} 0$/m)
    for (const [, count] of text.matchAll(/^apiserver_longrunning_requests\{.*\} (\d+)$/gm)) expect(count).toBe('0')
  })

  it('has stored nothing of all that, and serves on', async () => {
    const { text } = await client.http1({ path: target })
    expect(JSON.parse(text)).toMatchObject({ metadata: { name: 'target' }, data: { a: 'b' } })
    for (const kind of [configMaps, '/api/v1/pods', '/apis/apps/v1/deployments']) {
      const { items } = JSON.parse((await client.http2({ path: kind })).text) as { items: unknown[] }
      expect(items).toHaveLength(kind === configMaps ? 1 : 0)
    }
    const stream = client.session().request({ ':path': `${configMaps}?watch=1&resourceVersion=${JSON.parse(text).metadata.resourceVersion}` })
    const lines: string[] = []
    const seen = new Promise<void>((resolve) => stream.on('data', (chunk: Buffer) => (lines.push(chunk.toString()), lines.join('').includes('DELETED') && resolve())))
    const headers = { 'content-type': 'application/json' }
    expect((await client.http1({ method: 'POST', path: configMaps, headers, body: '{"metadata":{"name":"after"}}' })).code).toBe(201)
    expect((await client.http2({ path: `${configMaps}/after` })).code).toBe(200)
    expect((await client.http1({ method: 'DELETE', path: `${configMaps}/after` })).code).toBe(200)
    await seen
    stream.close()
    expect(lines.join('').trim().split('\n').map((l) => (JSON.parse(l) as { type: string }).type)).toEqual(['ADDED', 'DELETED'])
    expect((await client.http1({ path: '/readyz' })).text).toBe('ok')
  })
})
