// Measures how long the server's event loop is blocked by operations with very many pods. Prints one JSON line per
// figure.
//
// The server runs in this process, so that its loop can be measured; the client is a separate thread.
//   --pods N            the number of pods (100000)
//   --store S           lmdb or memory
//   --stored-by P       ours: as this program would have stored them; other: by another release, each is decoded again
//   --only A,B          only these parts
import { mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { FeatureGates } from '../src/api/feature-gates.ts'
import type { Pod } from '../src/api/generated/types.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/logger.ts'
import { systemRandom } from '../src/base/random.ts'
import { SharedInformer, pods } from '../src/client/index.ts'
import { InProcessTransport } from '../src/cluster/index.ts'
import { ApiServer, Authenticator, admissionPlugins, createAuthority, issueServerCertificate, listen } from '../src/server/index.ts'
import { writerMark } from '../src/server/objects/read-stored.ts'
import { type Store, openLmdbStore, openMemoryStore } from '../src/store/index.ts'
import { rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'

interface Asked {
  url: string
  headers: Record<string, string>
  /** Ends a watch once this stands in what has come. */
  until?: string | undefined
}

/** The thread that asks: reads an answer to its end and throws it away. */
function ask({ url, headers, until }: Asked): Promise<{ code: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const request = https.get(url, { headers, rejectUnauthorized: false, agent: false }, (response) => {
      let bytes = 0
      let tail = ''
      const done = () => resolve({ code: response.statusCode ?? 0, bytes })
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (until === undefined) return
        tail = (tail + piece.toString('latin1')).slice(-(1 << 16))
        if (!tail.includes(until)) return
        done()
        request.destroy()
      })
      response.on('end', done)
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

if (!isMainThread) {
  parentPort!.on('message', (asked: Asked) => {
    const tell = (answer: object) => parentPort!.postMessage(answer) // oxlint-disable-line unicorn/require-post-message-target-origin
    ask(asked).then(tell, (e: Error) => tell({ code: 0, bytes: 0, error: e.message }))
  })
}

async function main(): Promise<void> {
  const { values: args } = parseArgs({
    options: {
      pods: { type: 'string', default: '100000' },
      store: { type: 'string', default: 'lmdb' },
      'stored-by': { type: 'string', default: 'ours' },
      only: { type: 'string' },
    },
  })
  const count = Number(args.pods)
  const parts = args.only?.split(',')
  const wants = (part: string) => !parts || parts.includes(part)
  const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-turns-'))
  const user = { name: 'bench', groups: ['system:masters'] }
  const gates = FeatureGates.of()
  const build = 'bench'
  const mark = args['stored-by'] === 'ours' ? writerMark(build, gates) : 1
  const open = (): Promise<Store> | Store => (args.store === 'memory' ? openMemoryStore() : openLmdbStore({ dir }))
  const serve = (store: Store) =>
    ApiServer.open({
      store, gates, build, authenticator: new Authenticator(new Map([['bench', user]])), admission: admissionPlugins, clock: systemClock, random: systemRandom,
      logger: silentLogger, release: 'bench', address: '127.0.0.1:1',
    })

  const measure = async (figure: string, run: () => Promise<object | void>): Promise<void> => {
    globalThis.gc?.()
    await pause(300)
    const meter = new TurnMeter()
    await pause(20)
    meter.reset()
    const start = performance.now()
    const cpu = process.cpuUsage()
    const detail = (await run()) ?? {}
    const ms = performance.now() - start
    const { user: spent, system } = process.cpuUsage(cpu)
    await pause(20)
    meter.stop()
    const about = { pods: count, store: args.store, storedBy: args['stored-by'], longestWallMs: rounded(meter.longestWallMs), over50Ms: meter.long, ms: rounded(ms), cpuMs: rounded((spent + system) / 1000) }
    console.log(JSON.stringify({ figure: `longest turn, ${figure}`, value: rounded(meter.longestCpuMs), unit: 'ms', detail: { ...about, ...detail } }))
  }

  let store = await open()
  await fill(store, count, mark)
  if (args.store !== 'memory') {
    await store.close()
    await measure('open the store', async () => void (store = await open()))
  }
  let server!: ApiServer
  await measure('start the server', async () => void (server = await serve(store)))
  const authority = createAuthority(Date.now())
  const listener = await listen({ address: '127.0.0.1', port: 0, serving: issueServerCertificate(authority, ['127.0.0.1'], Date.now()), clientAuthorities: [], handle: (exchange) => server.handle(exchange) })
  const worker = new Worker(new URL(import.meta.url))
  const asks = async (query: string, accept = 'application/json', until?: string, pathname = '/api/v1/pods') => {
    const answer = new Promise<object>((resolve) => worker.once('message', resolve))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage({ url: `https://127.0.0.1:${listener.port}${pathname}${query}`, headers: { authorization: 'Bearer bench', accept }, until })
    return answer
  }
  await asks('', 'application/json', undefined, '/livez')
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
  if (wants('json')) {
    await measure('first list, JSON', () => asks(''))
    await measure('list, JSON', () => asks(''))
    await measure('list, limit=500', () => asks('?limit=500'))
    await measure('list of a namespace', () => asks('', undefined, undefined, '/api/v1/namespaces/ns-7/pods'))
  }
  if (wants('selectors')) {
    await measure('first list, spec.nodeName=', () => asks('?fieldSelector=spec.nodeName%3Dnode-7'))
    await measure('list, spec.nodeName=', () => asks('?fieldSelector=spec.nodeName%3Dnode-7'))
    await measure('list, labels that nothing has', () => asks('?labelSelector=app%3Dnone'))
    await measure('list, labels that all have', () => asks('?labelSelector=app%3Dweb'))
  }
  if (wants('transforms')) {
    await measure('first list, Table', () => asks('', table))
    await measure('list, Table', () => asks('', table))
    await measure('list, metadata', () => asks('', partial))
    await measure('list, pretty', () => asks('?pretty=true'))
  }
  if (wants('watch')) {
    const end = '"k8s.io/initial-events-end":"true"'
    await measure('watch with initial events', () => asks('?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', undefined, end))
    await measure('watch of metadata with initial events', () => asks('?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', end))
    await measure('watch from an old version', () => asks('?watch=true&resourceVersion=1', undefined, `"name":"pod-${String(count - 1).padStart(6, '0')}"`))
  }
  if (wants('informer')) {
    const transport = new InProcessTransport(server, user)
    for (const round of ['first', 'second']) {
      await measure(`${round} informer in the process`, async () => {
        const informer = new SharedInformer<Pod>({ transport, type: pods, clock: systemClock, random: systemRandom, indexes: { node: (pod) => [pod.spec?.nodeName ?? ''] } })
        informer.start()
        await informer.synced()
      })
    }
    await measure('list in the process', async () => void (await transport.send({ method: 'GET', path: '/api/v1/pods' })))
    await transport.close()
  }
  if (wants('documents')) await measure('metrics', () => asks('', undefined, undefined, '/metrics'))
  if (wants('delete')) {
    await measure('delete of a collection', async () => {
      const transport = new InProcessTransport(server, user)
      for (const ns of [1, 2, 3]) await transport.send({ method: 'DELETE', path: `/api/v1/namespaces/ns-${ns}/pods`, body: { gracePeriodSeconds: 0 } })
      await transport.close()
    })
  }
  if (wants('writes')) {
    await measure('50,000 writes without a pause', () => churn(store, 50_000))
  }
  if (wants('compaction')) await measure('compaction', async () => void (await store.compact(store.revision)))
  const { rss, heapUsed, external } = process.memoryUsage()
  console.log(JSON.stringify({ figure: 'memory at the end', value: rounded(rss / 1e6), unit: 'MB', detail: { heapUsed: rounded(heapUsed / 1e6), external: rounded(external / 1e6) } }))
  await worker.terminate()
  await listener.close(0)
  server.close()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Measures the turns of this thread's loop, by the time that the thread was running: what others take of the machine is not counted. */
class TurnMeter {
  longestCpuMs = 0
  longestWallMs = 0
  /** Turns of more than 50 ms. */
  long = 0
  #cpuMs = threadCpuMs()
  #wallMs = performance.now()
  #isStopped = false

  constructor() {
    const look = () => {
      if (this.#isStopped) return
      const cpuMs = threadCpuMs()
      const wallMs = performance.now()
      if (cpuMs - this.#cpuMs > 50) this.long++
      this.longestCpuMs = Math.max(this.longestCpuMs, cpuMs - this.#cpuMs)
      this.longestWallMs = Math.max(this.longestWallMs, wallMs - this.#wallMs)
      this.#cpuMs = cpuMs
      this.#wallMs = wallMs
      setImmediate(look)
    }
    setImmediate(look)
  }

  reset(): void {
    this.longestCpuMs = this.longestWallMs = this.long = 0
  }

  stop(): void {
    this.#isStopped = true
  }
}

const schedule = openSync('/proc/self/schedstat', 'r')
const scheduled = Buffer.alloc(64)

/** Milliseconds for which the main thread has been running. */
function threadCpuMs(): number {
  const length = readSync(schedule, scheduled, 0, scheduled.length, 0)
  return Number(scheduled.toString('latin1', 0, length).split(' ')[0]) / 1e6
}

/** Pods as a Deployment's are on nodes: 1,000 to a namespace, 100 to a node. */
async function fill(store: Store, count: number, mark: number | undefined): Promise<void> {
  const text = podText('NAME').replace('"metadata":{', '"metadata":{"namespace":"NAMESPACE","uid":"UID","creationTimestamp":"2026-01-01T00:00:00Z","generation":1,')
  const status = ',"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"}],"podIP":"10.0.0.1","qosClass":"Burstable"}}'
  const value = text.slice(0, -1).replace('"schedulerName"', '"nodeName":"NODE","schedulerName"') + status
  for (let from = 0; from < count; from += 1000) {
    const namespace = `ns-${from / 1000}`
    const writes = Array.from({ length: Math.min(1000, count - from) }, (_, i) => {
      const name = `pod-${String(from + i).padStart(6, '0')}`
      const own = value.replace('NAMESPACE', namespace).replace('UID', `6f3f1f0a-7b1e-4c1b-9a53-${String(from + i).padStart(12, '0')}`).replace('NODE', `node-${Math.floor((from + i) / 100)}`)
      return store.write({ key: `/registry/pods/${namespace}/${name}`, expected: 0, value: Buffer.from(own.replaceAll('NAME', name)), mark })
    })
    await Promise.all(writes)
  }
}

/** One writer after the other, each as soon as it is answered: what a controller in the same process does. */
async function churn(store: Store, count: number): Promise<void> {
  const writer = async (id: number) => {
    let expected = 0
    for (let i = 0; i < count / 32; i++) {
      const result = await store.write({ key: `/other/${id}`, expected, value: Buffer.alloc(100) })
      if (result.ok) expected = result.revision
    }
  }
  await Promise.all(Array.from({ length: 32 }, (_, id) => writer(id)))
}

if (isMainThread) await main()
