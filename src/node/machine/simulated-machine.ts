import { quantityToNumber } from '../../api/numbers/quantity.ts'
import type { SimulatedRuntime } from '../runtimes/simulated/index.ts'
import type { Machine } from './machine.ts'

const mostPids = 32_768

/** A machine that runs only the containers of a simulated runtime. Its disk is always empty. */
export const simulatedMachine = (runtime: SimulatedRuntime, capacity: Readonly<Record<string, string>>): Machine => {
  const amount = (name: string) => quantityToNumber(capacity[name] ?? '0')
  const [memory, disk] = [amount('memory'), amount('ephemeral-storage')]
  return {
    async look() {
      const { atMs, cpuNanos, memoryBytes, containers } = runtime.totals()
      return {
        atMs,
        cpuNanos,
        memory: { capacity: memory, available: Math.max(0, memory - memoryBytes) },
        disk: { capacity: disk, available: disk },
        inodes: { capacity: 1, available: 1 },
        pids: { capacity: mostPids, available: mostPids - containers },
      }
    },
  }
}
