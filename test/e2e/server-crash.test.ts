import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../kubectl/coxswain.ts'
import { SeededRandom } from '../seeded-random.ts'
import { AckLedger, type Found } from '../store-crash-ledger.ts'
import { SharedFields, configMaps, keepWriting, seqOf } from './crash-load.ts'
import { ResumingWatcher } from './resuming-watcher.ts'
import { TlsClient } from './tls-client.ts'

const kills = 20
const writers = 16
const seed = Number(process.env.CRASH_SEED ?? 20260201)

interface ConfigMap {
  metadata: { name: string; resourceVersion: string; labels?: Record<string, string> }
  data?: Record<string, string>
}

let dir: string
let server: RunningServer | undefined
let client: TlsClient | undefined

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'server-crash-'))
})

afterEach(async () => {
  client?.close()
  await server?.stop('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

async function start(): Promise<TlsClient> {
  server = await startServer(dir, ['--log-level', 'error'])
  client = new TlsClient(server.kubeconfig)
  return client
}

async function list(client: TlsClient): Promise<{ version: string; items: ConfigMap[] }> {
  const { items, metadata } = JSON.parse((await client.http2({ path: configMaps })).text) as { items: ConfigMap[]; metadata: { resourceVersion: string } }
  return { version: metadata.resourceVersion, items }
}

const create = (client: TlsClient, name: string) =>
  client.http2({ method: 'POST', path: configMaps, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ metadata: { name } }) })

it(`a server that is killed ${kills} times under load loses nothing that it has acknowledged, and its watchers miss nothing`, async () => {
  const random = new SeededRandom(seed)
  const ledger = new AckLedger()
  const shared = new SharedFields()
  let seq = 0
  let acks = 0
  const versions = new Set<string>()
  let at = await start()
  await create(at, 'shared')
  const before = await list(at)
  const watcher = new ResumingWatcher(before.version)
  for (const { metadata } of before.items) watcher.objects.set(metadata.name, metadata.resourceVersion)

  for (let kill = 0; kill < kills; kill++) {
    const marker = `marker-${kill}`
    const caughtUp = watcher.follow(at, marker)
    await create(at, marker)
    await caughtUp
    const now = await list(at)
    expect(new Map(now.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion])), `seed ${seed}, kill ${kill}`).toEqual(watcher.objects)
    expect([...versions].filter((version) => !watcher.seen.has(version))).toEqual([])

    // Any moment will do: after so many acknowledgements it is another one each time, in the middle of many writes.
    const killAfter = acks + 20 + random.below(600)
    const ended = Promise.all(Array.from({ length: writers }, (_, writer) =>
      keepWriting(at, writer, ledger, shared, () => ++seq, (version) => {
        if (version) versions.add(version)
        if (++acks === killAfter) process.kill(server!.pid, 'SIGKILL')
      }).catch((e: unknown) => String(e)),
    ))
    // Writers end only when the server does; what it refused while it lived would be said here.
    for (const why of await ended) expect(why).not.toMatch(/was answered with/)
    expect((await server!.stop('SIGKILL')).code).toBe('SIGKILL')
    at.close()

    at = await start()
    const { version, items } = await list(at)
    const own = items.filter(({ metadata }) => metadata.labels?.writer !== undefined)
    const found = new Map<string, Found>(own.map((object) => [object.metadata.name, { revision: Number(object.metadata.resourceVersion), seq: seqOf({ ...object, data: object.data! }) }]))
    expect(ledger.account(found, Number(version)), `seed ${seed}, kill ${kill}`).toEqual([])
    expect(shared.account(items.find(({ metadata }) => metadata.name === 'shared')!.data)).toEqual([])
    expect(watcher.problems, `seed ${seed}, kill ${kill}`).toEqual([])
  }
  expect(acks).toBeGreaterThan(kills * 100)
}, 60_000)
