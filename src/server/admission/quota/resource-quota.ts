import { isNotFound } from '../../../api/errors.ts'
import type { ResourceQuota } from '../../../api/generated/types.ts'
import { addTo, raiseTo } from '../../../api/kinds/quantities/amounts.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import { type QuotaEvaluator, type QuotaRequest, evaluatorOf } from '../../../api/quota/index.ts'
import type { Objects } from '../../objects/objects.ts'
import { resourcequotas } from '../../resources/core/resourcequotas.ts'
import type { AdmissionPlugin, AdmissionRequest, Reservation } from '../admission.ts'
import { refusal } from '../refusal.ts'
import { QuotaAccounts } from './resource-quota-account.ts'
import { QuotaRefunds } from './resource-quota-refunds.ts'
import { type Demand, demandsOf, excess } from './resource-quota-rules.ts'

interface Waiting {
  request: AdmissionRequest
  asked: QuotaRequest
  evaluator: QuotaEvaluator
  letIn(reservation: Reservation | undefined): void
  turnAway(why: Error): void
}

/** The amounts that a waiting request would use of a quota. */
interface Claim {
  quota: ResourceQuota
  /** The newest state of `quota`. */
  current: ResourceQuota
  waiting: Waiting
  /** The amounts of earlier requests in the batch. */
  before: ResourceList
  amounts: ResourceList
}

/** A request that fits every quota, unless a quota's status changes before the charge. */
interface Candidate {
  waiting: Waiting
  demands: readonly Demand[]
  charged: Demand[]
  refused: string | undefined
}

/**
 * The queue of requests to charge, one per namespace. All waiting requests are checked together and charged by one
 * write per quota; later requests wait for that write. So no two decisions use the same state of a quota.
 */
export class QuotaLine {
  readonly #objects: Objects
  readonly #accounts: QuotaAccounts
  readonly #refunds: QuotaRefunds
  readonly #lines = new Map<string, Waiting[]>()

  constructor(objects: Objects) {
    this.#objects = objects
    this.#accounts = new QuotaAccounts(objects)
    this.#refunds = new QuotaRefunds(objects)
  }

  /** Resolves when the request is charged; rejects with a refusal. */
  enter(request: AdmissionRequest, asked: QuotaRequest, evaluator: QuotaEvaluator): Promise<Reservation | undefined> {
    return new Promise((letIn, turnAway) => {
      const waiting: Waiting = { request, asked, evaluator, letIn, turnAway }
      const line = this.#lines.get(request.namespace)
      if (line) line.push(waiting)
      else void this.#serveAll(request.namespace, waiting)
    })
  }

