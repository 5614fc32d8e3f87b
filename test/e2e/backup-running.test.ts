import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EtcdCluster } from '../etcd/etcd-cluster.ts'
import { type RunningServer, runCoxswain, startEverything, startServer } from '../kubectl/coxswain.ts'
import { TlsClient } from './tls-client.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const json = { 'content-type': 'application/json' }
const writers = 6
const keysPerWriter = 40

let dir: string
const cleanups: (() => unknown)[] = []

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'backup-running-'))
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  rmSync(dir, { recursive: true, force: true })
})

function stopLater(server: RunningServer): RunningServer {
  cleanups.push(() => server.stop())
  return server
}

interface Version {
  revision: number
  seq: string
}

/** Every acknowledged write of each object, in order. */
type Ledger = Map<string, Version[]>

/** Creates and replaces objects until it is told to stop. */
async function keepWriting(client: TlsClient, writer: number, ledger: Ledger, goesOn: () => boolean): Promise<void> {
  for (let turn = 0; goesOn(); turn++) {
    if (turn === 100_000) throw new Error('nobody has stopped this writer')
    const name = `w${writer}-${turn % keysPerWriter}`
    const seq = String(turn)
    const body = JSON.stringify({ metadata: { name }, data: { seq, text: `${seq} `.repeat(300) } })
    const isNew = !ledger.has(name)
    const answer = await client.http2({ method: isNew ? 'POST' : 'PUT', path: isNew ? maps : `${maps}/${name}`, headers: json, body })
    expect([200, 201]).toContain(answer.code)
    const { metadata } = JSON.parse(answer.text) as { metadata: { resourceVersion: string } }
    const versions = ledger.get(name) ?? []
    ledger.set(name, [...versions, { revision: Number(metadata.resourceVersion), seq }])
  }
}

/** The state that the ledger says was stored at a revision. */
function stateAt(ledger: Ledger, revision: number): Record<string, string> {
  const state: Record<string, string> = {}
  for (const [name, versions] of ledger) {
    const found = versions.findLast((version) => version.revision <= revision)
    if (found) state[name] = found.seq
  }
  return state
}

async function readState(client: TlsClient): Promise<Record<string, string>> {
  const { items } = JSON.parse((await client.http2({ path: maps })).text) as { items: { metadata: { name: string }; data: { seq: string; text: string } }[] }
  const written = items.filter(({ metadata }) => /^w\d/.test(metadata.name))
  for (const { data } of written) expect(data.text).toBe(`${data.seq} `.repeat(300))
  return Object.fromEntries(written.map(({ metadata, data }) => [metadata.name, data.seq]))
}

/** Takes backups while writers write. Returns the files, their revisions and the ledger. */
async function backUpUnderLoad(server: RunningServer, flags: readonly string[]): Promise<{ files: string[]; revisions: number[]; ledger: Ledger }> {
  const client = new TlsClient(server.kubeconfig)
  const ledger: Ledger = new Map()
  let goesOn = true
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => keepWriting(client, writer, ledger, () => goesOn)))
  const files = [path.join(dir, 'first'), path.join(dir, 'second')]
  const revisions: number[] = []
  try {
    for (const file of files) {
      const ended = await runCoxswain(['backup', file, ...flags])
      expect(ended).toMatchObject({ code: 0, err: '' })
      revisions.push(Number(/as of revision (\d+)/.exec(ended.out)![1]))
    }
  } finally {
    goesOn = false
    await writing
    client.close()
  }
  return { files, revisions, ledger }
}

/** Restores a backup and compares it with the ledger. */
async function expectRestored(file: string, expected: Record<string, string>, serverFlags: readonly string[] = []): Promise<void> {
  const to = mkdtempSync(path.join(dir, 'to-'))
  expect(await runCoxswain(['restore', file, '--data-dir', to])).toMatchObject({ code: 0, err: '' })
  const server = await startServer(to, serverFlags)
  try {
    const client = new TlsClient(server.kubeconfig)
    expect(await readState(client)).toEqual(expected)
    client.close()
  } finally {
    await server.stop()
  }
}

describe('coxswain backup beside a server under load', () => {
  it.each<[string, (data: string) => Promise<{ server: RunningServer; flags: string[] }>]>([
    ['coxswain up on LMDB', async (data) => ({ server: await startEverything(data, ['--runtime', 'simulated', '--dashboard', 'false']), flags: [] })],
    ['the driver memory', async (data) => ({ server: await startServer(data, ['--store', 'memory']), flags: ['--store', 'memory'] })],
    ['the driver etcd', async (data) => {
      const etcd = await EtcdCluster.start()
      cleanups.push(() => etcd.stop())
      const flags = ['--store', 'etcd', '--etcd-servers', etcd.urls.join(',')]
      return { server: await startServer(data, flags), flags }
    }],
  ])('writes what was acknowledged at one revision: %s', async (_, start) => {
    const data = path.join(dir, 'data')
    const { server, flags } = await start(data)
    stopLater(server)
    const { files, revisions, ledger } = await backUpUnderLoad(server, ['--data-dir', data, ...flags])
    const all = [...ledger.values()].flat().length
    for (const [i, file] of files.entries()) {
      const expected = stateAt(ledger, revisions[i]!)
      await expectRestored(file, expected)
      // The backup was taken in the midst of the load.
      expect(all).toBeGreaterThan([...ledger.values()].flat().filter(({ revision }) => revision <= revisions[i]!).length)
    }
    expect(stateAt(ledger, revisions[1]!)).not.toEqual(stateAt(ledger, revisions[0]!))
  })
})

describe('a backup of encrypted values', () => {
  it('holds them as they are stored, and is restored where the keys are', async () => {
    const config = path.join(dir, 'encryption.yaml')
    const secret = Buffer.alloc(32, 7).toString('base64')
    writeFileSync(config, `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: [configmaps], providers: [{aesgcm: {keys: [{name: a, secret: "${secret}"}]}}]}]\n`, { mode: 0o600 })
    const flags = ['--encryption-provider-config', config]
    const data = path.join(dir, 'data')
    const server = stopLater(await startServer(data, flags))
    const client = new TlsClient(server.kubeconfig)
    const body = JSON.stringify({ metadata: { name: 'w0-0' }, data: { seq: '7', text: '7 '.repeat(300) } })
    expect((await client.http2({ method: 'POST', path: maps, headers: json, body })).code).toBe(201)
    client.close()
    const file = path.join(dir, 'file')
    expect(await runCoxswain(['backup', file, '--data-dir', data])).toMatchObject({ code: 0 })
    const values = readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith('{"key"')).map((line) => JSON.parse(line) as { key: string; value: string })
    const stored = Buffer.from(values.find(({ key }) => key.endsWith('/w0-0'))!.value, 'base64').toString('latin1')
    expect(stored).toMatch(/^k8s:enc:aesgcm:v1:a:/)
    expect(stored).not.toContain('7 7 7')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    await expectRestored(file, { 'w0-0': '7' }, flags)
  })
})
