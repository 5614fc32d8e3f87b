import { expect } from 'vitest'
import type { ConfigMap, Lease } from '../../../api/generated/types.ts'
import type { Random } from '../../../base/random.ts'
import { SeededRandom } from '../../../base/seeded-random.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { Client } from '../../client.ts'
import { LeaderElector, type LeaderElectorOptions } from '../leader-election.ts'
import { configmaps, leases } from '../../resources.ts'
import { FaultyTransport } from '../../testing/faulty-transport.ts'
import { ProcessClock } from '../../testing/process-clock.ts'
import type { Transport } from '../../transport/transport.ts'
import { NotLeaderError } from '../not-leader-error.ts'

/** The API of an election. */
export interface ElectionApi {
  transport(): Transport
  /** Resolves when all sent requests have arrived. Default: immediately. */
  settle?(): Promise<void>
  close(): Promise<void>
}

const stepMs = 100
/** Interval between the writes of a leader. */
const writeEveryMs = 500

/** The object that a leader writes. */
const work = (data: Record<string, string>): ConfigMap => ({ metadata: { namespace: 'default', name: 'work' }, data })

/** A candidate, which writes a config map all the time while it leads. */
export class Candidate {
  readonly name: string
  readonly clock: ProcessClock
  readonly api: FaultyTransport
  readonly elector: LeaderElector
  /** Results of the leader's writes. */
  readonly attempts = { written: 0, refused: 0, failed: 0 }
  readonly told: string[] = []
  signal: AbortSignal | undefined
  #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(name: string, scene: Scene, random: Random, options: Partial<LeaderElectorOptions>) {
    this.name = name
    this.clock = new ProcessClock(scene.clock)
    this.api = new FaultyTransport(scene.api.transport(), this.clock, (request) => {
      if (request.method !== 'GET' && request.path.includes('/configmaps')) scene.arrived(this)
    })
    this.elector = new LeaderElector(
      new Client(this.api, { clock: this.clock, random, retries: { unanswered: 0, throttled: 0 } }),
      {
        namespace: 'default',
        name: 'test',
        identity: name,
        clock: this.clock,
        random,
        onStartedLeading: (signal) => {
          this.told.push('started')
          this.signal = signal
          this.#writeOften(signal)
        },
        onStoppedLeading: () => this.told.push('stopped'),
        onNewLeader: (identity) => this.told.push(`leader ${identity}`),
        ...options,
      },
    )
  }

  start(): this {
    this.#stop = new AbortController()
    this.#running = this.elector.run(this.#stop.signal)
    return this
  }

  /** Stops the candidate, as SIGTERM does. */
  stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'))
    return this.#running
  }

  /** Ends the candidate without cleanup. */
  crash(): void {
    this.clock.pause()
    this.api.fault = 'unreachable'
  }

  /** Writes regardless of the signal, as code that was in the middle of a step does. */
  #writeOften(signal: AbortSignal): void {
    const client = new Client(this.elector.fence(this.api), {
      clock: this.clock,
      retries: { unanswered: 0, throttled: 0 },
    })
    const again = () => {
      void this.#write(client)
      if (this.signal === signal) this.clock.after(writeEveryMs, again)
    }
    again()
  }

  async #write(client: Client): Promise<void> {
    try {
      await client.update(configmaps, work({ by: this.name, at: String(this.clock.now()) }))
      this.attempts.written++
    } catch (error) {
      if (error instanceof NotLeaderError) this.attempts.refused++
      else this.attempts.failed++
    }
  }
}

/** Several candidates and one API under a virtual clock. Checks after every step that at most one candidate leads. */
export class Scene {
  readonly clock = new VirtualClock()
  readonly api: ElectionApi
  readonly candidates: Candidate[] = []
  /** Client for reading and damaging the lease. */
  readonly admin: Client
  readonly #random: SeededRandom
  /** The candidates that wrote as leader, without repetitions. */
  readonly writers: string[] = []
  readonly #breaches: string[] = []

