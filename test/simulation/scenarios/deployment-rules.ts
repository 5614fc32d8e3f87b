import type { Deployment, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { controllerOf, deployments, pods, replicasets } from '../../../src/client/index.ts'
import { findCondition, isPodActive, isPodReady } from '../../../src/controllers/kit/workload/index.ts'
import { boundsOf, isRollingUpdate, replicasOf } from '../../../src/controllers/deployment/rolling.ts'
import { sortOut } from '../../../src/controllers/deployment/replica-sets.ts'
import { isScaled } from '../../../src/controllers/deployment/scaling.ts'
import { type Call, describe, isWrite } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import { isLate } from '../owned-children.ts'
import type { World } from '../world.ts'
import { isStuck } from './troubles.ts'

const isControlledBy = (object: KubeObject, uid: string | undefined): boolean => controllerOf(object)?.uid === uid

const setsAt = (world: World, uid: string, revision: number): ReplicaSet[] =>
  world.truth.listAt(replicasets.plural, revision).filter((set) => isControlledBy(set, uid)) as ReplicaSet[]

const total = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + replicasOf(set), 0)

/** Pods that are available, as their ReplicaSets tell; one that is to be smaller has promised no more than that. */
const available = (sets: readonly ReplicaSet[]): number => sets.reduce((sum, set) => sum + Math.min(replicasOf(set), set.status?.availableReplicas ?? 0), 0)

/** A change of the size of a ReplicaSet, by somebody who looked at its Deployment. */
interface Resizing {
  deployment: Deployment
  /** Its ReplicaSets as they were seen, and as they are now. */
  seen: ReplicaSet[]
  now: ReplicaSet[]
  /** By how much the ReplicaSet grew. */
  growth: number
  who: string
}

/** Looks at every change of a size. Where something came late that nobody could know of, nothing is judged. */
class Resizings {
  /** By Deployment: the revision of the last change that was nobody's decision any more. */
  readonly #late = new Map<string, number>()
  /** Revisions of changes that were looked at. */
  readonly #counted = new Set<number>()

