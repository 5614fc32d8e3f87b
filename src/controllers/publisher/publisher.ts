import { type PublishedKindName, companionKindNames, publishedKindNames } from '../../api/kinds/published-kinds.ts'
import type { Clock } from '../../base/clock.ts'
import { type ResourceType, resourcequotas } from '../../client/index.ts'
import { type AnyController, type Caches, type ManagedController, type ObserveContext, defineController } from '../kit/index.ts'
import { WritePace, appliersOf } from './apply.ts'
import { judge } from './judge.ts'
import { type PublishedKind, publishedKinds, typeOf } from './kinds.ts'
import { type Action, type Memory, type Observed, plan, remember } from './plan.ts'
import { type Workload, publishedIn } from './view.ts'
import { workloadstatuses } from './workload-status.ts'

export interface PublisherOptions {
  /** Plural names of the kinds whose conditions are published. Default: all. */
  kinds?: readonly PublishedKindName[]
  /** Plural names of the kinds that have companions. Default: those whose status cannot hold the clock of a rollout. */
  companions?: readonly PublishedKindName[]
  /** How many writes there are in a second, in the long run. */
  writesPerSecond: number
  clock: Clock
}

/**
 * Controllers that publish the conditions of workloads which another controller manager owns. Each judges by the pure code of
 * the kind's own controller, and writes conditions only.
 */
export function publishers({ kinds = publishedKindNames, companions = companionKindNames, writesPerSecond, clock }: PublisherOptions): ManagedController[] {
  const pace = new WritePace(writesPerSecond, clock)
  return kinds.flatMap((name) => {
    const kind = publishedKinds[name]
    const hasCompanion = companions.includes(name)
    return kind.way === 'companion' && !hasCompanion ? [] : [publisherOf(name, kind, hasCompanion, pace)]
  })
}

function publisherOf(name: string, kind: PublishedKind, hasCompanion: boolean, pace: WritePace): ManagedController {
  const { controller } = kind
  // Nothing is made here that a quota could refuse.
  const watches = (controller.watches ?? []).filter(({ type }) => type !== (resourcequotas as ResourceType))
  const companion = hasCompanion ? { owns: [...(controller.owns ?? []), workloadstatuses as ResourceType], dispensable: [workloadstatuses as ResourceType] } : {}
  return defineController<Workload, Observed, Action>({
    ...pick(controller),
    ...companion,
    name: `${name}-publisher`,
    owner: typeOf(kind) as ResourceType<Workload>,
    watches,
    isSilent: true,
    keepsRostersFrom: 20,
    workers: 4,
    observe: (ctx, workload) => observe(kind, hasCompanion, ctx, workload),
    plan,
    apply: appliersOf(kind, pace),
    remember,
  }) as unknown as ManagedController
}

/** What a publisher reads as the controller that it judges by does. */
const pick = ({ owns, ownedConcern, reads, indexes, rosters, looksAt, isOptional }: AnyController): Partial<AnyController> => ({
  ...(owns ? { owns } : {}), ...(ownedConcern ? { ownedConcern } : {}), ...(reads ? { reads } : {}), ...(indexes ? { indexes } : {}),
  ...(rosters ? { rosters } : {}), ...(looksAt ? { looksAt } : {}), ...(isOptional ? { isOptional } : {}),
})

function observe(kind: PublishedKind, hasCompanion: boolean, ctx: ObserveContext, workload: Workload): Observed {
  const memory = ctx.remembered as Memory | undefined
  const companion = hasCompanion ? companionOf(ctx.caches, workload, kind) : undefined
  const last = memory?.last ?? publishedIn(companion?.stored, kind)
  return { kind, workload, judgement: judge(kind, { ...ctx, remembered: memory?.inner }, workload, last), companion, memory, nowMs: ctx.nowMs }
}

/** The companion of a workload and the name that it has or is to have; no name while that of an earlier workload is in the way. */
function companionOf(caches: Caches, workload: Workload, kind: PublishedKind): Observed['companion'] {
  const cache = caches.of(workloadstatuses)
  if (!cache.hasSynced || cache.absence) return undefined
  const [stored] = caches.owned(workloadstatuses, workload)
  if (stored) return { stored, name: stored.metadata.name }
  const { namespace = '', name = '' } = workload.metadata
  const { kind: kindName } = typeOf(kind)
  // A workload of another kind may have the same name.
  const free = [name, `${name}.${kindName.toLowerCase()}`].find((candidate) => {
    const there = caches.get(workloadstatuses, namespace, candidate)
    return !there || (there.spec.workloadRef.kind === kindName && there.spec.workloadRef.name === name)
  })
  const isTaken = free === undefined || caches.get(workloadstatuses, namespace, free) !== undefined
  return { stored: undefined, name: isTaken ? undefined : free }
}
