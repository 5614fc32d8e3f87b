import type { Pod } from '../../api/generated/types.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import { PodProbes, hasProbes } from '../probes/pod-probes.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import { type Verdict, generateStatus } from '../status/generate-status.ts'
import { containersOf } from './containers.ts'
import {
  type Lifecycle,
  type LifecycleEffect,
  type LifecycleInput,
  endOf,
  hasEnded,
  isEnding,
  isInApi,
  stepOf,
  transition,
} from './lifecycle.ts'
import type { NodeContext } from './node-context.ts'
import { PodSync, type SyncHost } from './pod-sync.ts'
import { deletePod, gracePeriodOf, removeAll, stopAll, stopSandboxes } from './stopping.ts'
import { isFinalPhase } from '../../api/kinds/pods/pod-availability.ts'

/** The delay before a failed step is retried. */
const syncRetryMs = 10_000
const endRetryMs = 1000

/** Reasons with which steps are aborted. */
const podEnds = new Error('the pod is being stopped')
const agentStops = new Error('the agent stops')

/**
 * Runs one pod, one step at a time. `transition()` decides which step a pod needs and which effects an input has; the
 * worker carries them out. Each step reads the newest state of the pod and of the runtime.
 */
export class PodWorker implements SyncHost {
  readonly #context: NodeContext
  readonly #over: (uid: string) => void
  readonly uid: string
  #pod: Pod
  #state: Lifecycle = { kind: 'Syncing' }
  /** True while a step runs. */
  #isRunning = false
  /** True if another step has to follow the one in progress. */
  #isAgain = false
  /** Aborts the step in progress. */
  #abort: AbortController | undefined
  #wakeTimer: { atMs: number; cancel: () => void } | undefined
  /** Undefined for a pod without probes. */
  readonly #probes: PodProbes | undefined
  readonly #sync: PodSync
  /** True if the runtime remembers every sandbox that the pod had before this worker was created. */
  readonly #isVouchedFor: boolean

  /** Calls `over` when nothing of the pod is left. */
  constructor(context: NodeContext, pod: Pod, over: (uid: string) => void) {
    this.#context = context
    this.#over = over
    this.#pod = pod
    this.uid = pod.metadata.uid!
    // Timestamps in the API have whole seconds: a pod that started in the second of the runtime's first memory is older.
    const { startTime } = pod.status ?? {}
    this.#isVouchedFor = startTime === undefined || Date.parse(startTime) > context.runtime.remembersSinceMs
    this.#probes = hasProbes(pod) ? this.#makeProbes() : undefined
    this.#sync = new PodSync(context, this, this.#probes)
    this.update(pod)
    this.wake()
  }

