import { SeededRandom } from '../../src/base/seeded-random.ts'
import { Client, type ResourceType, leases } from '../../src/client/index.ts'
import { type Store, openMemoryStore } from '../../src/store/index.ts'
import { ApiNode } from './api-node.ts'
import { type Call, describe, describeOutcome, isElection, isWrite } from './call.ts'
import { Faults } from './faults.ts'
import { History } from './history.ts'
import { type Invariant, type Verdict, type Violation, listening } from './invariant.ts'
import { Link, type Network } from './link.ts'
import { Manager, type ManagerLife } from './manager.ts'
import { Process } from './process.ts'
import { ServerLag } from './server-lag.ts'
import { Servers } from './servers.ts'
import { type Profile, chooseProfile } from './profile.ts'
import type { SimulatedController } from './simulated-controller.ts'
import { Timeline } from './timeline.ts'
import { Truth } from './truth.ts'
import { worldFaults } from './world-faults.ts'

export interface WorldOptions {
  seed: number
  profile: string
  /** The number of API servers over the store. Default: 1. */
  servers?: number
  controllers: readonly SimulatedController[]
  /** Rules for all controllers, in addition to their own. */
  invariants: readonly Invariant[]
}

/** Runs everything that takes no time. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const calm = chooseProfile('calm', new SeededRandom(0))

/** A whole cluster in one process, without real time and randomness: its history depends on the seed alone. */
export class World {
  readonly timeline = new Timeline()
  readonly history = new History(this.timeline)
  readonly truth = new Truth(this.timeline)
  readonly random: SeededRandom
  readonly profile: Profile
  readonly faults: Faults
  readonly store: Store
  readonly seed: number
  readonly nodes: readonly ApiNode[]
  readonly network: Network
  readonly managers: readonly Manager[]
  /** The life of a manager for each process, including ended ones. */
  readonly lives = new Map<Process, ManagerLife>()
  readonly controllers: readonly SimulatedController[]
  /** Kinds that other clients change, by plural. */
  readonly touchable: ReadonlyMap<string, ResourceType>
  /** A user's client: its requests always get a response while a server is up. */
  readonly userClient: Client
  /** The client of a third party, neither the user nor a controller. */
  readonly #rival: Client
  readonly #invariants: readonly Invariant[]
  readonly #userRandom: SeededRandom
  /** Writes whose senders wait for a response. */
  readonly #open = new Set<Call>()
  steps = 0
  /** True once no writes are allowed. */
  isIdle = false
  #calls = 0
  #touches = 0
  #violation: Violation | undefined

