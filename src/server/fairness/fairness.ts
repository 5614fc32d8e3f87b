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

export interface FairnessOptions {
  clock: Clock
  metrics: MetricsRegistry
  settings: FairnessSettings
}

/** A quarter of the minute that a request may take, as upstream. */
const waitLimitMs = 15_000
/** Seats are lent anew so often, while some level has too few. */
const lendEveryMs = 10_000

/** The requests of one schema, and the level that they are served at. */
interface Flow {
  readonly schema: FlowSchema | undefined
  readonly level: Level
  readonly counts: FlowCounts
  readonly nominal: number
  /** Told with each answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** The place of one request among the others, until all who hold it are done with it. */
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

  /** Names those with whom it shares what there is of a turn. */
  get flow(): string {
    return this.#ticket.flow
  }

  keep(): void {
    this.#holders++
  }

  /** Something is to be called when nobody holds it any more. */
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

/** Lets requests in as fairly as FlowSchemas and PriorityLevelConfigurations say. While nobody waits it answers at once. */
export class Fairness {
  readonly #o: FairnessOptions
  readonly #metrics: FlowMetrics
  readonly #levels = new Map<string, Level>()
  readonly #total: number
  #bounds = new Map<string, Bounds>()
  #flows: Flow[] = []
  #isLending = false
  /** Requests that are being served. */
  executing = 0
  /** What requests are counted at where there are no levels. */
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

  /** Takes over the schemas and levels that there are. */
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
    // A schema whose level is missing matches nothing.
    this.#flows = inOrder(schemas).flatMap((schema) => {
      const level = this.#levels.get(schema.spec.priorityLevelConfiguration.name)
      return level ? [this.#flowOf(schema, level)] : []
    })
  }

  /** A seat at once, or a promise of one; `headers` are told what the request was taken for. Refuses with 429. */
  enter(request: FlowRequest, objects: number, headers: Record<string, string>, signal: () => AbortSignal): Seat | Promise<Seat> {
    const flow = this.#find(request)
    for (const name in flow.headers) headers[name] = flow.headers[name]!
    // Where a schema has one flow for all, whoever shares the event loop is still somebody.
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
      const isRead = request.verb === 'get' || request.verb === 'list' || request.verb === 'head' || request.verb === 'watch'
      return isRead ? this.#plain.readOnly : this.#plain.mutating
    }
    for (const flow of this.#flows) if (matchesSchema(flow.schema!, request)) return flow
    // The schema for all the rest is always there, once the server has made it.
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

  /** Goes on until no level has other seats than its own. */
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