  #makeProbes(): PodProbes {
    const { clock, prober } = this.#context
    return new PodProbes({
      clock,
      prober,
      turned: () => this.changed(),
      unhealthy: (container, _kind, message) =>
        this.#context.event(this.#pod, 'Warning', 'Unhealthy', message, container),
    })
  }

  get pod(): Pod {
    return this.#pod
  }

  get isEnding(): boolean {
    return isEnding(this.#state)
  }

  get hasEnded(): boolean {
    return hasEnded(this.#state)
  }

  /** Takes a newer version of the pod. */
  update(pod: Pod): void {
    const old = this.#pod
    this.#pod = pod
    this.#context.status.observed(pod)
    if (pod.metadata.deletionTimestamp) this.#end('deleted', gracePeriodOf(pod))
    const { metadata } = old
    const isNew =
      metadata.generation !== pod.metadata.generation ||
      !deepEqual(metadata.labels, pod.metadata.labels) ||
      !deepEqual(metadata.annotations, pod.metadata.annotations)
    if (isNew) {
      this.#sync.markStale()
      this.changed()
    } else if (pod.spec.readinessGates?.length) this.report()
  }

  /** Called when the API server no longer has the pod. */
  removed(): void {
    this.#context.status.forget(this.uid)
    this.#end('removed', gracePeriodOf(this.#pod))
    this.wake()
  }

  /** Terminates the pod with a phase and reason that the node decides, for example at shutdown. */
  judge(verdict: Verdict, graceSeconds: number): void {
    if (this.isEnding) return
    this.#end('judged', graceSeconds, verdict)
    this.report()
    this.wake()
  }

  /** Terminates the pod, whose containers have ended for good. */
  finish(): void {
    this.#end('finished', gracePeriodOf(this.#pod))
  }

  /** Terminates the pod because the node is short of a resource. */
  evict(message: string, graceSeconds: number): void {
    this.#context.event(this.#pod, 'Warning', 'Evicted', message)
    this.judge(
      { phase: 'Failed', reason: 'Evicted', message, disruption: { reason: 'TerminationByKubelet', message } },
      graceSeconds,
    )
  }

  /** Called when the runtime's state of the pod, or the result of a probe, has changed. */
  changed(): void {
    this.#sync.abortLostStart()
    this.report()
    this.wake()
  }

  /** Stops the worker and leaves the pod running: the agent stops. */
  abandon(): void {
    this.#take({ kind: 'abandon' })
  }

  /** Schedules the crash that the fault plan or the pod asks for. Called when the fault plan changes. */
  meetCrash(): void {
    this.#sync.meetCrash()
  }

  /** Runs a step now, or right after the step in progress. */
  wake(): void {
    if (this.#state.kind === 'Gone') return
    if (this.#isRunning) this.#isAgain = true
    else void this.#run()
  }

  /** Runs a step after the delay, unless a step is due sooner. */
  wakeIn(delayMs: number): void {
    const atMs = this.#context.clock.now() + delayMs
    if (this.#wakeTimer && this.#wakeTimer.atMs <= atMs) return
    this.#wakeTimer?.cancel()
    const cancel = this.#context.clock.after(delayMs, () => {
      this.#wakeTimer = undefined
      this.wake()
    })
    this.#wakeTimer = { atMs, cancel }
  }

  /** Generates the pod's status and hands it to the status manager. */
  report(isUrgent = false): void {
    if (!isInApi(this.#state)) return
    const { status, view, runtime, clock, tellsSandbox } = this.#context
    const known = status.get(this.uid)
    const state = view.state(this.uid)
    this.#followProbes()
    const next = generateStatus({
      pod: this.#pod,
      old: known ?? this.#pod.status ?? {},
      state,
      runtimeName: runtime.name,
      waiting: this.#sync.waiting,
      health: this.#sync.health,
      isEnding: this.isEnding,
      verdict: endOf(this.#state)?.verdict,
      hostIps: this.#context.place().hostIps,
      nowMs: clock.now(),
      tellsSandbox,
      failure: this.#sync.failure,
      // A sandbox is only created after the volumes are mounted: after a restart of the agent, it shows that they are.
      hasVolumes: !this.hasEnded,
      hasEnded: this.hasEnded,
      isVouchedFor: this.#isVouchedFor,
      isFirst: known === undefined,
    })
    // The resources are free before the phase is visible, because a replacement may be bound to this node at once.
    if (isFinalPhase(next.phase)) this.#context.left(this.uid)
    status.set(this.#pod, next, isUrgent)
  }

  #end(why: 'deleted' | 'removed' | 'finished' | 'judged', graceSeconds: number, verdict?: Verdict): void {
    if (this.#state.kind === 'Syncing')
      this.#context.logger.debug('stopping a pod', { pod: this.#pod.metadata.name, why, graceSeconds })
    this.#take({ kind: 'end', end: { why, graceSeconds, verdict } })
  }

  #take(input: LifecycleInput): void {
    const { state, effects } = transition(this.#state, input)
    this.#state = state
    for (const effect of effects) this.#carryOut(effect)
  }

  #carryOut(effect: LifecycleEffect): void {
    switch (effect.kind) {
      case 'interrupt':
        return this.#abort?.abort(effect.why === 'pod ends' ? podEnds : agentStops)
      case 'shorten grace':
        for (const { id, state } of this.#context.view.state(this.uid).containers)
          // The stop in progress reports the error.
          if (state === 'running') this.#context.runtime.stopContainer(id, effect.graceSeconds).catch(() => {})
        return
      case 'wake':
        return this.wake()
      case 'release':
        return this.#release()
      case 'tell gone':
        this.#context.status.forget(this.uid)
        return this.#over(this.uid)
    }
  }

  #release(): void {
    this.#sync.release()
    this.#wakeTimer?.cancel()
    this.#probes?.stop()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    do {
      this.#isAgain = false
      const { signal } = (this.#abort = new AbortController())
      try {
        await this.#step(signal)
      } catch (error) {
        this.#failed(error)
      } finally {
        this.#abort = undefined
      }
    } while (this.#isAgain && stepOf(this.#state) !== 'none')
    this.#isRunning = false
  }

  #failed(error: unknown): void {
    // An interrupted step is followed by the next one already.
    if (this.#state.kind === 'Gone' || error === podEnds) return
    const pod = `${this.#pod.metadata.namespace}/${this.#pod.metadata.name}`
    this.#context.logger.warn(this.isEnding ? 'failed to stop a pod' : 'failed to sync pod', {
      pod,
      error,
    })
    this.wakeIn(this.isEnding ? endRetryMs : syncRetryMs)
  }

  async #step(signal: AbortSignal): Promise<void> {
    switch (stepOf(this.#state)) {
      case 'sync':
        return await this.#sync.run(signal)
      case 'terminate':
        return await this.#terminate()
      case 'delete':
        return await this.#delete(signal)
      case 'remove':
        return await this.#remove()
      case 'none':
        return
    }
  }

  #followProbes(): void {
    if (this.hasEnded || !this.#probes) return
    const state = this.#context.view.state(this.uid)
    const podIp = readySandbox(state, true)?.ips[0] ?? this.#context.place().hostIps[0] ?? ''
    const told = [...(this.#pod.status?.containerStatuses ?? []), ...(this.#pod.status?.initContainerStatuses ?? [])]
    this.#probes.update(
      this.#pod,
      containersOf(this.#pod).flatMap((container) => {
        const status = state.containers.find((c) => c.metadata.name === container.spec.name)
        if (status?.state !== 'running') return []
        const wasReady = told.some((s) => s.containerID === `${this.#context.runtime.name}://${status.id}` && s.ready)
        return [{ container, status, podIp, wasReady }]
      }),
    )
  }

  async #terminate(): Promise<void> {
    const { view, volumes } = this.#context
    await stopAll(this.#context, this.#pod, view.state(this.uid), endOf(this.#state)!.graceSeconds)
    this.report()
    await stopSandboxes(this.#context, view.state(this.uid))
    this.#probes?.stop()
    await volumes.unmount(this.uid)
    this.#take({ kind: 'terminated' })
    this.report(true)
  }

  /** Deletes the pod from the API once its last status is there. */
  async #delete(signal: AbortSignal): Promise<void> {
    await this.#context.status.settled(this.uid)
    if (this.#state.kind === 'Gone') return
    await deletePod(this.#context, this.#pod, signal)
    this.#take({ kind: 'deleted' })
  }

  async #remove(): Promise<void> {
    const { view, volumes } = this.#context
    await removeAll(this.#context, view.state(this.uid))
    await volumes.forget(this.uid)
    this.#take({ kind: 'removed' })
  }
}
