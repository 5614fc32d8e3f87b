import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Latencies } from './latencies.ts'

/** Latencies of small requests to a server under load. Undefined: nothing was asked in that time. */
export interface ProbeSummary {
  /** `GET /livez` every 50 ms: for how long the server's event loop has no time for anybody. */
  livez: Latencies | undefined
  /** The first 500 pods, every 200 ms. */
  list: Latencies | undefined
  /** One ConfigMap, every 200 ms. */
  get: Latencies | undefined
  /** From the moment a ConfigMap is patched until a watch brings it, every 200 ms. */
  watch: Latencies | undefined
  /** For how long the probe itself had to wait for the machine: the latencies are no better than this. */
  ownDelayP99Ms: number
  cpuSeconds: number
  errors: number
  lastError?: string
}

const startLimitMs = 60_000
const answerLimitMs = 10_000

/** Asks a server for small things from a process of its own, so that what the load does here is not in its times. */
export class Probe {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
    // A message to a probe that has ended: the next `end` says so.
    child.on('error', () => {})
  }

  /** The namespace must be there. */
  static async start(kubeconfig: string, namespace: string): Promise<Probe> {
    const args = [path.resolve('bench/growth/probe-process.ts'), kubeconfig, namespace]
    const options: ForkOptions = { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] }
    const probe = new Probe(fork(path.resolve('scripts/run-ts.mjs'), args, options))
    try {
      await probe.#heard(startLimitMs)
    } catch (e) {
      probe.stop()
      throw e
    }
    return probe
  }

  /** Starts the next summary. */
  begin(): void {
    this.#child.send('begin')
  }

  /** The observations since `begin`. */
  async end(): Promise<ProbeSummary> {
    this.#child.send('end')
    return (await this.#heard(answerLimitMs)) as ProbeSummary
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }

  async #heard(limitMs: number): Promise<unknown> {
    const heard = new AbortController()
    const signal = AbortSignal.any([heard.signal, AbortSignal.timeout(limitMs)])
    const gone = once(this.#child, 'exit', { signal }).then(() => {
      throw new Error('the probe has ended')
    })
    try {
      const [word] = (await Promise.race([once(this.#child, 'message', { signal }), gone])) as [unknown]
      return word
    } finally {
      heard.abort()
    }
  }
}
