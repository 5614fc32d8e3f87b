import type { KubeObject } from '../../src/api/object.ts'
import type { SharedInformer } from '../../src/client/index.ts'
import { type AnyController, ControllerManager, type ManagedController, type ObserveContext, type Size, isFree } from '../../src/controllers/kit/index.ts'
import { Logger } from '../../src/base/logger.ts'
import { CacheWatch } from './cache-watch.ts'
import { withPlantedBug } from './condition-breakages.ts'
import { Link } from './link.ts'
import { Process } from './process.ts'
import type { World } from './world.ts'

/** The lease of the managers' election. */
const electionLease = { namespace: 'kube-system', name: 'simulation' }
/** The key of the lease in the truth. */
export const leaseKey = `${electionLease.namespace}/${electionLease.name}`

/** The input of a controller's decision. */
export interface Observation {
  readonly owner: KubeObject
  /** The time by the manager's own clock. */
  readonly atMs: number
  /** The true time. */
  readonly trueMs: number
  /** The number of writes that all processes had sent before. */
  readonly callsBefore: number
  /** The revision of each cache at that time, by resource name. */
  readonly seen: ReadonlyMap<string, number>
}

/** One life of a controller manager. */
export interface ManagerLife {
  readonly process: Process
  /** The identity in its lease. No two lives have the same. */
  readonly identity: string
  readonly manager: ControllerManager
  /** The last observation of each owner, by uid. */
  readonly observations: ReadonlyMap<string, Observation>
  readonly caches: Iterable<CacheWatch>
}

/**
 * A process that runs all controllers while it leads. It can be killed, paused, stopped and restarted. Its memory is
 * lost each time, except after a pause.
 */
export class Manager {
  readonly name: string
  readonly #world: World
  #life: ManagerLife | undefined
  #lives = 0
  #isStopping = false
  #awakeUntilMs = 0

  constructor(world: World, name: string) {
    this.#world = world
    this.name = name
  }

  get life(): ManagerLife | undefined {
    return this.#life
  }

  start(): void {
    if (this.#life) return
    const world = this.#world
    const identity = `${this.name}_${++this.#lives}`
    const process = new Process(this.name, world.timeline)
    const random = world.random.fork(identity)
    const observations = new Map<string, Observation>()
    const caches = new Map<string, CacheWatch>()
    const spied = (definition: ManagedController): ManagedController =>
      isFree(definition) ? {
        ...definition,
        start: (ctx) => definition.start({
          ...ctx,
          metadataOf: (type) => {
            const informer = ctx.metadataOf(type)
            caches.set(type.plural, new CacheWatch(world, identity, informer))
            return informer
          },
        }),
      } : {
        ...definition,
        observe: (ctx: ObserveContext, owner: KubeObject) => {
          const seen = look(world, identity, definition, ctx, caches)
          const { uid = '' } = owner.metadata
          const last = observations.get(uid)
          // A status after a conflict is computed once more, with the time of the same reconcile.
          const isAgain = last?.atMs === ctx.nowMs
          const begun = isAgain ? last : { trueMs: world.timeline.nowMs, callsBefore: world.calls }
          observations.set(uid, { owner, atMs: ctx.nowMs, trueMs: begun.trueMs, callsBefore: begun.callsBefore, seen })
          return definition.observe(ctx, owner) as unknown
        },
      }
    const life: ManagerLife = {
      process,
      identity,
      observations,
      caches: { [Symbol.iterator]: () => caches.values() },
      manager: new ControllerManager({
        transport: new Link(world.network, process, world.faults),
        controllers: world.controllers.flatMap((c) => c.controllers()).map(withPlantedBug).map(spied),
        clock: process.clock,
        random,
        // With the default, small owners would never wait, so gathering would not be tested.
        ...(world.seed % 2 === 0 ? { gather: ({ members, goneThrough }: Size) => (members + goneThrough) * 15 } : {}),
        audit: (problem) => world.judge('rosters are what their objects say', problem.message),
        logger: new Logger((line) => world.judge('no part finds fault with itself', line), 'error', {}, () => process.clock.now()),
        ...(world.profile.election ? { leaderElection: { ...electionLease, identity } } : {}),
      }),
    }
    this.#life = life
    world.lives.set(process, life)
    world.history.add(this.name, `starts as ${identity}`)
    // At worst it is stopped before it has started.
    life.manager.start().catch(() => undefined)
  }

  /** False if no process runs. */
  crash(): boolean {
    if (!this.#life) return false
    this.#world.history.add(this.name, 'crashes')
    this.#end()
    return true
  }

  /** Stops it cleanly. */
  stop(): boolean {
    if (!this.#life?.process.isRunning || this.#isStopping) return false
    this.#world.history.add(this.name, 'is told to stop')
    const life = this.#life
    this.#isStopping = true
    void life.manager.stop().then(() => {
      if (this.#life !== life) return
      this.#world.history.add(this.name, 'has stopped')
      this.#end()
    })
    return true
  }

  /** Restarts it after a stop, which is aborted if it takes too long. */
  restart(): void {
    if (this.#isStopping) this.crash()
    this.start()
  }

  /**
   * Prevents pauses for a time. A process whose clock is set back while it sleeps cannot know how long it slept, which
   * nothing that depends on the clock could tolerate.
   */
  keepAwake(forMs: number): void {
    this.#awakeUntilMs = this.#world.timeline.nowMs + forMs
  }

  pause(): boolean {
    if (!this.#life?.process.isRunning || this.#world.timeline.nowMs < this.#awakeUntilMs) return false
    this.#world.history.add(this.name, 'is paused')
    this.#life.process.pause()
    return true
  }

  resume(messagesFirst: boolean): void {
    if (!this.#life || this.#life.process.isRunning) return
    this.#world.history.add(this.name, 'wakes up')
    this.#life.process.resume(messagesFirst)
  }

  #end(): void {
    this.#life?.process.kill()
    this.#life = undefined
    this.#isStopping = false
  }
}

/** Records the revision of each cache of a controller, and follows new caches. */
function look(world: World, identity: string, definition: AnyController, ctx: ObserveContext, caches: Map<string, CacheWatch>): Map<string, number> {
  const seen = new Map<string, number>()
  const { owns = [], watches = [], reads = [] } = definition.sources ?? {}
  for (const type of [definition.owner, ...owns, ...watches.map((w) => w.type), ...reads]) {
    const informer = ctx.caches.of(type) as SharedInformer
    // Each term of a leader has its own caches.
    if (caches.get(type.plural)?.informer !== informer) caches.set(type.plural, new CacheWatch(world, identity, informer))
    seen.set(type.plural, Number(informer.lastSyncResourceVersion))
  }
  return seen
}
