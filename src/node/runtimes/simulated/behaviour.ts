import { isQuantity, quantityToNumber } from '../../../api/numbers/quantity.ts'
import { parseDuration } from '../../../base/duration.ts'
import { containerSortAnnotation, restartPolicyAnnotation } from '../../runtime/labels.ts'
import type { ContainerConfig, SandboxStatus } from '../../runtime/runtime.ts'

/** What a container does that runs no process. */
export interface Behaviour {
  /** Undefined: it runs until it is stopped. */
  exitAfterMs: number | undefined
  exitCode: number
  /** How often it ends by itself before it stays up; undefined: every time. */
  exits: number | undefined
  message: string
  /** How long it takes to end once it is asked to. */
  stopAfterMs: number
  /** Of one core, while it runs. */
  cores: number
  memoryBytes: number
  /** It takes more memory than it may. */
  isTooLarge: boolean
  /** What it says when it starts, in lines. */
  log: readonly string[]
  /** How long it takes until it says the same again; undefined: once is enough. */
  logEveryMs: number | undefined
}

/** What a process ends with that was killed. */
export const killed = 137

/** After so long a container ends that nobody expects to run for ever. */
const shortWhileMs = 1000

/** What a container that says nothing about it takes. */
const fewCores = 0.001
const littleMemoryBytes = 8 << 20

const amount = (text: string | undefined): number | undefined =>
  text !== undefined && isQuantity(text) ? Math.max(0, quantityToNumber(text)) : undefined

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined

/**
 * An annotation for one container (`…simulate-exit-code.NAME`) goes before that for all of the regular ones
 * (`…simulate-exit-code`).
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
 * Reads a container's behaviour from its pod's annotations. A container that is not restarted whatever happens ends
 * well after a short while.
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