  private constructor(options: WorldOptions) {
    this.seed = options.seed
    this.random = new SeededRandom(options.seed)
    const profile = chooseProfile(options.profile, this.random.fork('profile'))
    this.profile = options.controllers.some((c) => c.trustsLists) ? { ...profile, staleList: 0 } : profile
    this.faults = new Faults(this.profile, this.random.fork('faults'))
    this.controllers = options.controllers
    this.touchable = new Map([leases, ...options.controllers.flatMap((c) => c.touched)].map((type) => [type.plural, type]))
    this.#userRandom = this.random.fork('user')
    const { timeline, faults, history } = this
    this.store = openMemoryStore({ clock: { now: () => Math.round(timeline.nowMs), after: () => () => {} } })
    const { servers = 1 } = options
    this.nodes = Array.from({ length: servers }, (_, i) => new ApiNode({
      store: this.store,
      timeline,
      history,
      random: this.random.fork(i === 0 ? 'servers' : `servers ${i + 1}`),
      delayMs: () => faults.diskMs(),
      survives: () => faults.isHeads(),
      onError: (line) => this.judge('the server finds no fault with itself', line),
      ...(servers > 1 ? { name: `server-${i + 1}`, lag: new ServerLag(timeline, this.random.fork(`lag ${i + 1}`), () => faults.isOn) } : {}),
    }))
    this.#invariants = [...options.invariants, ...options.controllers.flatMap((c) => c.invariants())]
    this.network = {
      timeline,
      servers: new Servers(this.nodes, this.random.fork('balancer')),
      listeners: [listening(this, this.#invariants), { sent: (call) => this.#noteSent(call), happened: (call) => this.#note(call), answered: (call) => this.#noteAnswer(call) }],
      watches: new Set(),
      touch: (target) => this.touch(target),
      pastRevision: (faults) => Math.ceil(faults.between(this.store.compactedRevision, this.store.revision)),
      nextCallNumber: () => ++this.#calls,
      revision: () => this.store.revision,
    }
    this.userClient = this.#quietClient('user')
    this.#rival = this.#quietClient('rival')
    this.managers = Array.from({ length: this.profile.election ? 2 : 1 }, (_, i) => new Manager(this, `manager-${i + 1}`))
    const watching = this.#invariants.filter((i) => i.changed)
    this.truth.onChange((change) => {
      for (const invariant of watching) this.judge(invariant.name, invariant.changed!(change, this))
    })
  }

  /** Creates a world in which the server is up and the managers start. */
  static async create(options: WorldOptions): Promise<World> {
    const world = new World(options)
    world.faults.isOn = false
    await world.truth.follow(world.store)
    for (const node of world.nodes) await node.start()
    await settled()
    world.faults.isOn = true
    for (const controller of world.controllers) controller.actor?.(world)
    for (const manager of world.managers) manager.start()
    await settled()
    return world
  }

  /** The server that a fault affects. */
  anyNode(faults: Faults): ApiNode {
    return this.nodes.length === 1 ? this.nodes[0]! : faults.pick(this.nodes)
  }

  /** The number of sent writes. */
  get calls(): number {
    return this.#calls
  }

  get violation(): Violation | undefined {
    return this.#violation
  }

  /** The first violation counts. */
  judge(invariant: string, verdict: Verdict): void {
    if (verdict === undefined || this.#violation) return
    this.#violation = { invariant, text: verdict }
    this.history.add('VIOLATION', `${invariant}: ${verdict}`)
  }

  /** Runs one event and all its immediate consequences. */
  async step(): Promise<void> {
    this.steps++
    const fault = this.faults.worldFault()
    if (fault) worldFaults[fault](this, this.faults)
    else if (this.faults.isUserAction()) this.#actAsUser()
    else this.timeline.runNext()
    await settled()
    for (const invariant of this.#invariants) if (invariant.afterStep) this.judge(invariant.name, invariant.afterStep(this))
  }

  /** Stops all faults. Frozen watches stay frozen, because they must be detected. */
  calmDown(): void {
    this.history.add('world', 'no more faults from here on')
    this.faults.isOn = false
    for (const watch of this.network.watches) watch.lag(0)
    for (const node of this.nodes) node.process?.resume(false)
    for (const manager of this.managers) manager.resume(false)
    for (const node of this.nodes) if (!node.isUp) void node.start()
    for (const manager of this.managers) manager.start()
  }

  /** Returns what is missing after the faults. Undefined if nothing is. */
  unfinished(): Verdict {
    for (const invariant of this.#invariants) {
      const verdict = invariant.unfinished?.(this)
      if (verdict) return `${invariant.name}: ${verdict}`
    }
    for (const call of this.#open) if (!call.process.isDead) return `${call.process.name} still waits for an answer to ${describe(call)}`
    return undefined
  }

  judgeEnd(): void {
    for (const invariant of this.#invariants) if (invariant.atEnd) this.judge(invariant.name, invariant.atEnd(this))
  }

  /** A third party changes an object in an irrelevant way. */
  async touch({ plural, namespace, name }: { plural: string; namespace: string; name: string }): Promise<void> {
    const type = this.touchable.get(plural)
    if (!type) return
    const patch = { metadata: { annotations: { 'simulation/touched': String(++this.#touches) } } }
    // The object or the server may be gone.
    await this.#rival.patch(type, namespace, name, patch, { type: 'merge' }).catch(() => undefined)
  }

  #actAsUser(): void {
    const actions = this.controllers.flatMap((c) => c.userActions)
    const random = this.#userRandom
    let at = random.next() * actions.reduce((sum, a) => sum + a.weight, 0)
    const action = actions.find((a) => (at -= a.weight) < 0)
    // A failed action of a user has no effect.
    void action?.run(this.userClient, random, this).catch(() => undefined)
  }

  #quietClient(name: string): Client {
    const process = new Process(name, this.timeline)
    const quiet = new Faults(calm, this.random.fork(name))
    quiet.isOn = false
    return new Client(new Link(this.network, process, quiet), { clock: process.clock, random: this.random.fork(`${name} client`), retries: { throttled: 0, unanswered: 0 } })
  }

  #note(call: Call): void {
    if (isWrite(call) && !isElection(call)) this.history.add(call.process.name, `${describe(call)}: ${describeOutcome(call.outcome!)}`)
  }

  #noteSent(call: Call): void {
    if (isWrite(call) && !isElection(call)) this.#open.add(call)
  }

  #noteAnswer(call: Call): void {
    this.#open.delete(call)
    if (!isWrite(call) || isElection(call) || call.told === 'the truth') return
    const truth = call.outcome ? 'does not learn of it' : 'does not know what became of it'
    this.history.add(call.process.name, `${call.told === 'gave up' ? 'gives up on' : 'gets an error for'} ${describe(call)} and ${truth}`)
  }
}
