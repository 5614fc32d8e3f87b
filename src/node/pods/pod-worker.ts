import type { Pod } from '../../api/generated/types.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import type { SandboxFailure } from '../../api/kinds/sandbox-condition.ts'
import { parseDuration } from '../../base/duration.ts'
import { linkAbort } from '../../client/index.ts'
import { PodProbes } from '../probes/pod-probes.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import type { Health, WaitingReason } from '../status/container-statuses.ts'
import { type Verdict, generateStatus } from '../status/generate-status.ts'
import { BackOff } from './back-off.ts'
import { ClaimMarks } from './claim-marks.ts'
import { type PodContainer, containersOf } from './containers.ts'
import { deletePod } from './delete-pod.ts'
import type { NodeContext } from './node-context.ts'
import { type Verdicts, planPod } from './plan.ts'
import { PodVolumes } from './pod-volumes.ts'
import { runtimeHandlerOf } from './runtime-handler.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { sandboxFailureOf } from './sandbox-failure.ts'
import { StartError } from './start-error.ts'
import { startContainer } from './starting.ts'
import { gracePeriodOf, removeAll, stopAll, stopContainer, stopSandboxes } from './stopping.ts'

/** When there was no sandbox to be had, it is tried again after so long, and then after twice as long. */
const sandboxRetryFirstMs = 1000
const sandboxRetryLongestMs = 10_000
/** A container that was not started for a reason without a time of its own is tried again after so long. */
const startRetryMs = 10_000
/** The API did not take the mark on a claim. */
const markRetryMs = 2000
/** On a pod: after how long its first sandbox crashes. */
const crashAnnotation = 'coxswain.dev/simulate-sandbox-crash-after'
const soonestCrashMs = 1000
/** The runtime did not end what it was to end. */
const endRetryMs = 1000

/** Why the start of a container is given up. */
const sandboxGone = new Error('the sandbox is not ready any more')

/** Why what keeps a pod running is given up. */
const podEnds = new Error('the pod is being ended')
const agentStops = new Error('the agent stops')
/** Says the same of each container as probes of a pod that has none. */
const unprobed: Health & Verdicts = { isStarted: () => true, isReady: () => true, failedProbe: () => undefined }
const noneWaiting: ReadonlyMap<string, WaitingReason> = new Map()

/** Why a pod is being ended. */
type Ending = { why: 'deleted' | 'removed' | 'finished' | 'judged'; graceSeconds: number }

/** Runs one pod: one thing after another, always by the newest state. First it is kept running, then it is ended, then it has ended. */
export class PodWorker {
  readonly #context: NodeContext
  readonly #over: (uid: string) => void
  readonly uid: string
  #pod: Pod
  /** Of pods that have any. */
  readonly #probes: PodProbes | undefined
  /** By container; made when one waits for something. */
  #waiting: Map<string, WaitingReason> | undefined
  readonly #volumes: PodVolumes
  readonly #marks: ClaimMarks
  /** True if the runtime would know of any sandbox that the pod has had before this worker took it. */
  readonly #isVouchedFor: boolean
  readonly #sandboxRetries: BackOff
  /** Of the last attempt to make a sandbox; undefined once there is one. */
  #sandboxFailure: SandboxFailure | undefined
  #verdict: Verdict | undefined
  #ending: Ending | undefined
  #hasEnded = false
  #isOver = false
  #isRunning = false
  #isAgain = false
  /** Of what is being done: to keep the pod running until it is to end, or to end it until the agent stops. None in between. */
  #abort: AbortController | undefined
  /** True once the API does not have it any more: nobody is told how it is. */
  #isUnknown = false
  /** The container that is being started: it is given up when its sandbox is gone, however long its image takes. */
  #starting: { sandboxId: string; abort(reason: unknown): void } | undefined
  /** True if there was a sandbox since this worker took the pod. */
  #hadSandbox = false
  /** The crash that the fault plan has in mind for the present sandbox. */
  #crash: { sandboxId: string; atMs: number; cancel: () => void } | undefined
  #cancelWake: { atMs: number; cancel: () => void } | undefined

