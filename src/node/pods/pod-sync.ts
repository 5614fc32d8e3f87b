import type { Pod } from '../../api/generated/types.ts'
import type { SandboxFailure } from '../../api/kinds/pods/sandbox-condition.ts'
import { linkAbort } from '../../client/index.ts'
import type { PodProbes } from '../probes/pod-probes.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import type { Health, WaitingReason } from '../status/container-statuses.ts'
import type { Verdict } from '../status/generate-status.ts'
import { BackOff } from './back-off.ts'
import { type PodContainer, StartError } from './containers.ts'
import type { NodeContext } from './node-context.ts'
import { type Verdicts, planPod } from './plan.ts'
import { SandboxCrash } from './sandbox-crash.ts'
import { sandboxFailureOf } from './sandbox-failure.ts'
import { createSandbox } from './sandbox.ts'
import { startContainer } from './starting.ts'
import { gracePeriodOf, stopContainer } from './stopping.ts'
import { ClaimMarks } from './volumes/claim-marks.ts'
import { PodVolumes } from './volumes/pod-volumes.ts'
import { isFinalPhase } from '../../api/kinds/pods/pod-availability.ts'

/** The delay before a failed sandbox is created again: 1 s, 2 s, 4 s, 8 s, then 10 s. */
const sandboxRetryMinMs = 1000
const sandboxRetryMaxMs = 10_000
/** The delay before a container is started again, if the error has no delay of its own. */
const startRetryMs = 10_000
const markRetryMs = 2000

/** The reason with which the start of a container is aborted. */
const sandboxGone = new Error('the sandbox is not ready any more')

/** The health of a pod without probes. */
const unprobed: Health & Verdicts = { isStarted: () => true, isReady: () => true, failedProbe: () => undefined }
const noneWaiting: ReadonlyMap<string, WaitingReason> = new Map()

/** The part of a pod's worker that its sync calls. */
export interface SyncHost {
  readonly uid: string
  /** The newest version of the pod. */
  readonly pod: Pod
  report(): void
  /** Runs the sync again right after this one. */
  wake(): void
  wakeIn(delayMs: number): void
  finish(): void
  judge(verdict: Verdict, graceSeconds: number): void
}

/** Keeps one pod running: mounts its volumes, creates its sandbox, starts and restarts its containers. */
export class PodSync {
  readonly #context: NodeContext
  readonly #host: SyncHost
  readonly health: Health & Verdicts
  readonly #volumes: PodVolumes
  readonly #marks: ClaimMarks
  readonly #crash: SandboxCrash
  readonly #sandboxRetries: BackOff
  /** By container: why it waits. Created for the first container that waits. */
  #waiting: Map<string, WaitingReason> | undefined
  /** The failure of the last attempt to create a sandbox; undefined once the pod has one. */
  #sandboxFailure: SandboxFailure | undefined
  /** True if the pod has had a sandbox since its worker was created. */
  #hadSandbox = false
  /** The container start in progress. It is aborted when its sandbox is lost, for example during an image pull. */
  #starting: { sandboxId: string; abort(reason: unknown): void } | undefined

  constructor(context: NodeContext, host: SyncHost, probes: PodProbes | undefined) {
    this.#context = context
    this.#host = host
    this.health = probes ?? unprobed
    this.#volumes = new PodVolumes(context, () => host.wake())
    this.#marks = new ClaimMarks(context)
    this.#crash = new SandboxCrash(context, () => this.#readySandbox)
    this.#sandboxRetries = new BackOff(context.clock, sandboxRetryMinMs, sandboxRetryMaxMs)
  }

