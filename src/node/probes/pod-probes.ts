import type { Pod, Probe } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { PodContainer } from '../pods/containers.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'
import type { Health } from '../status/container-statuses.ts'
import { ContainerProbe } from './container-probe.ts'
import type { ProbeKind, ProbeOutcome, Prober } from './prober.ts'

interface PodProbesOptions {
  clock: Clock
  prober: Prober
  /** Called when a result has changed, so that the status or the plan of the pod may change. */
  turned(): void
  unhealthy(container: PodContainer, kind: ProbeKind, output: string): void
}

interface Watched {
  container: PodContainer
  probes: Map<ProbeKind, ContainerProbe>
  /** The probe that has failed often enough to restart the container. */
  failed: 'startup' | 'liveness' | undefined
  wasReady: boolean
}

const words: Record<ProbeKind, string> = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' }

/** Runs all probes of one pod. Liveness and readiness probes start after the startup probe has succeeded. */
export class PodProbes implements Health {
  readonly #options: PodProbesOptions
  /** By the id of the running container. Created for the first container with probes. */
  #watched: Map<string, Watched> | undefined

  constructor(options: PodProbesOptions) {
    this.#options = options
  }

  /**
   * Starts and stops probes as containers start and end. `wasReady`: the container was ready before this agent started.
   */
  update(
    pod: Pod,
    running: readonly { container: PodContainer; status: ContainerStatus; podIp: string; wasReady: boolean }[],
  ): void {
    const ids = new Set(running.map(({ status }) => status.id))
    for (const [id, { probes }] of this.#watched ?? []) {
      if (ids.has(id)) continue
      for (const probe of probes.values()) probe.stop()
      this.#watched?.delete(id)
    }
    for (const { container, status, podIp, wasReady } of running) {
      const { startupProbe, livenessProbe, readinessProbe } = container.spec
      if (this.#watched?.has(status.id) || container.sort === 'init' || container.sort === 'ephemeral') continue
      if (!startupProbe && !livenessProbe && !readinessProbe) continue
      const watched: Watched = { container, probes: new Map(), failed: undefined, wasReady }
      this.#watched ??= new Map()
      this.#watched.set(status.id, watched)
      const look = (kind: ProbeKind, probe: Probe): Promise<ProbeOutcome> =>
        this.#options.prober.probe(
          kind,
          probe,
          { pod, spec: container.spec, container: status, podIp },
          probe.timeoutSeconds ?? 1,
        )
      if (startupProbe && !wasReady) this.#follow(watched, status, 'startup', startupProbe, look)
      else this.#followRest(watched, status, look)
    }
  }

  /** Stops all probes for good. */
  stop(): void {
    for (const { probes } of this.#watched?.values() ?? []) for (const probe of probes.values()) probe.stop()
    this.#watched = undefined
  }

  isStarted(container: PodContainer, id: string): boolean {
    const watched = this.#watched?.get(id)
    if (!container.spec.startupProbe) return true
    return watched !== undefined && (watched.probes.get('startup')?.result ?? true)
  }

  isReady(container: PodContainer, id: string): boolean {
    if (!this.isStarted(container, id)) return false
    if (!container.spec.readinessProbe) return true
    return this.#watched?.get(id)?.probes.get('readiness')?.result ?? false
  }

  /** The probe because of which the container must be restarted. */
  failedProbe(id: string): 'startup' | 'liveness' | undefined {
    return this.#watched?.get(id)?.failed
  }

  #followRest(
    watched: Watched,
    status: ContainerStatus,
    look: (kind: ProbeKind, probe: Probe) => Promise<ProbeOutcome>,
  ): void {
    const { livenessProbe, readinessProbe } = watched.container.spec
    if (livenessProbe) this.#follow(watched, status, 'liveness', livenessProbe, look)
    if (readinessProbe) this.#follow(watched, status, 'readiness', readinessProbe, look)
  }

  #follow(
    watched: Watched,
    status: ContainerStatus,
    kind: ProbeKind,
    probe: Probe,
    look: (kind: ProbeKind, probe: Probe) => Promise<ProbeOutcome>,
  ): void {
    const { clock, turned, unhealthy } = this.#options
    watched.probes.set(
      kind,
      new ContainerProbe({
        kind,
        probe,
        clock,
        startedAtMs: status.startedAtMs,
        initially: kind === 'liveness' || (kind === 'readiness' && watched.wasReady),
        look: () => look(kind, probe),
        failed: (output) => unhealthy(watched.container, kind, `${words[kind]} probe failed: ${output}`),
        turned: (isSuccess) => {
          if (!isSuccess && kind !== 'readiness') watched.failed = kind
          if (isSuccess && kind === 'startup') {
            watched.probes.get('startup')?.stop()
            this.#followRest(watched, status, look)
          }
          turned()
        },
      }),
    )
  }
}

/** True if any container has a probe. The probes of a pod never change. */
export const hasProbes = ({ spec }: Pod): boolean => [...(spec.initContainers ?? []), ...spec.containers].some(isProbed)

const isProbed = (c: Pod['spec']['containers'][number]): boolean =>
  Boolean(c.startupProbe || c.livenessProbe || c.readinessProbe)
