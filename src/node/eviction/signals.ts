import { canonicalQuantity, isQuantity, quantityToNumber } from '../../api/numbers/quantity.ts'
import type { MachineState, Supply } from '../machine/machine.ts'

/** What a node can be under; also the names of its conditions. */
export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure'

interface SignalSpec {
  pressure: Pressure
  /** What pods are evicted to get back. */
  resource: 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'
  supply(machine: MachineState): Supply
}

/** In the order in which they are looked after: memory first. */
export const signals = {
  'memory.available': { pressure: 'MemoryPressure', resource: 'memory', supply: (m) => m.memory },
  'nodefs.available': { pressure: 'DiskPressure', resource: 'ephemeral-storage', supply: (m) => m.disk },
  'nodefs.inodesFree': { pressure: 'DiskPressure', resource: 'inodes', supply: (m) => m.inodes },
  'pid.available': { pressure: 'PIDPressure', resource: 'pids', supply: (m) => m.pids },
} as const satisfies Record<string, SignalSpec>
export type Signal = keyof typeof signals

/** From where on a node has too little of something: an amount, or a share of all there is. */
export interface Threshold {
  signal: Signal
  value: { amount: number } | { share: number }
}

/** A threshold that is met, and how it is. */
export interface Met {
  signal: Signal
  /** What there should be at least. */
  wanted: number
  available: number
}

export const defaultThresholds = 'memory.available<100Mi,nodefs.available<1%,nodefs.inodesFree<1%'

/**
 * Reads `memory.available<100Mi,nodefs.available<10%`, as kubelet's --eviction-hard; an empty text means none. Throws a
 * sentence.
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

/** The thresholds that are met, in the order in which they are looked after. */
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

/** An amount of bytes as Kubernetes prints it: `64Mi`, `1234567`. */
export const bytesText = (bytes: number): string =>
  bytes % 1024 === 0 ? canonicalQuantity(`${bytes / 1024}Ki`) : String(bytes)

/** An amount as it stands in the message of an eviction. */
export const amountText = (signal: Signal, amount: number): string =>
  isBytes(signal) ? bytesText(Math.floor(amount)) : String(Math.floor(amount))
