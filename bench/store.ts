// What the embedded store costs. Prints one JSON line per figure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openLmdbStore } from '../src/store/index.ts'
import type { Store } from '../src/store/index.ts'

const valueSize = 3700
const value = (seed: number): Buffer => Buffer.alloc(valueSize, `object ${seed} `)
const key = (index: number): string => `/registry/pods/bench-namespace/pod-${index.toString().padStart(7, '0')}`

function report(figure: string, amount: number, unit: string): void {
  console.log(JSON.stringify({ bench: 'store', figure, value: Number(amount.toPrecision(4)), unit }))
}

/** Only what is the process's own: a mapped file's pages belong to the system's cache. */
function residentMb(kind: 'RssAnon' | 'RssFile'): number {
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024
}

async function create(store: Store, index: number): Promise<void> {
  const result = await store.write({ key: key(index), expected: 0, value: value(index) })
  if (!result.ok) throw new Error(`${key(index)} exists`)
}

async function writers(store: Store, count: number, from: number, to: number): Promise<void> {
  let next = from
  await Promise.all(Array.from({ length: count }, async () => {
    while (next < to) await create(store, next++)
  }))
}

async function timed(work: () => Promise<unknown>): Promise<{ ms: number; cpuMs: number }> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const used = process.cpuUsage(cpu)
  return { ms: performance.now() - start, cpuMs: (used.user + used.system) / 1000 }
}

/** How busy the main thread is, which the CPU time of the process, its I/O threads included, does not tell. */
async function busy(work: () => Promise<unknown>): Promise<number> {
  const before = performance.eventLoopUtilization()
  await work()
  return performance.eventLoopUtilization(before).active
}

const dir = mkdtempSync(join(tmpdir(), 'store-bench-'))
try {
  let store = await openLmdbStore({ dir })
  await writers(store, 32, 0, 2000)

  const sequential = await timed(() => writers(store, 1, 2000, 2500))
  report('sequential write', sequential.ms / 500, 'ms')

  const load = 20_000
  const concurrent = await timed(() => writers(store, 32, 2500, 2500 + load))
  report('durable writes, 32 writers', load / (concurrent.ms / 1000), '1/s')
  const main = await busy(() => writers(store, 32, 2500 + load, 2500 + 2 * load))
  report('main thread per write, 32 writers', (main / load) * 1000, 'µs')

  let seen = 0
  const watch = await store.watch('/registry/', store.revision, (events) => (seen += events.length))
  const watched = await busy(() => writers(store, 32, 2500 + 2 * load, 2500 + 3 * load))
  report('main thread per write, 32 writers and a watch', (watched / load) * 1000, 'µs')
  if (seen !== load) throw new Error(`the watch saw ${seen} of ${load}`)
  watch.close()

  await writers(store, 256, 2500 + 3 * load, 100_000)
  for (const temperature of ['cold', 'warm']) {
    const range = await timed(() => store.range('/registry/pods/', { limit: 2000 }))
    report(`range of 2,000 of 100,000, ${temperature}`, range.ms, 'ms')
  }
  const rss = { anon: residentMb('RssAnon'), file: residentMb('RssFile') }
  report('resident after 100,000 writes, own', rss.anon, 'MB')
  report('resident after 100,000 writes, mapped files', rss.file, 'MB')
  await store.close()

  global.gc?.()
  const before = process.memoryUsage()
  const open = await timed(async () => (store = await openLmdbStore({ dir })))
  report('open with 100,000 records', open.ms, 'ms')
  global.gc?.()
  const after = process.memoryUsage()
  report('index memory per record', (after.heapUsed + after.external - before.heapUsed - before.external) / 100_000, 'bytes')
  report('file per record', store.size() / 100_000, 'bytes')

  for (let round = 0; round < 10; round++) {
    const { items } = await store.range('/registry/', { after: key(round * 10_000), limit: 10_000 })
    await Promise.all(items.map((item) => store.write({ key: item.key, expected: item.revision, value: item.value })))
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const compaction = await timed(() => store.compact(store.revision))
  delay.disable()
  report('compaction of 100,000 records', compaction.ms, 'ms')
  report('longest pause in compaction', delay.max / 1e6, 'ms')
  await store.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
