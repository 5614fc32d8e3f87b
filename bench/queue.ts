// Measures the work queue. Prints one JSON line per figure.
import { systemClock } from '../src/base/clock.ts'
import { MetricsRegistry } from '../src/base/metrics.ts'
import { WorkQueue } from '../src/client/queue/work-queue.ts'

const rounds = 1_000_000
const keys = Array.from({ length: 10_000 }, (_, i) => `namespace-${i % 100}/object-${i}`)

function report(figure: string, amount: number, unit: string): void {
  console.log(JSON.stringify({ bench: 'queue', figure, value: Number(amount.toPrecision(4)), unit }))
}

async function perSecond(count: number, work: () => Promise<void> | void): Promise<number> {
  const start = performance.now()
  await work()
  return count / ((performance.now() - start) / 1000)
}

const makeQueue = () => new WorkQueue('bench', { clock: systemClock, metrics: new MetricsRegistry() })

/** Keys are added in batches of `batch`, as many as then wait, and taken out by one worker. */
async function addGetDone(queue: WorkQueue, count: number, batch: number): Promise<void> {
  for (let i = 0; i < count; i += batch) {
    for (let k = 0; k < batch; k++) queue.add(keys[(i + k) % keys.length]!, { priority: k % 4 === 0 ? -100 : 0 })
    for (let k = 0; k < batch; k++) queue.done(await queue.get())
  }
}

/** Workers wait for keys; each key is handed straight over. */
async function waitingWorkers(queue: WorkQueue, count: number, workers: number): Promise<void> {
  const { signal } = new AbortController()
  let left = count
  const work = async () => {
    while (left-- > 0) queue.done(await queue.get(signal))
  }
  const running = Array.from({ length: workers }, work)
  for (let i = 0; i < count; i++) {
    queue.add(keys[i % keys.length]!)
    if (i % workers === workers - 1) await undefined
  }
  await Promise.all(running)
}

await addGetDone(makeQueue(), rounds, 1000) // warms up
report('add, get, done; 1000 keys waiting', await perSecond(rounds, () => addGetDone(makeQueue(), rounds, 1000)), '1/s')
report('add, get, done; 10000 keys waiting', await perSecond(rounds, () => addGetDone(makeQueue(), rounds, 10_000)), '1/s')
report('add, get, done; 8 workers waiting', await perSecond(rounds, () => waitingWorkers(makeQueue(), rounds, 8)), '1/s')
report('add of a key that waits already', await perSecond(rounds, () => {
  const queue = makeQueue()
  for (let i = 0; i < rounds; i++) queue.add(keys[i % 100]!)
}), '1/s')
report('addAfter, 10000 keys delayed', await perSecond(rounds, () => {
  const queue = makeQueue()
  for (let i = 0; i < rounds; i++) queue.addAfter(keys[(i * 7919) % keys.length]!, 1000 + ((i * 104_729) % 1_000_000))
}), '1/s')
process.exit(0)