  private constructor(api: ElectionApi, seed: number | string) {
    this.api = api
    this.#random = new SeededRandom(seed)
    this.admin = new Client(api.transport(), { clock: this.clock, retries: { unanswered: 0 } })
  }

  static async open(api: ElectionApi, seed: number | string = 1): Promise<Scene> {
    const scene = new Scene(api, seed)
    await scene.admin.create(configmaps, work({}))
    return scene
  }

  candidate(name: string, options: Partial<LeaderElectorOptions> = {}): Candidate {
    const candidate = new Candidate(name, this, this.#random.fork(name), options)
    this.candidates.push(candidate)
    return candidate
  }

  /** Starts three candidates; the first one leads. */
  async threeCandidates(): Promise<[Candidate, Candidate, Candidate]> {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => this.candidate(name)) as [Candidate, Candidate, Candidate]
    a.start()
    await this.pass(stepMs)
    b.start()
    c.start()
    await this.pass(5000)
    expect(this.leader()).toBe(a)
    return [a, b, c]
  }

  /** Returns the candidate that claims to lead. A paused process claims nothing. */
  leader(): Candidate | undefined {
    const leaders = this.#leaders()
    if (leaders.length > 1) this.#breaches.push(`leaders: ${leaders.map((c) => c.name).join(', ')}`)
    expect(this.#breaches).toEqual([])
    return leaders[0]
  }

  #leaders(): Candidate[] {
    return this.candidates.filter((c) => !c.clock.isPaused && c.elector.isLeader())
  }

  /** Records a write that reached the API. */
  arrived(by: Candidate): void {
    const leaders = this.#leaders().map((c) => c.name)
    if (leaders.length !== 1 || leaders[0] !== by.name)
      this.#breaches.push(`${by.name} writes while the leader is ${leaders.join(', ')}`)
    if (this.writers.at(-1) !== by.name) this.writers.push(by.name)
  }

  async pass(ms: number): Promise<void> {
    await this.settle()
    for (let left = ms; left > 0; left -= stepMs) {
      const before = this.#ticks()
      await this.clock.advance(Math.min(stepMs, left))
      if (this.#ticks() !== before) await this.settle()
      this.leader()
    }
  }

  /** Advances the clock until a (different) candidate leads, and returns the elapsed time. */
  async untilLed(limitMs: number, isWanted: (leader: Candidate) => boolean = () => true): Promise<number> {
    for (let passedMs = 0; passedMs <= limitMs; passedMs += stepMs) {
      const leader = this.leader()
      if (leader && isWanted(leader)) return passedMs
      await this.pass(stepMs)
    }
    throw new Error(`nobody leads after ${limitMs} ms`)
  }

  /** Waits for pending work. */
  async settle(): Promise<void> {
    const isBusy = () => this.candidates.some((c) => c.api.pending > 0)
    const deadline = performance.now() + 10_000
    const turn = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      if (performance.now() > deadline) throw new Error('requests go on without end')
    }
    do {
      do await turn()
      while (isBusy())
      await this.api.settle?.()
      await turn()
    } while (isBusy())
  }

  /** A number that changes whenever a timer runs. */
  #ticks(): number {
    return this.candidates.reduce((sum, c) => sum + c.clock.ticks, 0)
  }

  lease(): Promise<Lease> {
    return this.admin.get(leases, 'default', 'test')
  }

  /** Changes the lease as an outsider. */
  async change(change: (lease: Lease) => Lease): Promise<void> {
    await this.admin.update(leases, change(await this.lease()))
    await this.settle()
  }

  async end(): Promise<void> {
    for (const candidate of this.candidates) {
      candidate.api.fault = 'none'
      candidate.clock.resume()
    }
    const stopped = Promise.all(this.candidates.map((c) => c.stop()))
    await this.pass(20_000)
    await stopped
    await this.api.close()
  }
}
