import {
  type PublishedKindName,
  companionKindNames,
  publishedKindNames,
} from '../../api/kinds/workloads/published-kinds.ts'
import type { Clock } from '../../base/clock.ts'
import { type ResourceType, resourcequotas } from '../../client/index.ts'
import { type Caches, type ManagedController, type ObserveContext, defineController } from '../kit/index.ts'
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
  /** Average number of writes per second. */
  writesPerSecond: number
  clock: Clock
}

/**
 * Returns controllers that publish the conditions of workloads owned by another controller manager. Each evaluates
 * workloads with the pure code of the kind's own controller, and only writes conditions.
 */
export function publishers({
  kinds = publishedKindNames,
  companions = companionKindNames,
  writesPerSecond,
  clock,
}: PublisherOptions): ManagedController[] {
  const pace = new WritePace(writesPerSecond, clock)
  return kinds.flatMap((name) => {
    const kind = publishedKinds[name]
    const hasCompanion = companions.includes(name)
    return kind.way === 'companion' && !hasCompanion ? [] : [publisherOf(name, kind, hasCompanion, pace)]
  })
}

function publisherOf(name: string, kind: PublishedKind, hasCompanion: boolean, pace: WritePace): ManagedController {
  const { controller } = kind
  const { owns = [], watches = [], ...sources } = controller.sources ?? {}
  const companion = hasCompanion ? [workloadstatuses as ResourceType] : []
  return defineController<Workload, Observed, Action>({
    name: `${name}-publisher`,
    ...(controller.isOptional ? { isOptional: true } : {}),
    owner: typeOf(kind) as ResourceType<Workload>,
    // A publisher reads the same sources as the controller that it evaluates. It creates nothing that a quota could
    // refuse.
    sources: {
      ...sources,
      owns: [...owns, ...companion],
      watches: watches.filter(({ type }) => type !== (resourcequotas as ResourceType)),
      dispensable: companion,
    },
    timing: { workers: 4, keepsRostersFrom: 20 },
    isSilent: true,
    observe: (ctx, workload) => observe(kind, hasCompanion, ctx, workload),
    plan,
    apply: appliersOf(kind, pace),
    remember,
  }) as unknown as ManagedController
}

function observe(kind: PublishedKind, hasCompanion: boolean, ctx: ObserveContext, workload: Workload): Observed {
  const memory = ctx.remembered as Memory | undefined
  const companion = hasCompanion ? companionOf(ctx.caches, workload, kind) : undefined
  const last = memory?.last ?? publishedIn(companion?.stored, kind)
  return {
    kind,
    workload,
    judgement: judge(kind, { ...ctx, remembered: memory?.inner }, workload, last),
    companion,
    memory,
    nowMs: ctx.nowMs,
  }
}

/** Returns the companion of a workload and its name; no name while the companion of an earlier workload occupies it. */
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
