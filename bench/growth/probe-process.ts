// Asks a server for small things while others load it, from a process of its own: see probe.ts, which starts it.
// Its arguments are a kubeconfig and a namespace, which must be there. It answers `end` with a summary since `begin`.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { http2Client } from '../load/client.ts'
import { rounded } from '../load/measure.ts'
import { watchObjects } from '../load/object-watch.ts'
import { pause } from '../load/server.ts'
import { readTarget } from '../load/target.ts'
import { Api, mergePatch } from './api.ts'
import { Stopwatch } from './latencies.ts'
import type { ProbeSummary } from './probe.ts'

const [kubeconfig = '', namespace = ''] = process.argv.slice(2)
const livezMs = 50
const askMs = 200
const mapName = 'bench-probe'
const mapsPath = `/api/v1/namespaces/${namespace}/configmaps`

const target = readTarget(kubeconfig)
/** Connections of their own: none waits for the answer of another. */
const apis = { livez: new Api(target, 1), list: new Api(target, 1), get: new Api(target, 1) }
/** Many writes may be under way at a time, without new connections for them. */
const writer = await http2Client(target, 1)
const times = {
  livez: new Stopwatch(livezMs),
  list: new Stopwatch(askMs),
  get: new Stopwatch(askMs),
  watch: new Stopwatch(Number.POSITIVE_INFINITY),
}
const ownDelay = monitorEventLoopDelay({ resolution: 10 })
let errors = 0
let lastError = ''
let cpuAtBegin = process.cpuUsage()

const failed = (why: unknown) => {
  errors++
  lastError = why instanceof Error ? why.message : String(why)
}

/** Asks again and again, at most every `intervalMs`, until the process ends. */
async function ask(watch: Stopwatch, intervalMs: number, send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const began = performance.now()
    const id = watch.start(began)
    await send().catch(failed)
    watch.stop(id, performance.now())
    await pause(Math.max(0, intervalMs - (performance.now() - began)))
  }
}

/** By the number that was written: what the watch has not told of yet. */
const written = new Map<string, number>()
const mostWritten = 1000
let next = 0

/** Writes a number that the watch is to bring, timed from the moment it is sent. It waits for no other. */
async function write(): Promise<void> {
  if (written.size >= mostWritten) throw new Error(`the watch is ${mostWritten} events behind`)
  const n = String(next++)
  written.set(n, times.watch.start(performance.now()))
  const body = JSON.stringify({ data: { n } })
  const { code, text } = await writer.send('PATCH', `${mapsPath}/${mapName}`, body, mergePatch)
  if (code !== 200) throw new Error(`the ConfigMap cannot be patched: ${code} ${text}`)
}

function see(object: unknown): void {
  const n = (object as { data?: { n?: string } }).data?.n ?? ''
  const id = written.get(n)
  if (id === undefined) return
  times.watch.stop(id, performance.now())
  written.delete(n)
}

/** Watches for ever. What is written while no watch is open is not timed. */
async function watch(): Promise<void> {
  await watchObjects(target, mapsPath, (_type, object) => see(object), () => {
    failed(new Error('the watch has ended'))
    for (const id of written.values()) times.watch.cancel(id)
    written.clear()
    setTimeout(() => void watch().catch(failed), askMs)
  })
}

function begin(): void {
  const now = performance.now()
  for (const watch of Object.values(times)) watch.reset(now)
  ownDelay.reset()
  errors = 0
  cpuAtBegin = process.cpuUsage()
}

function summary(): ProbeSummary {
  const now = performance.now()
  const { user, system } = process.cpuUsage(cpuAtBegin)
  const { livez, list, get, watch } = times
  return {
    livez: livez.read(now), list: list.read(now), get: get.read(now), watch: watch.read(now),
    ownDelayP99Ms: rounded(ownDelay.percentile(99) / 1e6),
    cpuSeconds: (user + system) / 1e6,
    errors,
    ...(errors > 0 ? { lastError } : {}),
  }
}

process.on('message', (word) => {
  if (word === 'begin') begin()
  else process.send!(summary())
})
// It ends with whoever has started it, not before: a signal to all of them is theirs to answer.
process.on('disconnect', () => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})

ownDelay.enable()
await apis.get.send('POST', mapsPath, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: mapName }, data: {} })
await watch()
void ask(times.livez, livezMs, () => apis.livez.send('GET', '/livez'))
void ask(times.list, askMs, () => apis.list.send('GET', '/api/v1/pods?limit=500'))
void ask(times.get, askMs, () => apis.get.ask('GET', `${mapsPath}/${mapName}`))
setInterval(() => void write().catch(failed), askMs)
process.send!('ready')