  get #pod(): Pod {
    return this.#host.pod
  }

  /** Why containers wait, by name. */
  get waiting(): ReadonlyMap<string, WaitingReason> {
    return this.#waiting ?? noneWaiting
  }

  /** Why the pod has no sandbox. */
  get failure(): SandboxFailure | undefined {
    return this.#volumes.failure ?? this.#sandboxFailure
  }

  /** Called when the spec, the labels or the annotations have changed: volumes may show them. */
  markStale(): void {
    this.#volumes.markStale()
  }

  /** Aborts the container start in progress if its sandbox is not ready any more. */
  abortLostStart(): void {
    if (this.#starting && this.#readySandbox?.id !== this.#starting.sandboxId) this.#starting.abort(sandboxGone)
  }

  /** Schedules the crash that the fault plan or the pod asks for. */
  meetCrash(): void {
    this.#crash.schedule(this.#pod)
  }

  /** Cancels timers and releases the objects that the pod refers to. */
  release(): void {
    this.#crash.close()
    this.#volumes.release()
  }

  /** Brings the runtime closer to the pod's spec, until nothing is left to do or something has to be waited for. */
  async run(signal: AbortSignal): Promise<void> {
    this.#volumes.follow(this.#pod)
    this.#host.report()
    const phase = this.#context.status.get(this.#host.uid)?.phase
    if (isFinalPhase(phase)) return this.#host.finish()
    if (this.#checkDeadline()) return
    this.#context.runtime.expectSandbox?.()
    // Containers that an older agent started may have unmarked claims.
    if (this.#hasContainers) await this.#mayUseClaims([], signal)
    if (!(await this.#mountVolumes(signal))) return
    // Each iteration changes the state of the pod or ends the loop.
    while (!signal.aborted && (await this.#advance(signal)));
  }

  /** True if the pod has been active for longer than `activeDeadlineSeconds`, and is ended for it. */
  #checkDeadline(): boolean {
    const limit = this.#pod.spec.activeDeadlineSeconds
    const startTime = this.#context.status.get(this.#host.uid)?.startTime
    if (limit === undefined || !startTime) return false
    const leftMs = Date.parse(startTime) + Number(limit) * 1000 - this.#context.clock.now()
    if (leftMs > 0) {
      this.#host.wakeIn(leftMs)
      return false
    }
    const message = 'Pod was active on the node longer than the specified deadline'
    this.#context.event(this.#pod, 'Normal', 'DeadlineExceeded', message)
    this.#host.judge({ phase: 'Failed', reason: 'DeadlineExceeded', message }, gracePeriodOf(this.#pod))
    return true
  }

  /** True if containers may start: the volumes are mounted, or out of date at worst. */
  async #mountVolumes(signal: AbortSignal): Promise<boolean> {
    const { failure } = this.#volumes
    const mounted = await this.#volumes.mount(this.#pod, signal)
    if (this.#volumes.failure !== failure) this.#host.report()
    if (mounted === 'mounted') return true
    this.#host.wakeIn(mounted.retryMs)
    return mounted.mayGoOn
  }

  /** Carries out the plan for the present state. True if that changed the state, so that there is more to plan. */
  async #advance(signal: AbortSignal): Promise<boolean> {
    const plan = planPod(this.#pod, this.#context.view.state(this.#host.uid), this.health)
    if (plan.kind === 'finished') {
      this.#host.report()
      this.#host.finish()
      return false
    }
    if (plan.kind === 'create sandbox') {
      // A runtime that has lost all sandboxes of the pod was rebooted, and the mounts are lost too.
      if (this.#hadSandbox && this.#context.view.state(this.#host.uid).sandboxes.length === 0) {
        this.#hadSandbox = false
        this.#volumes.lose()
        this.#host.wake()
        return false
      }
      return await this.#createSandbox(plan.attempt, signal)
    }
    this.#sandboxFailure = undefined
    if (!this.#hadSandbox) this.meetCrash()
    this.#hadSandbox = true
    const graceSeconds = Number(this.#pod.spec.terminationGracePeriodSeconds ?? 30)
    for (const { container, status, message } of plan.stop) {
      await stopContainer(this.#context, this.#pod, container, status, graceSeconds, message)
      this.#host.report()
    }
    if (plan.start.length > 0 && !(await this.#mayUseClaims(plan.start, signal))) return false
    return (await this.#start(plan.start, signal)) || plan.stop.length > 0
  }

  get #hasContainers(): boolean {
    return this.#context.view.state(this.#host.uid).containers.length > 0
  }

  /** Marks the claims of the pod as used. If that fails, no container starts, and `starting` wait with the reason. */
  async #mayUseClaims(starting: readonly PodContainer[], signal: AbortSignal): Promise<boolean> {
    try {
      await this.#marks.ensure(this.#pod, this.#hasContainers, signal)
      return true
    } catch (e) {
      if (signal.aborted) throw e
      const message = `Failed to mark the claims of the pod as used: ${e instanceof Error ? e.message : String(e)}`
      this.#context.event(this.#pod, 'Warning', 'FailedMarkClaim', message)
      for (const { spec } of starting) this.#wait(spec.name, { reason: 'ClaimNotMarked', message })
      this.#host.report()
      this.#host.wakeIn(markRetryMs)
      return false
    }
  }

  #wait(container: string, why: WaitingReason): void {
    this.#waiting ??= new Map()
    this.#waiting.set(container, why)
  }

  /** True if at least one container was started, or the sandbox was lost meanwhile. */
  async #start(containers: readonly PodContainer[], signal: AbortSignal): Promise<boolean> {
    let started = 0
    for (const container of containers) {
      if (signal.aborted) return false
      const sandbox = this.#readySandbox
      if (!sandbox) return true
      const { name } = container.spec
      const link = linkAbort(signal)
      this.#starting = { sandboxId: sandbox.id, abort: link.abort }
      try {
        await startContainer(
          this.#context,
          { pod: this.#pod, sandbox, volumes: this.#volumes.paths },
          container,
          link.signal,
        )
        this.#waiting?.delete(name)
        started++
      } catch (e) {
        if (link.signal.reason === sandboxGone) return true
        if (!(e instanceof StartError)) throw e
        this.#wait(name, { reason: e.reason, message: e.message })
        this.#host.wakeIn(e.retryMs === undefined ? startRetryMs : e.retryMs)
      } finally {
        this.#starting = undefined
        link.unlink()
      }
      this.#host.report()
    }
    return started > 0
  }

  /** True if the sandbox was created. */
  async #createSandbox(attempt: number, signal: AbortSignal): Promise<boolean> {
    try {
      await createSandbox(this.#context, this.#pod, attempt, signal)
    } catch (e) {
      if (signal.aborted) throw e
      const message = e instanceof Error ? e.message : String(e)
      this.#context.event(this.#pod, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${message}`)
      this.#sandboxFailure = sandboxFailureOf(e)
      this.#host.report()
      this.#sandboxRetries.next('', this.#context.clock.now())
      this.#host.wakeIn(this.#sandboxRetries.delayMs(''))
      return false
    }
    this.#sandboxRetries.reset('')
    this.#host.report()
    this.#hadSandbox = true
    this.meetCrash()
    return true
  }

  get #readySandbox() {
    return readySandbox(this.#context.view.state(this.#host.uid), this.#pod.spec.hostNetwork === true)
  }
}
