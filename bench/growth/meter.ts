import { machineSeconds, rounded } from '../load/measure.ts'
import { cpuSeconds, resident } from '../load/server.ts'
import type { Api } from './api.ts'
import type { Phase } from './phases.ts'
import type { Probe, ProbeSummary } from './probe.ts'

/** The resources used by a phase. */
export interface Measured {
  pods: number
  seconds: number
  /** CPU seconds of the processes under test; undefined where they are not known, or on another machine. */
  cpuSeconds: number | undefined
  /** Resident memory in MB: how much more than before the load, and how much in all. */
  grownMb: number | undefined
  rssMb: number | undefined
  probe: ProbeSummary | undefined
  /** Cores that were busy with neither the processes under test nor the load: near 0, or times say little. */
  othersCores: number
  /** Metrics of the server about its event loop, if it has any. */
  eventLoop: Record<string, number>
  detail: Record<string, unknown>
  /** Why the phase was broken off; undefined: it was not. */
  stopped: string | undefined
}

/** Values of the metrics whose name speaks of the event loop, in the text format of Prometheus. */
export function eventLoopMetrics(text: string): Record<string, number> {
  const found: Record<string, number> = {}
  for (const [, series = '', value] of text.matchAll(/^(\w*event_?loop\w*(?:\{[^}]*\})?) (\S+)/gim)) {
    if (!series.includes('_bucket')) found[series] = Number(value)
  }
  return found
}

/** Measures the phases of one load, one after the other. */
export class Meter {
  readonly #api: Api
  readonly #pids: readonly number[]
  readonly #probe: Probe | undefined
  readonly #rssBefore: number
  #hasEventLoop = true

  /** `pids` are the processes under test, which must be of this machine. */
  constructor(api: Api, pids: readonly number[], probe: Probe | undefined) {
    this.#api = api
    this.#pids = pids
    this.#probe = probe
    this.#rssBefore = this.#rss()
  }

  /** Runs a phase. `broken` rejects if the processes under test end meanwhile; any failure becomes `stopped`. */
  async measure(phase: Phase, broken: Promise<never>): Promise<Measured> {
    const knowsProcesses = this.#pids.length > 0
    this.#probe?.begin()
    const before = { cpu: this.#cpu(), machine: machineSeconds(), own: process.cpuUsage() }
    const began = performance.now()
    let stopped: string | undefined
    try {
      await Promise.race([phase.run(), broken])
    } catch (e) {
      stopped = e instanceof Error ? e.message : String(e)
    }
    const seconds = (performance.now() - began) / 1000
    const cpu = this.#cpu() - before.cpu
    const own = process.cpuUsage(before.own)
    const machine = machineSeconds() - before.machine
    const probe = await this.#probe?.end().catch(() => undefined)
    const rss = this.#rss()
    const others = machine - cpu - (own.user + own.system) / 1e6 - (probe?.cpuSeconds ?? 0)
    return {
      pods: phase.pods,
      seconds,
      cpuSeconds: knowsProcesses ? cpu : undefined,
      grownMb: knowsProcesses ? rss - this.#rssBefore : undefined,
      rssMb: knowsProcesses ? rss : undefined,
      probe,
      othersCores: rounded(Math.max(0, others) / seconds),
      eventLoop: stopped === undefined ? await this.#eventLoop() : {},
      detail: phase.detail,
      stopped,
    }
  }

  /** Processes that have ended are omitted. */
  #sum(read: (pid: number) => number): number {
    let sum = 0
    for (const pid of this.#pids) {
      try {
        sum += read(pid)
      } catch {
        return Number.NaN
      }
    }
    return sum
  }

  #cpu(): number {
    return this.#sum(cpuSeconds)
  }

  #rss(): number {
    return this.#sum((pid) => resident(pid).rss)
  }

  /** Metrics of a large cluster take long to write: a server that has none about its event loop is asked once. */
  async #eventLoop(): Promise<Record<string, number>> {
    if (!this.#hasEventLoop) return {}
    const { code, text } = await this.#api.send('GET', '/metrics')
    const found = code === 200 ? eventLoopMetrics(text) : {}
    this.#hasEventLoop = Object.keys(found).length > 0
    return found
  }
}