  /** Never rejects. */
  async #serveAll(namespace: string, first: Waiting): Promise<void> {
    const line = [first]
    this.#lines.set(namespace, line)
    await Promise.resolve() // requests of one turn share a batch
    while (line.length) {
      const batch = line.splice(0)
      try {
        await this.#serve(namespace, batch)
      } catch (e) {
        for (const { turnAway } of batch) turnAway(e as Error)
      }
    }
    this.#lines.delete(namespace)
  }

  async #serve(namespace: string, batch: readonly Waiting[]): Promise<void> {
    const quotas = this.#objects.list<ResourceQuota>('', 'resourcequotas', namespace)
    const candidates = this.#judge(quotas, batch)
    try {
      for (const quota of quotas) await this.#charge(quota, candidates)
    } catch (e) {
      for (const { waiting, charged } of candidates) void this.#reservation(waiting, charged).finish(false)
      throw e
    }
    for (const { waiting, charged, refused } of candidates) {
      const reservation = this.#reservation(waiting, charged)
      if (refused === undefined) waiting.letIn(reservation)
      else {
        waiting.turnAway(refusal(waiting.request, refused))
        void reservation.finish(false)
      }
    }
  }

  /** Settles requests that use nothing or exceed a quota, and returns the others. */
  #judge(quotas: readonly ResourceQuota[], batch: readonly Waiting[]): Candidate[] {
    const before = new Map<ResourceQuota, ResourceList>(quotas.map((quota) => [quota, {}]))
    const candidates: Candidate[] = []
    for (const waiting of batch) {
      const { request, asked, evaluator } = waiting
      const demands = demandsOf(quotas, evaluator, asked, request.now)
      if (typeof demands === 'string') {
        waiting.turnAway(refusal(request, demands))
        continue
      }
      const why = firstOf(demands, ({ quota, amounts }) =>
        this.#tooMuch({ quota, current: quota, waiting, before: before.get(quota)!, amounts }),
      )
      if (why !== undefined) {
        waiting.turnAway(refusal(request, why))
      } else if (request.dryRun || demands.length === 0) {
        waiting.letIn(undefined)
      } else {
        for (const { quota, amounts } of demands) addTo(before.get(quota)!, amounts)
        candidates.push({ waiting, demands, charged: [], refused: undefined })
      }
    }
    return candidates
  }

  /** Describes why a request exceeds a quota; undefined if it fits. */
  #tooMuch({ quota, current, waiting, before, amounts }: Claim): string | undefined {
    const { request, evaluator } = waiting
    // A status reports usage that exists already.
    if (request.subresource === 'status') return undefined
    const { group, plural } = request.resource
    const used = { ...current.status?.used }
    // The stored status may be older than the newest objects.
    raiseTo(used, this.#accounts.of(quota, group, plural, evaluator).total())
    addTo(used, before)
    return excess(current, used, amounts)
  }

  async #charge(quota: ResourceQuota, candidates: readonly Candidate[]): Promise<void> {
    const asking = candidates.flatMap((candidate) => {
      const demand = candidate.demands.find((d) => d.quota === quota)
      return demand && candidate.refused === undefined ? [{ candidate, demand }] : []
    })
    if (asking.length === 0) return
    const { namespace = '', name = '', uid } = quota.metadata
    let judged: { candidate: Candidate; demand: Demand; why: string | undefined }[] = []
    const charge = (copy: ResourceQuota, stored: ResourceQuota): ResourceQuota => {
      const taken: ResourceList = {}
      judged =
        copy.metadata.uid !== uid
          ? []
          : asking.map(({ candidate, demand }) => {
              const why = this.#tooMuch({
                quota,
                current: stored,
                waiting: candidate.waiting,
                before: taken,
                amounts: demand.amounts,
              })
              if (why === undefined) addTo(taken, demand.amounts)
              return { candidate, demand, why }
            })
      if (Object.keys(taken).length === 0) return stored
      const used = { ...copy.status?.used }
      addTo(used, taken)
      copy.status = { ...copy.status, used }
      return copy
    }
    try {
      await this.#objects.update<ResourceQuota>(resourcequotas, namespace, name, charge, { isStatus: true })
    } catch (e) {
      // The quota is deleted, and no longer limits anything.
      if (!isNotFound(e)) throw e
      judged = []
    }
    for (const { candidate, demand, why } of judged) {
      if (why !== undefined) candidate.refused = why
      else {
        candidate.charged.push(demand)
        this.#accountOf(candidate.waiting, quota).letIn(nameOf(candidate.waiting), demand.amounts)
      }
    }
  }

  /** Its `finish` never rejects. */
  #reservation(waiting: Waiting, charged: readonly Demand[]): Reservation {
    return {
      finish: async (committed) => {
        for (const { quota, amounts } of charged) this.#accountOf(waiting, quota).settle(nameOf(waiting), amounts)
        if (!committed) await Promise.all(charged.map(({ quota, amounts }) => this.#refunds.giveBack(quota, amounts)))
      },
    }
  }

  #accountOf({ request, evaluator }: Waiting, quota: ResourceQuota) {
    const { group, plural } = request.resource
    return this.#accounts.of(quota, group, plural, evaluator)
  }
}

const nameOf = ({ request }: Waiting): string => request.object?.metadata.name ?? request.name

function firstOf<T, R>(items: Iterable<T>, fn: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = fn(item)
    if (found !== undefined) return found
  }
  return undefined
}

/** One queue per server. */
const lines = new WeakMap<Objects, QuotaLine>()

function lineOf(objects: Objects): QuotaLine {
  let line = lines.get(objects)
  if (!line) lines.set(objects, (line = new QuotaLine(objects)))
  return line
}

/** Enforces the quotas of a namespace, also for concurrent requests. */
export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  reserve(request, objects) {
    const { operation, subresource, resource, namespace, object, old } = request
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || !object || !resource.namespaced || namespace === '')
      return undefined
    const evaluator = evaluatorOf(resource.group, resource.plural)
    const asked: QuotaRequest = { operation, subresource, object, old }
    if (!evaluator?.concerns(asked)) return undefined
    if (objects.list('', 'resourcequotas', namespace).length === 0) return undefined
    return lineOf(objects).enter(request, asked, evaluator)
  },
}
