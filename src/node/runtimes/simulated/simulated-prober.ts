import type { Clock } from '../../../base/clock.ts'
import { parseDuration } from '../../../base/duration.ts'
import type { ProbeKind, Prober } from '../../probes/prober.ts'
import { annotationOf } from './behaviour.ts'

/**
 * Simulates probes: they succeed from `coxswain.dev/simulate-KIND-after` until `coxswain.dev/simulate-KIND-until`, both
 * counted from the container's start.
 */
export function simulatedProber(clock: Clock): Prober {
  return {
    async probe(kind: ProbeKind, _handler, { pod, spec, container }) {
      const told = (what: string) => annotationOf(pod.metadata.annotations ?? {}, `${kind}-${what}`, spec.name)
      const upMs = clock.now() - container.startedAtMs
      const isSuccess =
        upMs >= (parseDuration(told('after')) ?? 0) && upMs < (parseDuration(told('until')) ?? Number.POSITIVE_INFINITY)
      return { isSuccess, output: isSuccess ? '' : 'simulated failure' }
    },
    /** Hooks are simulated like other commands. */
    async run(handler, { pod, spec }) {
      const exitCode = Number(annotationOf(pod.metadata.annotations ?? {}, 'exec-exit-code', spec.name) ?? '0')
      const isSuccess = !handler.exec || exitCode === 0
      return {
        isSuccess,
        output: isSuccess ? '' : `command '${handler.exec!.command?.join(' ') ?? ''}' exited with ${exitCode}: `,
      }
    },
  }
}