  /** `over` is told when nothing is left of the pod. */
  constructor(context: NodeContext, pod: Pod, over: (uid: string) => void) {
    this.#context = context
    this.#over = over
    this.#pod = pod
    this.uid = pod.metadata.uid!
    const { clock } = context
    this.#sandboxRetries = new BackOff(clock, sandboxRetryFirstMs, sandboxRetryLongestMs)
    this.#volumes = new PodVolumes(context, () => this.wake())
    this.#marks = new ClaimMarks(context)
    // Times of the API have whole seconds: a pod that was taken in the second of the runtime's first memory is older.
    const { startTime } = pod.status ?? {}
    this.#isVouchedFor = startTime === undefined || Date.parse(startTime) > context.runtime.remembersSinceMs
    this.#probes = hasProbes(pod) ? this.#makeProbes() : undefined
    this.update(pod)
    this.wake()
  }

  #makeProbes(): PodProbes {
    const { clock, prober } = this.#context
    return new PodProbes({
      clock,
      prober,
      turned: () => this.changed(),
      unhealthy: (container, _kind, message) => this.#context.event(this.#pod, 'Warning', 'Unhealthy', message, container),
    })
  }

  get pod(): Pod {
    return this.#pod
  }

  /** A newer version of the pod. */
  update(pod: Pod): void {
    const old = this.#pod
    this.#pod = pod
    this.#context.status.observed(pod)
    if (pod.metadata.deletionTimestamp) this.#end({ why: 'deleted', graceSeconds: gracePeriodOf(pod) })
    const { metadata } = old
    const isNew = metadata.generation !== pod.metadata.generation || !deepEqual(metadata.labels, pod.metadata.labels) || !deepEqual(metadata.annotations, pod.metadata.annotations)
    if (isNew) {
      this.#volumes.markStale()
      this.changed()
    } else if (pod.spec.readinessGates?.length) this.report()
  }

  /** The pod is not in the API any more. */
  removed(): void {
    this.#context.status.forget(this.uid)
    this.#end({ why: 'removed', graceSeconds: gracePeriodOf(this.#pod) })
    this.wake()
  }

  /** Ends the pod, and says why: its node goes down, it takes too much. */
  judge(verdict: Verdict, graceSeconds: number): void {
    if (this.#verdict || this.#ending) return
    this.#verdict = verdict
    this.#end({ why: 'judged', graceSeconds })
    this.report()
    this.wake()
  }

  /** Ends the pod because the node has too little of something. */
  evict(message: string, graceSeconds: number): void {
    this.#context.event(this.#pod, 'Warning', 'Evicted', message)
    this.judge({ phase: 'Failed', reason: 'Evicted', message, disruption: { reason: 'TerminationByKubelet', message } }, graceSeconds)
  }

  /** Something has happened to it in the runtime, or in what probes say of it. */
  changed(): void {
    if (this.#starting && this.#readySandbox?.id !== this.#starting.sandboxId) this.#starting.abort(sandboxGone)
    this.report()
    this.wake()
  }

  /** Whether it is to end, whatever the reason. */
  get isEnding(): boolean {
    return this.#ending !== undefined
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Leaves the pod as it is, and forgets it: the agent stops. */
  abandon(): void {
    this.#isOver = true
    this.#release()
    this.#abort?.abort(agentStops)
  }

  wake(): void {
    if (this.#isOver) return
    if (this.#isRunning) this.#isAgain = true
    else void this.#run()
  }

  /** Says how the pod is now. */
  report(isUrgent = false): void {
    if (this.#isOver || this.#isUnknown || this.#ending?.why === 'removed') return
    const { status, view, runtime, clock, tellsSandbox } = this.#context
    const known = status.get(this.uid)
    const state = view.state(this.uid)
    this.#followProbes()
    const next = generateStatus({
      pod: this.#pod,
      old: known ?? this.#pod.status ?? {},
      state,
      runtimeName: runtime.name,
      waiting: this.#waiting ?? noneWaiting,
      health: this.#probes ?? unprobed,
      isEnding: this.#ending !== undefined,
      verdict: this.#verdict,
      hostIps: this.#context.place().hostIps,
      nowMs: clock.now(),
      tellsSandbox,
      failure: this.#volumes.failure ?? this.#sandboxFailure,
      // A sandbox is only made once volumes are there: after a restart, it shows that they are.
      hasVolumes: !this.#hasEnded,
      hasEnded: this.#hasEnded,
      isVouchedFor: this.#isVouchedFor,
      isFirst: known === undefined,
    })
    // Whoever reads that it has ended may put another in its place.
    if (next.phase === 'Succeeded' || next.phase === 'Failed') this.#context.left(this.uid)
    status.set(this.#pod, next, isUrgent)
  }

  #end(ending: Ending): void {
    const { why, graceSeconds } = ending
    if (this.#ending) {
      if (why === 'deleted' || why === 'removed') this.#hasten(ending)
      return
    }
    this.#ending = ending
    this.#context.logger.debug('a pod is being ended', { pod: this.#pod.metadata.name, why, graceSeconds })
    this.#abort?.abort(podEnds)
    this.wake()
  }

  /** Somebody is in more of a hurry than the one before. */
  #hasten(ending: Ending): void {
    const before = this.#ending!
    this.#ending = { why: ending.why, graceSeconds: Math.min(before.graceSeconds, ending.graceSeconds) }
    if (ending.graceSeconds < before.graceSeconds && !this.#hasEnded) {
      for (const { id, state } of this.#context.view.state(this.uid).containers) {
        if (state === 'running') this.#context.runtime.stopContainer(id, ending.graceSeconds).catch(() => {}) // whoever stops it first hears of what is wrong
      }
    }
    this.wake()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    do {
      this.#isAgain = false
      try {
        await this.#step()
      } catch (error) {
        this.#failed(error)
      }
    } while (this.#isAgain && !this.#isOver)
    this.#isRunning = false
  }

  #failed(error: unknown): void {
    // Given up on purpose: what comes next has been asked for already.
    if (this.#isOver || error === podEnds) return
    const pod = `${this.#pod.metadata.namespace}/${this.#pod.metadata.name}`
    this.#context.logger.warn(this.#ending ? 'a pod could not be ended' : 'a pod could not be looked after', { pod, error })
    this.#wakeIn(this.#ending ? endRetryMs : startRetryMs)
  }

  async #step(): Promise<void> {
    if (this.#isOver) return
    const { signal } = (this.#abort = new AbortController())
    try {
      if (!this.#ending) return await this.#sync(signal)
      if (!this.#hasEnded) await this.#terminate()
      if (this.#ending.why === 'deleted' || this.#ending.why === 'removed') await this.#finish(signal)
    } finally {
      this.#abort = undefined
    }
  }

  async #sync(signal: AbortSignal): Promise<void> {
    this.#volumes.follow(this.#pod)
    this.report()
    const phase = this.#context.status.get(this.uid)?.phase
    if (phase === 'Succeeded' || phase === 'Failed') return this.#end({ why: 'finished', graceSeconds: gracePeriodOf(this.#pod) })
    if (this.#checkDeadline()) return
    this.#context.runtime.expectSandbox?.()
    // Containers that an agent has started which did not mark claims.
    if (this.#hasContainers) await this.#mayUseClaims([], signal)
    const { failure } = this.#volumes
    const mounted = await this.#volumes.mount(this.#pod, signal)
    if (this.#volumes.failure !== failure) this.report()
    if (mounted !== 'mounted') {
      this.#wakeIn(mounted.retryMs)
      if (!mounted.mayGoOn) return
    }
    // Each turn changes something, or ends it.
    while (!signal.aborted) {
      const plan = planPod(this.#pod, this.#context.view.state(this.uid), this.#probes ?? unprobed)
      if (plan.kind === 'finished') {
        this.report()
        return this.#end({ why: 'finished', graceSeconds: gracePeriodOf(this.#pod) })
      }
      if (plan.kind === 'create sandbox') {
        // A runtime that has lost all of the pod was rebooted, and what was mounted is gone with it.
        if (this.#hadSandbox && this.#context.view.state(this.uid).sandboxes.length === 0) {
          this.#hadSandbox = false
          this.#volumes.lose()
          return this.wake()
        }
        if (!(await this.#createSandbox(plan.attempt, signal))) return
        continue
      }
      this.#sandboxFailure = undefined
      if (!this.#hadSandbox) this.meetCrash()
      this.#hadSandbox = true
      for (const { container, status, message } of plan.stop) {
        await stopContainer(this.#context, this.#pod, container, status, Number(this.#pod.spec.terminationGracePeriodSeconds ?? 30), message)
        this.report()
      }
      if (plan.start.length > 0 && !(await this.#mayUseClaims(plan.start, signal))) return
      const started = await this.#start(plan.start, signal)
      if (!started && plan.stop.length === 0) return
    }
  }

  get #hasContainers(): boolean {
    return this.#context.view.state(this.uid).containers.length > 0
  }

  /** True if the claims of the pod are marked as used. Without the marks no container starts; it says why it waits. */
  async #mayUseClaims(starting: readonly PodContainer[], signal: AbortSignal): Promise<boolean> {
    try {
      await this.#marks.ensure(this.#pod, this.#hasContainers, signal)
      return true
    } catch (e) {
      if (signal.aborted) throw e
      const message = `Failed to mark the claims of the pod as used: ${e instanceof Error ? e.message : String(e)}`
      this.#context.event(this.#pod, 'Warning', 'FailedMarkClaim', message)
      for (const { spec } of starting) this.#wait(spec.name, { reason: 'ClaimNotMarked', message })
      this.report()
      this.#wakeIn(markRetryMs)
      return false
    }
  }

  #wait(container: string, why: WaitingReason): void {
    this.#waiting ??= new Map()
    this.#waiting.set(container, why)
  }

  /** Whether at least one was started. */
  async #start(containers: readonly PodContainer[], signal: AbortSignal): Promise<boolean> {
    let started = 0
    for (const container of containers) {
      if (signal.aborted) return false
      const sandbox = this.#readySandbox
      if (!sandbox) return true // it has crashed meanwhile
      const { name } = container.spec
      const link = linkAbort(signal)
      this.#starting = { sandboxId: sandbox.id, abort: link.abort }
      try {
        await startContainer(this.#context, { pod: this.#pod, sandbox, volumes: this.#volumes.paths }, container, link.signal)
        this.#waiting?.delete(name)
        started++
      } catch (e) {
        if (link.signal.reason === sandboxGone) return true
        if (!(e instanceof StartError)) throw e
        this.#wait(name, { reason: e.reason, message: e.message })
        this.#wakeIn(e.retryMs === undefined ? startRetryMs : e.retryMs)
      } finally {
        this.#starting = undefined
        link.unlink()
      }
      this.report()
    }
    return started > 0
  }

  async #createSandbox(attempt: number, signal: AbortSignal): Promise<boolean> {
    const { stages, runtime, view } = this.#context
    const pod = this.#pod
    const config = sandboxConfig(this.#context, pod, attempt)
    try {
      const handler = await runtimeHandlerOf(this.#context, pod, signal)
      // What is left of the one before must not be in the way.
      await stopSandboxes(this.#context, view.state(this.uid))
      const id = await stages.run('network', pod, signal, () => stages.run('sandbox', pod, signal, () => runtime.runPodSandbox(config, handler, signal)))
      await view.refresh(id)
    } catch (e) {
      if (signal.aborted) throw e
      const message = e instanceof Error ? e.message : String(e)
      this.#context.event(pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`)
      this.#sandboxFailure = sandboxFailureOf(e)
      this.report()
      this.#sandboxRetries.next('', this.#context.clock.now())
      this.#wakeIn(this.#sandboxRetries.delayMs(''))
      return false
    }
    this.#sandboxRetries.reset('')
    this.report()
    this.#hadSandbox = true
    this.meetCrash()
    return true
  }

  /** Crashes the sandbox when the fault plan, or the pod itself, wants that. Asked for each sandbox, and when the plan changes. */
  meetCrash(): void {
    const sandbox = this.#readySandbox
    if (!sandbox || this.#isOver) return
    const { clock, stages, runtime } = this.#context
    const planned = stages.crashInMs(this.#pod)
    // Only the first one: what is made in its place lives.
    const own = sandbox.metadata.attempt === 0 ? parseDuration(this.#pod.metadata.annotations?.[crashAnnotation]) : undefined
    const inMs = planned ?? (own === undefined ? undefined : sandbox.createdAtMs + own - clock.now())
    if (inMs === undefined || !runtime.crashSandbox) return
    // Never at once: a plan that crashes every sandbox would leave no time for anything else.
    const atMs = Math.max(clock.now() + inMs, sandbox.createdAtMs + soonestCrashMs)
    if (this.#crash?.sandboxId === sandbox.id && this.#crash.atMs <= atMs) return
    this.#crash?.cancel()
    const cancel = clock.after(Math.max(atMs - clock.now(), 0), () => {
      if (this.#isOver || this.#readySandbox?.id !== sandbox.id) return
      this.#context.logger.info('the fault plan crashes a sandbox', { pod: this.#pod.metadata.name })
      void Promise.resolve(runtime.crashSandbox?.(sandbox.id)).catch((error: unknown) => this.#context.logger.warn('a sandbox could not be crashed', { error }))
    })
    this.#crash = { sandboxId: sandbox.id, atMs, cancel }
  }

  get #readySandbox() {
    return readySandbox(this.#context.view.state(this.uid), this.#pod.spec.hostNetwork === true)
  }

  #release(): void {
    this.#crash?.cancel()
    this.#volumes.release()
    this.#cancelWake?.cancel()
    this.#probes?.stop()
  }

  #followProbes(): void {
    if (this.#hasEnded || !this.#probes) return
    const state = this.#context.view.state(this.uid)
    const podIp = readySandbox(state, true)?.ips[0] ?? this.#context.place().hostIps[0] ?? ''
    const told = [...(this.#pod.status?.containerStatuses ?? []), ...(this.#pod.status?.initContainerStatuses ?? [])]
    this.#probes.update(this.#pod, containersOf(this.#pod).flatMap((container) => {
      const status = state.containers.find((c) => c.metadata.name === container.spec.name)
      if (status?.state !== 'running') return []
      const wasReady = told.some((s) => s.containerID === `${this.#context.runtime.name}://${status.id}` && s.ready)
      return [{ container, status, podIp, wasReady }]
    }))
  }

  /** Whether the pod has been active for longer than it may. */
  #checkDeadline(): boolean {
    const limit = this.#pod.spec.activeDeadlineSeconds
    const startTime = this.#context.status.get(this.uid)?.startTime
    if (limit === undefined || !startTime) return false
    const leftMs = Date.parse(startTime) + Number(limit) * 1000 - this.#context.clock.now()
    if (leftMs > 0) {
      this.#wakeIn(leftMs)
      return false
    }
    const message = 'Pod was active on the node longer than the specified deadline'
    this.#context.event(this.#pod, 'Normal', 'DeadlineExceeded', message)
    this.judge({ phase: 'Failed', reason: 'DeadlineExceeded', message }, gracePeriodOf(this.#pod))
    return true
  }

  async #terminate(): Promise<void> {
    const { view, volumes } = this.#context
    await stopAll(this.#context, this.#pod, view.state(this.uid), this.#ending!.graceSeconds)
    this.report()
    await stopSandboxes(this.#context, view.state(this.uid))
    this.#probes?.stop()
    await volumes.unmount(this.uid)
    this.#hasEnded = true
    this.report(true)
  }

  /** The last word is in the API before the pod is gone from it. */
  async #finish(signal: AbortSignal): Promise<void> {
    const { status, view, volumes } = this.#context
    if (this.#ending!.why === 'deleted') {
      await status.settled(this.uid)
      if (this.#isOver) return
      await deletePod(this.#context, this.#pod, signal)
    }
    if (this.#isOver) return
    this.#isUnknown = true
    await removeAll(this.#context, view.state(this.uid))
    await volumes.forget(this.uid)
    this.#isOver = true
    this.#release()
    status.forget(this.uid)
    this.#over(this.uid)
  }

  #wakeIn(delayMs: number): void {
    const atMs = this.#context.clock.now() + delayMs
    if (this.#cancelWake && this.#cancelWake.atMs <= atMs) return
    this.#cancelWake?.cancel()
    const cancel = this.#context.clock.after(delayMs, () => {
      this.#cancelWake = undefined
      this.wake()
    })
    this.#cancelWake = { atMs, cancel }
  }
}

/** Which containers of a pod have probes never changes. */
const hasProbes = ({ spec }: Pod): boolean => [...(spec.initContainers ?? []), ...spec.containers].some(isProbed)
const isProbed = (c: Pod['spec']['containers'][number]): boolean => Boolean(c.startupProbe || c.livenessProbe || c.readinessProbe)
