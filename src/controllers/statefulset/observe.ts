import type { ControllerRevision, Pod, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import { templateOf } from '../../api/kinds/workloads/controller-revision.ts'
import { percentOf } from '../../api/numbers/int-or-string.ts'
import {
  claim,
  compileLabelSelector,
  controllerrevisions,
  persistentvolumeclaims,
  pods as podType,
} from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { type Finders, type RevisionStep, inHistory, nodeFinder, reviseTo } from '../kit/workload/index.ts'
import type { ClaimOf } from './identity.ts'
import { type Basis, type Member, memberOf } from './member.ts'
import { type Ordinals, emptyOrdinals, ordinalsReader } from './ordinals.ts'

/** The input of a reconcile. */
export interface Observed {
  set: StatefulSet
  revisions: Revisions
  /** The set's own pods, and the pods to adopt. */
  ordinals: Ordinals
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** Sorted, including the revisions to adopt. */
  history: readonly ControllerRevision[]
  orphanRevisions: readonly ControllerRevision[]
  claimOf: ClaimOf
  /** Finds nodes, if they are cached. */
  nodeOf?: Finders['nodeOf']
  /** The time at which the next pod becomes available, or is late, without an event. */
  changesAtMs: number | undefined
  nowMs: number
  /** Feature gates. */
  honoursMaxUnavailable: boolean
  hasConditions: boolean
}

export function observe(ctx: ObserveContext, set: StatefulSet): Observed {
  const { caches, nowMs, gates } = ctx
  const { namespace = '', uid = '' } = set.metadata
  const matches = compileLabelSelector(set.spec.selector)
  const ofRevision = claim(set, matches, [
    ...caches.owned(controllerrevisions, set),
    ...caches.orphans(controllerrevisions, namespace),
  ])
  const history = inHistory([...ofRevision.kept, ...ofRevision.adopt])
  const revisions = revisionsOf(set, history)
  const claimOf: ClaimOf = (name) => caches.get(persistentvolumeclaims, namespace, name)
  const basis: Basis = { set, matches, update: revisions.update.name, claimOf, nodeOf: nodeFinder(caches) }
  const { tally: ordinals, changesAtMs } = ctx.roster(uid, ordinalsReader(basis, revisions), nowMs)
  const { adopt, release } = claim(set, matches, [
    ...ordinals.misfits.values(),
    ...caches.orphans(podType, namespace, set.spec.selector).filter((pod) => memberOf(basis, pod, nowMs)),
  ])
  return {
    set,
    revisions,
    ordinals:
      adopt.length > 0
        ? withAdopted(
            ordinals,
            adopt.map((pod) => memberOf(basis, pod, nowMs)!),
            emptyOrdinals(set, revisions),
          )
        : ordinals,
    adopt,
    release,
    history,
    orphanRevisions: ofRevision.adopt,
    claimOf,
    nodeOf: basis.nodeOf,
    changesAtMs,
    nowMs,
    honoursMaxUnavailable: gates.enabled('MaxUnavailableStatefulSet'),
    hasConditions: gates.enabled('StatefulSetConditions'),
  }
}

/** The same ordinals with pods that the set does not own yet. */
function withAdopted(ordinals: Ordinals, adopted: readonly Member[], into: Ordinals): Ordinals {
  for (const member of [...ordinals.all(), ...adopted]) into.add(member)
  return into
}

/** A revision, which may not be stored yet. */
interface Revision {
  name: string
  template: PodTemplateSpec
}

export interface Revisions {
  step: RevisionStep
  /** The revision that all replicas are updated to. */
  update: Revision
  /** The previous revision, which replicas below the partition keep. */
  current: Revision
}

/** Determines the two revisions of a set. `history` is sorted. */
export function revisionsOf(set: StatefulSet, history: readonly ControllerRevision[]): Revisions {
  const step = reviseTo(set.metadata.name!, history, set.spec.template, set.status.collisionCount ?? 0)
  const update = {
    name: step.kind === 'Create' ? step.name : step.revision.metadata.name!,
    template: set.spec.template,
  }
  const stored = history.find((r) => r.metadata.name === set.status.currentRevision)
  return { step, update, current: stored ? { name: stored.metadata.name!, template: templateOf(stored) } : update }
}

/** An observation together with what several stages need of it. */
export interface Derived extends Observed {
  /** True if a pod must be available before the next one is changed. */
  isOrdered: boolean
  /** Replicas below this ordinal stay as they are when the template changes. */
  partition: number
  maxUnavailable: number
  /** The number of replicas that are to be at the update revision. */
  expectedUpdated: number
  /** The number of replicas that are not available. */
  unavailable: number
}

export function derive(seen: Observed): Derived {
  const { set, ordinals } = seen
  const { partition = 0 } = set.spec.updateStrategy.rollingUpdate ?? {}
  return {
    ...seen,
    isOrdered: set.spec.podManagementPolicy !== 'Parallel',
    partition,
    maxUnavailable: maxUnavailableOf(seen),
    expectedUpdated: Math.max(0, ordinals.wanted - partition),
    unavailable: ordinals.unavailable.size + ordinals.missing,
  }
}

/** At least one, otherwise no pod would be updated. One while the feature gate is disabled, whatever the field says. */
function maxUnavailableOf({ set, honoursMaxUnavailable }: Observed): number {
  const value = honoursMaxUnavailable ? set.spec.updateStrategy.rollingUpdate?.maxUnavailable : undefined
  return value === undefined ? 1 : Math.max(1, percentOf(value, set.spec.replicas ?? 1, false))
}