  of(call: Call, world: World): Resizing | undefined {
    const { plural, subresource, method } = call
    const isChange = plural === replicasets.plural && !subresource && isWrite(call) && method !== 'DELETE'
    const answer = isChange ? call.outcome?.object : undefined
    const uid = answer && controllerOf(answer)?.uid
    const revision = Number(answer?.metadata.resourceVersion)
    // An answer of metadata only has no size. A write that changes nothing is answered with the version before.
    const { before, after } = (world.truth.change(revision) ?? {}) as { before?: ReplicaSet; after?: ReplicaSet }
    if (!after || !uid || this.#counted.has(revision)) return undefined
    this.#counted.add(revision)
    const growth = replicasOf(after) - (before?.metadata.uid === after.metadata.uid ? replicasOf(before!) : 0)
    if (growth === 0) return undefined
    const life = world.lives.get(call.process)
    if (!life || isLate(call)) {
      this.#late.set(uid, revision)
      return undefined
    }
    const { owner, seen } = life.observations.get(uid)!
    if ((this.#late.get(uid) ?? 0) > seen.get(replicasets.plural)!) return undefined
    return {
      deployment: owner as Deployment,
      seen: setsAt(world, uid, seen.get(replicasets.plural)!),
      now: setsAt(world, uid, revision),
      growth,
      who: `${life.identity} ${describe(call)}`,
    }
  }
}

/** No ReplicaSet is made larger beyond what its Deployment was seen to want, with its surge. */
export const neverTooManyWanted = (): Invariant => {
  const resizings = new Resizings()
  return {
    name: 'never more pods than replicas and surge',
    happened(call, world): Verdict {
      const resizing = resizings.of(call, world)
      if (!resizing || resizing.growth < 0) return undefined
      const { replicas, maxSurge } = boundsOf(resizing.deployment)
      const wanted = total(resizing.now)
      return wanted > replicas + maxSurge ? `${resizing.who}: ${wanted} are wanted, of ${replicas} and a surge of ${maxSurge}` : undefined
    },
  }
}

/** No rollout takes pods away that were seen to be needed. What a user scales down, or rolls out at once, may be. */
export const neverTooFewAvailable = (): Invariant => {
  const resizings = new Resizings()
  return {
    name: 'never fewer pods available than may be missing',
    happened(call, world): Verdict {
      const resizing = resizings.of(call, world)
      if (!resizing || resizing.growth > 0) return undefined
      const { deployment, seen, now } = resizing
      if (!isRollingUpdate(deployment) || deployment.spec.paused || isScaled(deployment, seen)) return undefined
      const { replicas, maxUnavailable } = boundsOf(deployment)
      const sizes = new Map(now.map((set) => [set.metadata.uid, replicasOf(set)]))
      // Those that were not there yet have no pod that anybody could count on.
      const left = available(seen.map((set) => ({ ...set, spec: { ...set.spec, replicas: Math.min(replicasOf(set), sizes.get(set.metadata.uid) ?? replicasOf(set)) } })))
      const least = Math.min(available(seen), replicas - maxUnavailable)
      return left < least ? `${resizing.who}: ${left} are left available of ${available(seen)}, and ${replicas - maxUnavailable} should be` : undefined
    },
  }
}

/** In the end every Deployment has its pods, of its template, and says so; and every ReplicaSet has an owner. */
export const rolledOutInTheEnd = (): Invariant => ({
  name: 'every Deployment is rolled out',
  unfinished(world): Verdict {
    const owners = world.truth.list(deployments.plural) as Deployment[]
    const uids = new Set(owners.map((d) => d.metadata.uid))
    const stray = world.truth.list(replicasets.plural).find((set) => !uids.has(controllerOf(set)?.uid ?? ''))
    if (stray) return `${stray.metadata.name} has no owner`
    const sets = new Set(world.truth.list(replicasets.plural).map((set) => set.metadata.uid))
    const left = world.truth.list(pods.plural).find((pod) => !sets.has(controllerOf(pod)?.uid ?? ''))
    if (left) return `${left.metadata.name} is left of a ReplicaSet that is gone`
    for (const deployment of owners) {
      const sets = setsAt(world, deployment.metadata.uid!, world.truth.revision)
      const own = (world.truth.list(pods.plural) as Pod[]).filter((pod) => sets.some((set) => isControlledBy(pod, set.metadata.uid)))
      if (isStuck(deployment.spec.template.spec, own)) continue
      const verdict = judgeEnd(world, deployment)
      if (verdict) return `${deployment.metadata.name} ${verdict}`
    }
    return undefined
  },
})

function judgeEnd(world: World, deployment: Deployment): Verdict {
  const { metadata, spec, status } = deployment
  if (status.observedGeneration !== metadata.generation) return `says that it is of generation ${status.observedGeneration}, and is of ${metadata.generation}`
  const sets = setsAt(world, metadata.uid!, world.truth.revision)
  // One that was let go and taken in again may have been replaced meanwhile: the older of the two counts.
  const { newSet } = sortOut(deployment, sets)
  const newSets = newSet ? [newSet] : []
  const podsOf = (some: readonly ReplicaSet[]) =>
    (world.truth.list(pods.plural) as Pod[]).filter((pod) => isPodActive(pod) && some.some((set) => isControlledBy(pod, set.metadata.uid)))
  const [all, updated, ready] = [podsOf(sets).length, podsOf(newSets).length, podsOf(sets).filter(isPodReady).length]
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const counts = [replicas, updatedReplicas, readyReplicas, availableReplicas].join()
  if (counts !== [all, updated, ready, ready].join()) return `says ${counts} and has ${all}, ${updated} new, ${ready} ready`
  const progressing = findCondition(status.conditions, 'Progressing')?.reason
  // Without a deadline nothing is said of progress.
  if (spec.progressDeadlineSeconds === 2_147_483_647) return progressing === undefined ? undefined : `has no deadline and says ${progressing}`
  if (spec.paused) return progressing === 'DeploymentPaused' || progressing === 'ProgressDeadlineExceeded' ? undefined : `is paused and says ${progressing}`
  const wanted = replicasOf(deployment)
  if (total(sets) !== wanted || total(newSets) !== wanted || all !== wanted) return `wants ${wanted}, has asked for ${total(newSets)} of ${total(sets)}, and has ${all}`
  if ((status.unavailableReplicas ?? 0) !== 0) return `says that ${status.unavailableReplicas} are missing`
  return progressing === 'NewReplicaSetAvailable' ? undefined : `says ${progressing}`
}
