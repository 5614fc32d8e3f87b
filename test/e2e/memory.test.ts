import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TlsClient } from './tls-client.ts'

const program = path.resolve('dist/coxswain.mjs')
const json = { 'content-type': 'application/json' }
const configMaps = '/api/v1/namespaces/default/configmaps'
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
/** Together they do not fit into the heap once they are decoded. */
const count = 60
const keys = 4000

let dir: string
let server: ChildProcess
let client: TlsClient
let ended: number | string | undefined

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-memory-'))
  const flags = ['apiserver', '--store', 'lmdb', '--data-dir', dir, '--secure-port', '0', '--log-level', 'error']
  server = spawn(process.execPath, ['--max-old-space-size=64', program, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] })
  server.once('exit', (code, signal) => (ended = code ?? signal!))
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stdout! }).on('line', (line) => line.startsWith('ready ') && resolve(line.split(' ')[3]!))
    server.once('exit', reject)
  })
  client = new TlsClient(kubeconfig, 300, 60_000)
  const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, 'x'.repeat(80)]))
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ metadata: { name: `c-${i}` }, data })
    expect((await client.http1({ method: 'POST', path: configMaps, headers: json, body })).code).toBe(201)
  }
}, 60_000)

afterAll(() => {
  client?.close()
  server?.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

describe('a server with a heap of 64 MB', () => {
  it('outlives 200 lists at once that do not fit, and renews leases meanwhile', async () => {
    const created = await client.http1({ method: 'POST', path: leases, headers: json, body: JSON.stringify({ metadata: { name: 'heart' }, spec: { holderIdentity: 'n1' } }) })
    expect(created.code).toBe(201)
    const list = () => client.http1({ path: `${configMaps}?includeObject=Object&labelSelector=a!=b`, headers: table })
    const state = { isOver: false }
    const storm = Promise.all(Array.from({ length: 200 }, () => list().then(({ code, headers }) => ({ code, retry: headers['retry-after'] })))).finally(() => (state.isOver = true))
    const beats: number[] = []
    for (let i = 0; !state.isOver && i < 10_000; i++) {
      const beat = { metadata: { name: 'heart' }, spec: { holderIdentity: `n${i}` } }
      beats.push((await client.http1({ method: 'PATCH', path: `${leases}/heart`, headers: { 'content-type': 'application/merge-patch+json' }, body: JSON.stringify(beat) })).code)
    }
    const answers = await storm
    expect(ended).toBeUndefined()
    expect(beats.every((code) => code === 200) && beats.length > 0).toBe(true)
    const refused = answers.filter(({ code }) => code === 429)
    expect(answers.every(({ code }) => code === 200 || code === 429)).toBe(true)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.every(({ retry }) => retry === '1')).toBe(true)
    expect(answers.some(({ code }) => code === 200)).toBe(true)
    const { text } = await client.http1({ path: '/metrics' })
    expect(text).toContain(`coxswain_memory_refused_requests_total{verb="list"} ${refused.length}`)
    expect((await client.http1({ path: '/livez' })).text).toBe('ok')
  }, 60_000)
})
