import type { Pod } from '../../api/generated/types.ts'
import { parseDuration } from '../../base/duration.ts'
import type { SandboxStatus } from '../runtime/runtime.ts'
import type { NodeContext } from './node-context.ts'

/** An annotation of a pod: its first sandbox crashes after this duration. */
const crashAnnotation = 'coxswain.dev/simulate-sandbox-crash-after'
const minCrashMs = 1000

/** Crashes the sandbox of one pod when the fault plan or the pod's annotation says so. */
export class SandboxCrash {
  readonly #context: NodeContext
  readonly #readySandbox: () => SandboxStatus | undefined
  #isClosed = false
  #planned: { sandboxId: string; atMs: number; cancel: () => void } | undefined

  constructor(context: NodeContext, readySandbox: () => SandboxStatus | undefined) {
    this.#context = context
    this.#readySandbox = readySandbox
  }

  /** Schedules the crash of the ready sandbox. Called for each new sandbox and when the fault plan changes. */
  schedule(pod: Pod): void {
    const sandbox = this.#readySandbox()
    if (!sandbox || this.#isClosed) return
    const { clock, stages, runtime } = this.#context
    const planned = stages.crashInMs(pod)
    // The annotation applies to the first sandbox only: its replacement lives.
    const own = sandbox.metadata.attempt === 0 ? parseDuration(pod.metadata.annotations?.[crashAnnotation]) : undefined
    const inMs = planned ?? (own === undefined ? undefined : sandbox.createdAtMs + own - clock.now())
    if (inMs === undefined || !runtime.crashSandbox) return
    // A sandbox lives for at least one second: a plan that crashes every sandbox would otherwise never let a pod run.
    const atMs = Math.max(clock.now() + inMs, sandbox.createdAtMs + minCrashMs)
    if (this.#planned?.sandboxId === sandbox.id && this.#planned.atMs <= atMs) return
    this.#planned?.cancel()
    const cancel = clock.after(Math.max(atMs - clock.now(), 0), () => {
      if (this.#readySandbox()?.id !== sandbox.id) return
      this.#context.logger.info('the fault plan crashes a sandbox', { pod: pod.metadata.name })
      void Promise.resolve(runtime.crashSandbox?.(sandbox.id)).catch((error: unknown) =>
        this.#context.logger.warn('failed to crash a sandbox', { error }),
      )
    })
    this.#planned = { sandboxId: sandbox.id, atMs, cancel }
  }

  /** Cancels the crash. No other is scheduled. */
  close(): void {
    this.#isClosed = true
    this.#planned?.cancel()
  }
}
