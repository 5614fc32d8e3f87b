import { readFileSync } from 'node:fs'

/** Runs `work` for 0 to count - 1, so many at a time. */
export async function inParallel(count: number, width: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) await work(next++)
    }),
  )
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export const rounded = (value: number): number => Number(value.toPrecision(4))

/** The resources used by a part of a load, by process. */
export interface Spent {
  seconds: number
  /** CPU of the server by operation, which a busy machine changes less than the time; absent where it is not ours. */
  serverMicros: number | undefined
  /** The share of one core that the load itself took: near 1, it measures the load and not the server. */
  loadCpu: number
  /** Cores that were busy with neither of them: near 0, or the times say more about the machine than about the server. */
  othersCpu: number | undefined
}

/** CPU seconds that the whole machine has been busy so far. */
export function machineSeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = /^cpu +(.*)/.exec(readFileSync('/proc/stat', 'utf8'))![1]!.split(' ').map(Number)
  return (user + nice + system + irq + softirq) / 100
}

/** Measures `work`, which is `operations` long. `serverCpu` reads the server's CPU seconds so far. */
export async function spend(operations: number, serverCpu: (() => number) | undefined, work: () => Promise<unknown>): Promise<Spent> {
  const server = serverCpu?.()
  const machine = machineSeconds()
  const load = process.cpuUsage()
  const start = performance.now()
  await work()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(load)
  const byLoad = (user + system) / 1e6
  const byServer = server === undefined ? undefined : serverCpu!() - server
  return {
    seconds,
    serverMicros: byServer === undefined ? undefined : (byServer * 1e6) / operations,
    loadCpu: byLoad / seconds,
    othersCpu: byServer === undefined ? undefined : Math.max(0, machineSeconds() - machine - byLoad - byServer) / seconds,
  }
}
