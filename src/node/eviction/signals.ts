import { canonicalQuantity, isQuantity, quantityToNumber } from '../../api/numbers/quantity.ts'
import type { MachineState, Supply } from '../machine/machine.ts'

/** Pressures of a node, which are also the types of its conditions. */
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

interface SignalSpec {
  pressure: Pressure
  /** The resource that evictions reclaim. */
  resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'
  supply(machine: MachineState): Supply
}

/** The eviction signals in the order of evaluation: memory first. */
export const signals = {
  'memory.available': { pressure: 'MemoryPressure', resource: 'memory', supply: (m) => m.memory },
  'nodefs.available': { pressure: 'DiskPressure', resource: 'ephemeral-storage', supply: (m) => m.disk },
  'nodefs.inodesFree': { pressure: 'DiskPressure', resource: 'inodes', supply: (m) => m.inodes },
  'pid.available': { pressure: 'PIDPressure', resource: 'pids', supply: (m) => m.pids },
} as const satisfies Record<string, SignalSpec>
export type Signal = keyof typeof signals

/** A lower limit of a free resource: an amount, or a share of the capacity. */
export interface Threshold {
  signal: Signal
  value: { amount: number } | { share: number }
}

/** A threshold that is met, with the measured value. */
export interface Met {
  signal: Signal
  /** The required minimum. */
  wanted: number
  available: number
}

export const defaultThresholds = 'memory.available<100Mi,nodefs.available<1%,nodefs.inodesFree<1%'

/**
 * Parses a value of kubelet's --eviction-hard, such as `memory.available<100Mi,nodefs.available<10%`. An empty text has
 * no thresholds. Throws one sentence if it is invalid.
 */
export function parseThresholds(text: string): Threshold[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [signal = '', value = '', ...more] = part.trim().split('<')
      if (more.length > 0 || !Object.hasOwn(signals, signal))
        throw new Error(
          `${JSON.stringify(part.trim())} is no threshold of ${Object.keys(signals).join(', ')}: memory.available<100Mi`,
        )
      const share = /^(\d+(?:\.\d+)?)%$/.exec(value)
      if (!share && (!isQuantity(value) || quantityToNumber(value) < 0))
        throw new Error(`${signal}: ${JSON.stringify(value)} is neither an amount nor a share like 10%`)
      return {
        signal: signal as Signal,
        value: share ? { share: Number(share[1]) / 100 } : { amount: quantityToNumber(value) },
      }
    })
}

/** The thresholds that are met, in the order of evaluation. */
export function thresholdsMet(thresholds: readonly Threshold[], machine: MachineState): Met[] {
  const order = Object.keys(signals)
  return thresholds
    .flatMap(({ signal, value }): Met[] => {
      const { available, capacity } = signals[signal].supply(machine)
      const wanted = 'share' in value ? value.share * capacity : value.amount
      return available < wanted ? [{ signal, wanted, available }] : []
    })
    .sort((a, b) => order.indexOf(a.signal) - order.indexOf(b.signal))
}

const isBytes = (signal: Signal): boolean => signal.endsWith('.available') && signal !== 'pid.available'

/** Formats bytes as Kubernetes does: `64Mi`, `1234567`. */
export const bytesText = (bytes: number): string =>
  bytes % 1024 === 0 ? canonicalQuantity(`${bytes / 1024}Ki`) : String(bytes)

/** Formats an amount for the message of an eviction. */
export const amountText = (signal: Signal, amount: number): string =>
  isBytes(signal) ? bytesText(Math.floor(amount)) : String(Math.floor(amount))
