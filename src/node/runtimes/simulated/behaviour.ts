import { isQuantity, quantityToNumber } from '../../../api/numbers/quantity.ts'
import { parseDuration } from '../../../base/duration.ts'
import { containerSortAnnotation, restartPolicyAnnotation } from '../../runtime/labels.ts'
import type { ContainerConfig, SandboxStatus } from '../../runtime/runtime.ts'

/** The simulated behaviour of a container without a process. */
export interface Behaviour {
  /** The run time. Undefined if it runs until it is stopped. */
  exitAfterMs: number | undefined
  exitCode: number
  /** The number of times that it exits before it stays up. Undefined: every time. */
  exits: number | undefined
  message: string
  /** The time that it takes to exit after its stop signal. */
  stopAfterMs: number
  /** CPU used while running, as a fraction of one core. */
  cores: number
  memoryBytes: number
  /** True if it uses more memory than its limit. */
  isTooLarge: boolean
  /** The lines that it logs when it starts. */
  log: readonly string[]
  /** The interval at which it logs the same lines again. Undefined: never. */
  logEveryMs: number | undefined
}

/** The exit code of a killed process. */
export const killed = 137

/** The run time of containers that are expected to end. */
const shortWhileMs = 1000

/** The default CPU and memory usage of a container. */
const fewCores = 0.001
const littleMemoryBytes = 8 << 20

const amount = (text: string | undefined): number | undefined =>
  text !== undefined && isQuantity(text) ? Math.max(0, quantityToNumber(text)) : undefined

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined

/**
 * Reads a simulation annotation. One for a single container (`…simulate-exit-code.NAME`) precedes one for all regular
 * containers (`…simulate-exit-code`).
 */
export function annotationOf(
  annotations: Readonly<Record<string, string>>,
  what: string,
  container: string,
  sort = 'regular',
): string | undefined {
  const own = annotations[`coxswain.dev/simulate-${what}.${container}`]
  return own ?? (sort === 'regular' ? annotations[`coxswain.dev/simulate-${what}`] : undefined)
}

/**
 * Reads a container's behaviour from the annotations of its pod. By default a container that is not always restarted
 * exits with 0 after a second.
 */
export function behaviourOf(sandbox: SandboxStatus, config: ContainerConfig): Behaviour {
  const sort = config.annotations[containerSortAnnotation] ?? 'regular'
  const told = (what: string) => annotationOf(sandbox.annotations, what, config.metadata.name, sort)
  const isExpectedToEnd =
    sort === 'init' || (sort === 'regular' && (config.annotations[restartPolicyAnnotation] ?? 'Always') !== 'Always')
  const exitCode = number(told('exit-code'))
  const exitAfter = told('exit-after')
  const memoryBytes = amount(told('memory')) ?? littleMemoryBytes
  const isTooLarge = memoryBytes > (config.resources.memoryBytes || Infinity)
  const byItself = isTooLarge || isExpectedToEnd || exitCode !== undefined ? shortWhileMs : undefined
  return {
    exitAfterMs: exitAfter === 'never' ? undefined : (parseDuration(exitAfter) ?? byItself),
    exitCode: isTooLarge ? killed : (exitCode ?? 0),
    exits: number(told('exits')),
    message: told('message') ?? '',
    stopAfterMs: parseDuration(told('stop-after')) ?? 0,
    cores: amount(told('cpu')) ?? fewCores,
    memoryBytes,
    isTooLarge,
    log: told('log')?.split('\n') ?? [],
    logEveryMs: parseDuration(told('log-every')) || undefined,
  }
}
