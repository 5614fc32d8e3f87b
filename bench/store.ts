// Measures the embedded store. Prints one JSON line per figure; memory needs node --expose-gc.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openLmdbStore } from '../src/store/index.ts'
import type { Store } from '../src/store/index.ts'

const value = Buffer.alloc(3700, 'an object of the size of a pod ')
const records = 100_000
const key = (index: number): string => `/registry/pods/bench-namespace/pod-${index.toString().padStart(7, '0')}`

function report(figure: string, amount: number, unit: string): void {
  console.log(JSON.stringify({ bench: 'store', figure, value: Number(amount.toPrecision(4)), unit }))
}

/** The part of mapped files, Node's own included, that counts as memory of this process. Linux only. */
function residentFilesMb(): number {
  return Number(/RssFile:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) / 1024
}

async function create(store: Store, index: number): Promise<void> {
  const result = await store.write({ key: key(index), expected: 0, value })
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

/** The share of time for which the main thread is busy. The CPU time of the process includes its I/O threads. */
async function busy(work: () => Promise<unknown>): Promise<number> {
  const before = performance.eventLoopUtilization()
  await work()
  return performance.eventLoopUtilization(before).active
}

async function memory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    global.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function measureWrites(dir: string): Promise<void> {
  const store = await openLmdbStore({ dir })
  let next = 0
  const write = (writersCount: number, count: number): Promise<void> => writers(store, writersCount, next, (next += count))
  await write(32, 2000)

  const sequential = await timed(() => write(1, 500))
  report('sequential write', sequential.ms / 500, 'ms')

  const load = 20_000
  const concurrent = await timed(() => write(32, load))
  report('durable writes, 32 writers', load / (concurrent.ms / 1000), '1/s')
  report('main thread per write, 32 writers', ((await busy(() => write(32, load))) / load) * 1000, 'µs')

  let seen = 0
  const watch = await store.watch('/registry/', store.revision, (events) => (seen += events.length))
  report('main thread per write, 32 writers and a watch', ((await busy(() => write(32, load))) / load) * 1000, 'µs')
  if (seen !== load) throw new Error(`the watch saw ${seen} of ${load}`)
  watch.close()

  await write(256, records - next)
  for (const time of ['first', 'second']) {
    const range = await timed(() => store.range('/registry/pods/', { limit: 2000 }))
    report(`range of 2,000 of 100,000, ${time} time`, range.ms, 'ms')
  }
  await store.close()
}

async function measureOpen(dir: string): Promise<void> {
  const before = await memory()
  let store: Store | undefined
  const open = await timed(async () => (store = await openLmdbStore({ dir })))
  report('open with 100,000 records', open.ms, 'ms')
  report('memory per record', ((await memory()) - before) / records, 'bytes')
  report('file per record', store!.size() / records, 'bytes')
  const all = await timed(() => store!.range(''))
  report('range of all 100,000', all.ms, 'ms')
  report('resident mapped files after that', residentFilesMb(), 'MB')
  await store!.close()
}

async function measureCompaction(dir: string): Promise<void> {
  const store = await openLmdbStore({ dir })
  for (let from = 0; from < records; from += 10_000) {
    const { items } = await store.range('/registry/', { after: from > 0 ? key(from - 1) : undefined, limit: 10_000 })
    await Promise.all(items.map((item) => store.write({ key: item.key, expected: item.revision, value })))
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const compaction = await timed(() => store.compact(store.revision))
  delay.disable()
  report('compaction of 100,000 records', compaction.ms, 'ms')
  report('longest pause in compaction', delay.max / 1e6, 'ms')
  await store.close()
}

const dir = mkdtempSync(join(tmpdir(), 'store-bench-'))
try {
  await measureWrites(dir)
  await measureOpen(dir)
  await measureCompaction(dir)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
