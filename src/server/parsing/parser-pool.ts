// Threads have no origin.
/* oxlint-disable unicorn/require-post-message-target-origin */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { FlowQueue } from '../../base/flow-queue.ts'
import type { Converted, ForeignBody, YamlAnswer } from './foreign-body.ts'

/** A second thread lets short bodies overtake a long one. More would compete with the event loop. */
const maxThreads = 2
/** An idle thread ends after this time, which frees its memory. */
const idleLimitMs = 60_000
/** The heap limit of a thread. The largest body, of 131,072 nodes, needs less than a fifth of it. */
const threadHeapMb = 256

interface Job {
  readonly body: ForeignBody | YamlAnswer
  readonly resolve: (converted: Converted) => void
  readonly reject: (error: Error) => void
}

/** A thread and its current job. An idle thread has none and ends by itself. */
interface Thread {
  readonly worker: Worker
  job: Job | undefined
  stopIdling: () => void
}

export interface ParserPoolOptions {
  clock: Clock
  /** The built program of the thread. */
  program: string
}

/** Converts bodies and answers in threads, which are started on demand. */
export class ParserPool {
  readonly #o: ParserPoolOptions
  readonly #threads = new Set<Thread>()
  readonly #waiting = new FlowQueue<Job>()
  #isClosed = false

  constructor(options: ParserPoolOptions) {
    this.#o = options
  }

  /** The number of running threads. */
  get threads(): number {
    return this.#threads.size
  }

  /** Converts a body. Bodies of one flow queue behind each other, and flows take turns. Rejects if the thread fails. */
  convert(body: ForeignBody | YamlAnswer, flow: string): Promise<Converted> {
    if (this.#isClosed) return Promise.reject(new Error('the server is stopping'))
    return new Promise((resolve, reject) => {
      this.#waiting.push(flow, { body, resolve, reject })
      this.#dispatch()
    })
  }

  /** Ends all threads. Pending conversions are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let job = this.#waiting.take(); job; job = this.#waiting.take())
      job.reject(new Error('the server is stopping'))
    await Promise.all([...this.#threads].map((thread) => thread.worker.terminate()))
  }

  #dispatch(): void {
    while (!this.#waiting.isEmpty) {
      const thread = this.#idleThread()
      if (!thread) return
      thread.stopIdling()
      thread.job = this.#waiting.take()!
      thread.worker.postMessage(thread.job.body)
    }
  }

  #idleThread(): Thread | undefined {
    for (const thread of this.#threads) if (!thread.job) return thread
    return this.#threads.size < maxThreads ? this.#start() : undefined
  }

  #start(): Thread {
    const worker = new Worker(this.#o.program, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: threadHeapMb },
    })
    const thread: Thread = { worker, job: undefined, stopIdling: () => {} }
    this.#threads.add(thread)
    worker.unref()
    worker.on('message', (converted: Converted) => {
      thread.job?.resolve(converted)
      thread.job = undefined
      thread.stopIdling = this.#o.clock.after(idleLimitMs, () => void worker.terminate())
      this.#dispatch()
    })
    // Without a listener, an error of the thread, such as an exhausted heap, would end the process. `exit` follows.
    worker.on('error', (error: Error) => this.#end(thread, error))
    worker.on('exit', () => this.#end(thread, new Error('the thread ended')))
    return thread
  }

  #end(thread: Thread, why: Error): void {
    if (!this.#threads.delete(thread)) return
    thread.stopIdling()
    thread.job?.reject(new Error(`the body could not be parsed: ${why.message}`))
    if (!this.#isClosed) this.#dispatch()
  }
}
