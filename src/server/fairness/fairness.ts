import { tooManyRequests } from '../../api/errors.ts'
import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { type FlowCounts, FlowMetrics } from './flow-metrics.ts'
import { Level, Refused, type Ticket } from './level.ts'
import { type FlowRequest, distinguisherOf, inOrder, matchesSchema } from './matching.ts'
import { type Bounds, boundsOf, lendSeats, listSeats } from './seats.ts'

/** --enable-priority-and-fairness, --max-requests-inflight, --max-mutating-requests-inflight. */
export interface FairnessSettings {
  isEnabled: boolean
  maxReadOnly: number
  maxMutating: number
}

export const defaultFairness: FairnessSettings = { isEnabled: true, maxReadOnly: 400, maxMutating: 200 }

interface FairnessOptions {
  clock: Clock
  metrics: MetricsRegistry
  settings: FairnessSettings
}

/** A quarter of the request timeout of a minute, as in Kubernetes. */
const waitLimitMs = 15_000
/** The interval at which borrowing is recomputed while a level lacks seats. */
const lendEveryMs = 10_000

/** The requests of a FlowSchema, and the level that serves them. */
interface Flow {
  readonly schema: FlowSchema | undefined
  readonly level: Level
  readonly counts: FlowCounts
  readonly nominal: number
  /** Sent with each response. */
  readonly headers: Readonly<Record<string, string>>
}

/** The seat of one request, until all its holders have released it. */
export class Seat {
  readonly #ticket: Ticket
  readonly #counts: FlowCounts
  readonly #among: { executing: number }
  #holders = 1
  #ended: (() => void) | undefined

  constructor(ticket: Ticket, counts: FlowCounts, among: { executing: number }) {
    this.#ticket = ticket
    this.#counts = counts
    this.#among = among
    among.executing++
  }

  /** The flow among which turns of the event loop are shared. */
  get flow(): string {
    return this.#ticket.flow
  }

  keep(): void {
    this.#holders++
  }

  /** Calls `ended` when the last holder releases the seat. */
  whenDone(ended: (() => void) | undefined): void {
    this.#ended = ended
  }

  done(): void {
    if (--this.#holders !== 0) return
    this.#among.executing--
    this.#ended?.()
    this.#counts.end(this.#ticket.seats)
    this.#ticket.release()
  }
}

const masters = 'system:masters'

/**
 * API priority and fairness: admits requests by FlowSchemas and PriorityLevelConfigurations. Synchronous while nothing
 * is queued.
 */
export class Fairness {
  readonly #o: FairnessOptions
  readonly #metrics: FlowMetrics
  readonly #levels = new Map<string, Level>()
  readonly #total: number
  #bounds = new Map<string, Bounds>()
  #flows: Flow[] = []
  #isLending = false
  /** The number of executing requests. */
  executing = 0
  /** The flows for metrics while priority and fairness is disabled. */
  readonly #plain: { readonly readOnly: Flow; readonly mutating: Flow; readonly exempt: Flow }

  constructor(options: FairnessOptions) {
    this.#o = options
    this.#metrics = new FlowMetrics(options.metrics)
    const { maxReadOnly, maxMutating } = options.settings
    this.#total = maxReadOnly + maxMutating
    this.#plain = {
      readOnly: this.#plainFlow('read-only', maxReadOnly),
      mutating: this.#plainFlow('mutating', maxMutating),
      exempt: this.#plainFlow('exempt', 0),
    }
  }

