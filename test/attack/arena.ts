// Threads have no origin.
/* oxlint-disable unicorn/require-post-message-target-origin */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { type ClientAnswer, TlsClient } from '../e2e/tls-client.ts'
import { type Row, type Sent, configMaps } from './row.ts'

export interface Figures {
  name: string
  /** The size of the body, or of the header or URL. */
  bytes: number
  /** The longest that a request for /livez waited beside it. */
  stallMs: number
  /** CPU of the server's main thread meanwhile. */
  cpuMs: number
  /**
   * The time for which the request blocked the event loop. On a busy machine a probe also waits for other processes,
   * which use none of that CPU.
   */
  heldMs: number
  /** The code of the answer; 0 if there was none in time. */
  code: number
  text: string
}

interface Probed {
  longestMs: number
  count: number
  error?: string
}

const probeEveryMs = 2
/** Probes before and after each request: the loop must be seen at rest, and what follows an answer belongs to it. */
const settleMs = 30
/** Enough for the clock of the scheduler, and over in a tenth of a second. */
const emptyRequests = 100

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A server in a process of its own, with a prober beside it. */
export class Arena {
  readonly #program: string
  readonly #patienceMs: number
  #dir = ''
  #child: ChildProcess | undefined
  #client: TlsClient | undefined
  #prober: Worker | undefined
  log = ''

  constructor(program: string, patienceMs: number) {
    this.#program = program
    this.#patienceMs = patienceMs
  }

  async start(): Promise<void> {
    this.#dir = mkdtempSync(path.join(tmpdir(), 'attack-'))
    const flags = ['--store', 'memory', '--data-dir', this.#dir, '--secure-port', '0', '--log-level', 'warn']
    const child = spawn(process.execPath, [this.#program, 'apiserver', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    child.stderr.on('data', (chunk: Buffer) => (this.log = (this.log + chunk.toString()).slice(-100_000)))
    const lines = createInterface({ input: child.stdout })
    const kubeconfig = await new Promise<string>((resolve, reject) => {
      lines.on('line', (line) => line.startsWith('ready ') && resolve(line.split(' ')[3]!))
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${this.log}`)))
    })
    this.#client = new TlsClient(kubeconfig, 4, this.#patienceMs)
    const { host, port, ca } = this.#client
    this.#prober = new Worker(path.resolve('test/attack/prober.mjs'), { workerData: { host, port, ca, everyMs: probeEveryMs } })
    await pause(200)
  }

  /** Sends one row with about so many bytes. A server that does not answer in time is replaced. */
  async run(row: Row, bytes: number): Promise<Figures> {
    const wanted = Math.min(bytes, row.maxBytes ?? bytes)
    for (const sent of row.before?.(wanted) ?? []) await this.#send(sent, false)
    const sent = row.make(wanted)
    const overHttp2 = row.maxBytes !== undefined
    await pause(settleMs)
    await this.#probe('begin')
    const cpuBefore = this.#cpuMs()
    const answer = await this.#send(sent, overHttp2)
    await pause(settleMs)
    const { longestMs } = await this.#probe('begin')
    const cpuMs = this.#cpuMs() - cpuBefore
    if (answer.code === 0) await this.#replace()
    else if (answer.code === 201) await this.#send({ method: 'DELETE', path: `${sent.path.split('?')[0]}/attack?gracePeriodSeconds=0` }, false)
    const size = sent.body ? Buffer.byteLength(sent.body) : sent.path.length
    return { name: row.name, bytes: size, stallMs: longestMs, cpuMs, heldMs: Math.min(longestMs, cpuMs), code: answer.code, text: answer.text }
  }

  /** CPU of the server's main thread for a request without a body: what the machine makes of a request at the moment. */
  async emptyMs(): Promise<number> {
    const before = this.#cpuMs()
    for (let i = 0; i < emptyRequests; i++) await this.#send({ method: 'POST', path: configMaps, body: '' }, false)
    return (this.#cpuMs() - before) / emptyRequests
  }

  /** Ends the server; it is killed where it does not listen. */
  async stop(): Promise<void> {
    this.#prober?.postMessage('stop')
    this.#client?.close()
    const child = this.#child
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
      await ended
      clearTimeout(timer)
    }
    await this.#prober?.terminate()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #replace(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async #send({ method = 'GET', path: at, type = 'application/json', headers, body }: Sent, overHttp2: boolean): Promise<ClientAnswer> {
    const request = { method, path: at, headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers }, body }
    try {
      return await (overHttp2 ? this.#client!.http2(request) : this.#client!.http1(request))
    } catch (e) {
      const isCutShort = /EPIPE|ECONNRESET|socket hang up/.test(String(e))
      return { code: isCutShort ? 413 : 0, headers: {}, text: String(e) }
    }
  }

  async #probe(message: 'begin'): Promise<Probed> {
    this.#prober!.postMessage(message)
    const [probed] = (await once(this.#prober!, 'message')) as [Probed]
    if (probed.error) throw new Error(`the prober lost its connection: ${probed.error}`)
    return probed
  }

  #cpuMs(): number {
    // The first number is what the main thread has used, in nanoseconds.
    return Number(readFileSync(`/proc/${this.#child!.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  }
}
