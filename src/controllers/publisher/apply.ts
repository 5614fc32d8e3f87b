import { ApiError, isConflict } from '../../api/errors.ts'
import type { WorkloadCondition } from '../../api/kinds/workloads/rollout-clock.ts'
import type { Clock } from '../../base/clock.ts'
import { TokenBucket, apiVersionOf, ownerReference, waitFor } from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { stockCondition } from './judge.ts'
import { type PublishedKind, typeOf } from './kinds.ts'
import type { Action } from './plan.ts'
import type { Workload } from './view.ts'
import { workloadstatuses } from './workload-status.ts'

/** Field manager of the published fields. */
export const fieldManager = 'coxswain-publisher'

/** Limits the rate of writes of all kinds together. */
export class WritePace {
  readonly #bucket: TokenBucket
  readonly #clock: Clock

  constructor(perSecond: number, clock: Clock) {
    this.#bucket = new TokenBucket(perSecond, Math.max(1, perSecond), clock)
    this.#clock = clock
  }

  /** Resolves when the next write may be sent; rejects if the signal is aborted first. */
  async turn(signal: AbortSignal): Promise<void> {
    const waitMs = this.#bucket.reserve()
    if (waitMs > 0) await waitFor(this.#clock, waitMs, signal)
  }
}

/** Returns the appliers of a kind. */
export function appliersOf(kind: PublishedKind, pace: WritePace): Appliers<Workload, Action> {
  const type = typeOf(kind)
  const writeStatus = kind.way === 'update' ? updateStatus : applyStatus
  return {
    PublishStatus: async (ctx, { conditions, ...before }) => {
      await pace.turn(ctx.signal)
      return writeStatus(kind, ctx, conditions.map(stockCondition), before)
    },
    PublishCompanion: async ({ writer, owner, signal }, { name, published: { conditions, state } }) => {
      await pace.turn(signal)
      const { namespace, generation } = owner.metadata
      const about = { apiVersion: apiVersionOf(type), kind: type.kind }
      const metadata = { name, ...(namespace ? { namespace } : {}) }
      const references = [ownerReference({ ...owner, ...about }, { controller: true, blockOwnerDeletion: false })]
      const companion = {
        apiVersion: apiVersionOf(workloadstatuses),
        kind: workloadstatuses.kind,
        metadata: { ...metadata, ownerReferences: references },
        spec: { workloadRef: { ...about, name: owner.metadata.name } },
        status: { ...(generation === undefined ? {} : { workloadGeneration: generation }), ...state, conditions },
      }
      return writer.patch(workloadstatuses, { metadata }, companion, { type: 'apply', fieldManager, force: true })
    },
  }
}

type WriteStatus = (
  kind: PublishedKind,
  ctx: ApplyContext<Workload>,
  conditions: readonly WorkloadCondition[],
  before: { wasForced: boolean; wasContested: boolean },
) => Promise<unknown>

/** Applies conditions beside those of the owner. Condition types with another manager are left alone. */
const applyStatus: WriteStatus = async (kind, { writer, owner, logger }, conditions, before) => {
  const type = typeOf(kind)
  const { name, namespace, uid } = owner.metadata
  const body = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace, uid },
    status: { conditions },
  }
  const apply = (force: boolean) =>
    writer.patch(type, owner, body, { type: 'apply', subresource: 'status', fieldManager, ...(force ? { force } : {}) })
  try {
    return await apply(false)
  } catch (e) {
    const managers = conflictingManagers(e)
    if (managers.length === 0) throw e
    // Conditions left by our own controllers are taken over once: if they return, those controllers are running.
    if (!before.wasForced && managers.every((manager) => manager.startsWith('coxswain'))) {
      await apply(true)
      return 'forced'
    }
    // A later attempt says nothing new.
    if (!before.wasContested)
      logger.info('skipping conditions that another manager owns', {
        kind: type.kind,
        namespace,
        name,
        managers,
      })
    return 'contested'
  }
}

/** Updates the whole list at the version that was read; a conflict means that another writer won. */
const updateStatus: WriteStatus = (kind, { writer, owner }, conditions) => {
  const { uid, resourceVersion } = owner.metadata
  const others = (owner.status?.conditions ?? []).filter(({ type }) => !kind.conditions.includes(type))
  const body = { metadata: { uid, resourceVersion }, status: { conditions: [...others, ...conditions] } }
  return writer.patch(typeOf(kind), owner, body, { type: 'merge', subresource: 'status', fieldManager })
}

/** Returns the managers that an apply conflicts with; none for any other error. */
export function conflictingManagers(error: unknown): string[] {
  if (!isConflict(error) || !(error instanceof ApiError)) return []
  const causes = error.details?.causes?.filter(({ reason }) => reason === 'FieldManagerConflict') ?? []
  return causes.flatMap(({ message = '' }) => /^conflict with "([^"]*)"/.exec(message)?.[1] ?? [])
}