  /** Applies the current schemas and levels. */
  configure(schemas: readonly FlowSchema[], levels: readonly PriorityLevelConfiguration[]): void {
    this.#bounds = boundsOf(levels, this.#total)
    const gone = new Set(this.#levels.keys())
    for (const object of levels) {
      const name = object.metadata.name ?? ''
      gone.delete(name)
      let level = this.#levels.get(name)
      if (!level) this.#levels.set(name, (level = new Level(name, { clock: this.#o.clock, waitLimitMs })))
      level.limit = Math.max(1, this.#bounds.get(name)!.nominal)
      level.configure(object)
      level.dispatch()
    }
    for (const name of gone) this.#levels.delete(name)
    // A schema without its level matches nothing.
    this.#flows = inOrder(schemas).flatMap((schema) => {
      const level = this.#levels.get(schema.spec.priorityLevelConfiguration.name)
      return level ? [this.#flowOf(schema, level)] : []
    })
  }

  /** Returns a seat, or a promise of one. `headers` receives the matched schema and level. Throws 429. */
  enter(
    request: FlowRequest,
    objects: number,
    headers: Record<string, string>,
    signal: () => AbortSignal,
  ): Seat | Promise<Seat> {
    const flow = this.#find(request)
    for (const name in flow.headers) headers[name] = flow.headers[name]!
    // Without a distinguisher in the schema, turns of the event loop are still shared by user.
    const distinguisher = (flow.schema && distinguisherOf(flow.schema, request)) || request.user.name
    const flowName = `${flow.counts.schema}/${distinguisher}`
    const seats = objects > 0 ? listSeats(objects, flow.nominal) : 1
    try {
      const entered = flow.level.enter(flowName, seats, signal)
      if (entered instanceof Promise) return this.#await(flow, entered)
      flow.counts.start(seats, 0)
      return new Seat(entered, flow.counts, this)
    } catch (e) {
      throw this.#refusal(flow, e, 0)
    }
  }

  async #await({ counts, ...flow }: Flow, entered: Promise<Ticket>): Promise<Seat> {
    const { clock } = this.#o
    const startedMs = clock.now()
    counts.waiting++
    this.#lendLater()
    try {
      const ticket = await entered
      counts.start(ticket.seats, clock.now() - startedMs)
      return new Seat(ticket, counts, this)
    } catch (e) {
      throw this.#refusal({ counts, ...flow }, e, clock.now() - startedMs)
    } finally {
      counts.waiting--
    }
  }

  #refusal({ counts }: Flow, e: unknown, waitedMs: number): unknown {
    if (!(e instanceof Refused)) return e
    this.#lendLater()
    counts.refuse(e.reason, waitedMs)
    return tooManyRequests('Too many requests, please try again later.', 1)
  }

  #find(request: FlowRequest): Flow {
    if (!this.#o.settings.isEnabled) {
      if (request.user.groups.includes(masters)) return this.#plain.exempt
      const isRead =
        request.verb === 'get' || request.verb === 'list' || request.verb === 'head' || request.verb === 'watch'
      return isRead ? this.#plain.readOnly : this.#plain.mutating
    }
    for (const flow of this.#flows) if (matchesSchema(flow.schema!, request)) return flow
    // The catch-all schema always exists, once the server has created it.
    return this.#plain.exempt
  }

  #flowOf(schema: FlowSchema, level: Level): Flow {
    const name = schema.metadata.name ?? ''
    return {
      schema,
      level,
      counts: this.#metrics.of(name, level.name),
      nominal: this.#bounds.get(level.name)!.nominal,
      headers: {
        'x-kubernetes-pf-flowschema-uid': schema.metadata.uid ?? '',
        'x-kubernetes-pf-prioritylevel-uid': level.uid,
      },
    }
  }

  #plainFlow(name: string, limit: number): Flow {
    const level = new Level(name, { clock: this.#o.clock, waitLimitMs })
    level.limit = limit > 0 ? limit : Infinity
    return { schema: undefined, level, counts: this.#metrics.of(name, name), nominal: 1, headers: {} }
  }

  #lendLater(): void {
    if (this.#isLending || !this.#o.settings.isEnabled) return
    this.#isLending = true
    this.#o.clock.after(lendEveryMs, () => this.#lend())
  }

  /** Repeats until every level has its nominal seats again. */
  #lend(): void {
    this.#isLending = false
    const limited = [...this.#levels.values()].filter(({ isExempt }) => !isExempt)
    const wishes = limited.map((level) => ({ ...this.#bounds.get(level.name)!, demand: level.takePeak() }))
    const isCalm = wishes.every(({ demand, nominal }) => demand <= nominal)
    const limits = isCalm ? wishes.map(({ nominal }) => Math.max(1, nominal)) : lendSeats(wishes, this.#total)
    for (const [i, level] of limited.entries()) {
      level.limit = limits[i]!
      level.dispatch()
    }
    if (!isCalm) this.#lendLater()
  }
}
