import type { CloneSet, ControllerRevision, DeleteOptions, Pod } from '../../../src/api/generated/types.ts'
import { inPlaceUpdateReady } from '../../../src/api/kinds/pods/in-place-update.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import { clonesets, controllerOf, controllerrevisions, persistentvolumeclaims, pods } from '../../../src/client/index.ts'
import { boundsOf } from '../../../src/controllers/cloneset/derive.ts'
import { mayUpdate } from '../../../src/controllers/cloneset/in-place.ts'
import { memberOf, specifiedDeleteLabel } from '../../../src/controllers/cloneset/member.ts'
import { findCondition, isConditionTrue, isPodActive, isPodReady } from '../../../src/controllers/kit/workload/index.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import { type Family, type LateChildren, isLate, neverTooMany } from '../owned-children.ts'
import { usefulGoLast } from '../useful-last.ts'
import type { World } from '../world.ts'
import { isStuck } from './troubles.ts'

const imageOf = ({ spec }: Pick<Pod, 'spec'>): string | undefined => spec.containers[0]?.image
const wantedImage = ({ spec }: CloneSet): string | undefined => imageOf({ spec: spec.template.spec! })
const revisionOf = (pod: Pod): string | undefined => pod.metadata.labels?.['controller-revision-hash']
const ownerOf = (pod: Pod): string | undefined => controllerOf(pod)?.uid

const family: Family = {
  owner: clonesets,
  child: pods,
  wantedBy(owner) {
    const { replicas, maxSurge } = boundsOf(owner as CloneSet)
    return replicas + maxSurge
  },
  counts: (object) => isPodActive(object as Pod),
}

/** A write of a controller that looked at a set, and what it saw. */
interface Decision {
  who: string
  set: CloneSet
  /** Its active pods as they were seen, and those that it is to adopt. */
  pods: Pod[]
  podsAt: number
  /**
   * True if the pod, as observed, can never get a node because its claims are gone or terminating. It is replaced like
   * one whose deletion is requested.
   */
  isForsaken(pod: Pod): boolean
  /** Identifies the reconcile. */
  look: object
  isAvailable(pod: Pod): boolean
  isReady(pod: Pod): boolean
  /** The image of the revision that all pods were of last. */
  currentImage: string | undefined
}

function decisionOf(call: Call, world: World, setUid: string | undefined): Decision | undefined {
  const life = world.lives.get(call.process)
  const observation = setUid ? life?.observations.get(setUid) : undefined
  if (!life || !observation || isLate(call) || !call.outcome?.object) return undefined
  const set = observation.owner as CloneSet
  const [podsAt, revisionsAt, claimsAt] = [pods, controllerrevisions, persistentvolumeclaims].map(({ plural }) => observation.seen.get(plural)!) as [number, number, number]
  const isLost = (claim: string): boolean => (world.truth.getAt(persistentvolumeclaims.plural, `default/${claim}`, claimsAt)?.metadata ?? { deletionTimestamp: '' }).deletionTimestamp !== undefined
  const current = world.truth.getAt(controllerrevisions.plural, `default/${set.status.currentRevision}`, revisionsAt) as ControllerRevision | undefined
  const isSelected = ({ metadata }: Pod): boolean => metadata.labels?.app === set.metadata.name
  return {
    who: `${life.identity} ${describe(call)}`,
    set,
    pods: (world.truth.listAt(pods.plural, podsAt) as Pod[]).filter((pod) => isPodActive(pod) && (ownerOf(pod) ?? (isSelected(pod) ? setUid : '')) === setUid),
    podsAt,
    isForsaken: (pod) => !pod.spec.nodeName && claimNamesOf(pod).some(isLost),
    look: observation,
    isAvailable: (pod) => memberOf(set, pod, observation.atMs).isAvailable,
    isReady: (pod) => memberOf(set, pod, observation.atMs).isReady,
    // One of an earlier set of the name says nothing.
    currentImage: current && controllerOf(current)?.uid === setUid ? wantedImage(current.data as CloneSet) : wantedImage(set),
  }
}

/** The pod that a call deletes, as it was. */
function deletedPod(call: Call, world: World): Pod | undefined {
  const uid = call.method === 'DELETE' && call.plural === pods.plural ? (call.body as DeleteOptions | undefined)?.preconditions?.uid : undefined
  const change = uid ? world.truth.changesOf(pods.plural, `default/${call.name}`).findLast(({ before }) => before?.metadata.uid === uid) : undefined
  return change?.before as Pod | undefined
}

interface Patched {
  before: Pod
  after: Pod
}

/** The pod that a call has changed, but for its status. */
function patchedPod(call: Call, world: World): Patched | undefined {
  const answer = call.method === 'PATCH' && call.plural === pods.plural && !call.subresource ? call.outcome?.object : undefined
  const change = answer && world.truth.change(Number(answer.metadata.resourceVersion))
  return change?.before && change.after ? { before: change.before as Pod, after: change.after as Pod } : undefined
}

/** The pod that a call has begun to update as it runs. Its image comes when its grace period is over. */
function updatedPod(call: Call, world: World): Patched | undefined {
  const patched = patchedPod(call, world)
  return patched && revisionOf(patched.before) !== revisionOf(patched.after) ? patched : undefined
}

/** True if the deletion of this pod is requested. */
const isAsked = ({ spec }: CloneSet, { metadata: { name, labels } }: Pod): boolean =>
  labels?.[specifiedDeleteLabel] !== undefined || labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete' || spec.scaleStrategy.podsToDelete?.includes(name!) === true

/** No pod is made or changed to the new revision beyond what the partition lets go, as far as its maker saw. */
const partitionHolds = (late: LateChildren): Invariant => ({
  name: 'the partition is never overstepped',
  happened(call, world): Verdict {
    const isMade = call.method === 'POST' && call.plural === pods.plural && !call.subresource
    const made = isMade ? (call.outcome?.object as Pod | undefined) : updatedPod(call, world)?.after
    const decision = made && decisionOf(call, world, ownerOf(made))
    if (!decision) return undefined
    const { who, set, podsAt, isForsaken, currentImage } = decision
    const wanted = wantedImage(set)
    if ((isMade && imageOf(made) !== wanted) || currentImage === wanted) return undefined
    const revision = Number(made.metadata.resourceVersion)
    // A late pod was nobody's decision, and a pod whose deletion is requested is replaced before it is deleted.
    const counts = (pod: Pod): boolean => {
      const seen = world.truth.getAt(pods.plural, `default/${pod.metadata.name}`, podsAt) as Pod | undefined
      return (late.get(pod.metadata.uid!) ?? 0) <= podsAt && !isAsked(set, seen ?? pod) && !(seen && isForsaken(seen))
    }
    const updated = (world.truth.listAt(pods.plural, revision) as Pod[]).filter((pod) => ownerOf(pod) === ownerOf(made) && isPodActive(pod) && revisionOf(pod) === revisionOf(made) && counts(pod)).length
    const { replicas, partition } = boundsOf(set)
    return updated > replicas - partition ? `${who} as updated number ${updated}, and saw that ${partition} of ${replicas} are to stay` : undefined
  },
})

/** While a set is seen to be paused, no pod is changed, and none goes but what is too many or asked for. */
const pausedMeansPaused = (): Invariant => ({
  name: 'no pod is updated while it is paused',
  happened(call, world): Verdict {
    const pod = deletedPod(call, world) ?? updatedPod(call, world)?.before
    const decision = pod && decisionOf(call, world, ownerOf(pod))
    if (!decision?.set.spec.updateStrategy.paused) return undefined
    const { who, set, pods: seen, isForsaken } = decision
    if (call.method !== 'DELETE') return `${who}, and saw that ${set.metadata.name} is paused`
    if (seen.some((p) => p.metadata.uid === pod!.metadata.uid && (isAsked(set, p) || isForsaken(p)))) return undefined
    return seen.length > (set.spec.replicas ?? 1) ? undefined : `${who}, and saw that ${set.metadata.name} is paused and has no more than it wants`
  },
})

/** A pod with the gate for it is taken out of service before it is changed. What arrives late was nobody's decision. */
const outOfServiceFirst = (): Invariant => ({
  name: 'no pod gets another image while it serves',
  happened(call, world): Verdict {
    const { before, after } = (world.lives.has(call.process) && !isLate(call) && patchedPod(call, world)) || {}
    if (!before || imageOf(before) === imageOf(after!)) return undefined
    const hasGate = before.spec.readinessGates?.some(({ conditionType }) => conditionType === inPlaceUpdateReady)
    return hasGate && isConditionTrue(before.status?.conditions, inPlaceUpdateReady) ? `${describe(call)}, whose gate is open` : undefined
  },
})

/** A reconcile that takes pods out of service leaves as many available and ready as required. */
const enoughAvailable = (): Invariant => {
  const taken = new WeakMap<object, Set<string>>()
  return {
    name: 'never more than maxUnavailable down by our hand',
    happened(call, world): Verdict {
      const pod = deletedPod(call, world) ?? updatedPod(call, world)?.before
      const decision = pod && decisionOf(call, world, ownerOf(pod))
      if (!decision) return undefined
      const { who, set, pods: seen, look } = decision
      const ofLook = (taken.get(look) ?? new Set()).add(pod!.metadata.uid!)
      taken.set(look, ofLook)
      const { replicas, maxUnavailable } = boundsOf(set)
      const wanted = replicas - maxUnavailable
      for (const measure of ['isAvailable', 'isReady'] as const) {
        const those = seen.filter(decision[measure]).map(({ metadata }) => metadata.uid!)
        // One that has become so since is nobody's fault, and neither is one that was not seen so.
        if (!those.includes(pod!.metadata.uid!)) continue
        const left = those.filter((uid) => !ofLook.has(uid)).length
        if (left < wanted) return `${who}: of those with ${measure} ${left} are left, and ${wanted} are to be`
      }
      return undefined
    },
  }
}

/**
 * Pods that are not available are the first that are too many. Pods that are not ready are the first that are made anew
 * for an update. Judged where no other reason can be meant, and nothing else has a say in the order.
 */
const uselessGoFirst = (): Invariant =>
  usefulGoLast((call, { ownerUid, observation, pods: all }) => {
    const set = observation.owner as CloneSet
    const seen = all.filter((pod) => ownerOf(pod) === ownerUid && isPodActive(pod))
    const memberAt = (pod: Pod) => memberOf(set, pod, observation.atMs)
    const mayGo = (pod: Pod) => !isAsked(set, pod) && mayUpdate(memberAt(pod)) && pod.spec.nodeName !== undefined
    const chosen = call.method === 'DELETE' ? seen.find((pod) => pod.metadata.name === call.name) : undefined
    if (!chosen || !mayGo(chosen)) return undefined
    const { replicas, maxSurge } = boundsOf(set)
    const staying = seen.filter((pod) => !isAsked(set, pod))
    // If all are to be deleted, the order does not matter.
    if (replicas <= seen.length - staying.length) return undefined
    const outdated = seen.filter((pod) => isOutdated(set, pod))
    if (outdated.length === 0 && new Set(seen.map(revisionOf)).size === 1) {
      return { chosen, others: seen.filter(mayGo), serves: (pod) => memberAt(pod).isAvailable }
    }
    const isForUpdate = set.spec.updateStrategy.type === 'ReCreate' && maxSurge === 0 && seen.length <= replicas
    if (!isForUpdate || !outdated.includes(chosen)) return undefined
    return { chosen, others: outdated.filter(mayGo), serves: isPodReady }
  })

/** No claim is deleted that a pod has which is to stay. */
const claimsAreKept = (late: LateChildren): Invariant => ({
  name: 'no claim goes that is in use',
  happened(call, world): Verdict {
    if (call.method !== 'DELETE' || call.plural !== persistentvolumeclaims.plural || !world.lives.has(call.process) || isLate(call) || !call.outcome?.object) return undefined
    // One that came late, when nobody knew of it any more, has to go again.
    const user = (world.truth.list(pods.plural) as Pod[]).find((pod) => isPodActive(pod) && !late.has(pod.metadata.uid!) && claimNamesOf(pod).includes(call.name))
    return user && `${describe(call)}, which ${user.metadata.name} has`
  },
})

/** In the end every set has its pods, of the revisions that they should be of, and says so. */
const rolledOutInTheEnd = (): Invariant => ({
  name: 'every CloneSet is rolled out',
  unfinished(world): Verdict {
    for (const set of world.truth.list(clonesets.plural) as CloneSet[]) {
      if (isStuck(set.spec.template.spec, activePodsOf(world, set))) continue
      const refused = refusedOf(world, set)
      const stuck = stuckOf(world, set)
      const verdict = stuck ? judgeStuck(set, stuck) : (judgePods(world, set, refused) ?? judgeStatus(set, refused) ?? judgeRevisions(world, set))
      if (verdict) return `${set.metadata.name} ${verdict}`
    }
    const all = world.truth.list(pods.plural) as Pod[]
    // A claim stays for as long as a pod has it, and one that has ended and was left behind stays for ever.
    const idle = world.truth.list(persistentvolumeclaims.plural).filter(({ metadata }) => !all.some((pod) => claimNamesOf(pod).includes(metadata.name!)))
    const going = [...all, ...idle].find(({ metadata }) => metadata.deletionTimestamp)
    if (going) return `${going.metadata.name} is not gone yet`
    const uids = new Set(world.truth.list(clonesets.plural).map(({ metadata }) => metadata.uid))
    const left = all.find((pod) => ownerOf(pod) !== undefined && !uids.has(ownerOf(pod)))
    return left && `${left.metadata.name} is left of a set that is gone`
  },
})

function judgePods(world: World, set: CloneSet, refused: readonly Pod[]): Verdict {
  const { replicas, partition } = boundsOf(set)
  const all = activePodsOf(world, set)
  if (all.length !== replicas) return `has ${all.length} and wants ${replicas}`
  const late = all.find((pod) => !memberOf(set, pod, Number.POSITIVE_INFINITY).isReady)
  if (late) return `waits for ${late.metadata.name}`
  const asked = all.find((pod) => isAsked(set, pod))
  if (asked) return `still has ${asked.metadata.name}`
  if (set.spec.scaleStrategy.podsToDelete?.length) return `still wants ${set.spec.scaleStrategy.podsToDelete.join()} to be deleted`
  const outdated = all.filter((pod) => isOutdated(set, pod)).length - refused.length
  return outdated > partition && !set.spec.updateStrategy.paused ? `has ${outdated} outdated ones, and ${partition} are to stay` : undefined
}

const activePodsOf = (world: World, { metadata }: CloneSet): Pod[] => (world.truth.list(pods.plural) as Pod[]).filter((pod) => ownerOf(pod) === metadata.uid && isPodActive(pod))
const revisionsOf = (world: World, { metadata }: CloneSet): ControllerRevision[] => (world.truth.list(controllerrevisions.plural) as ControllerRevision[]).filter((r) => controllerOf(r)?.uid === metadata.uid)
const isOutdated = (set: CloneSet, pod: Pod): boolean => imageOf(pod) !== wantedImage(set)

/** Those that a set would have to update and cannot: adopted from an earlier set of the name, whose revisions went with it, so that nobody knows what to change in place. */
function refusedOf(world: World, set: CloneSet): Pod[] {
  const { paused, type } = set.spec.updateStrategy
  if (paused || type !== 'InPlaceOnly') return []
  const outdated = activePodsOf(world, set).filter((pod) => isOutdated(set, pod))
  if (outdated.length <= boundsOf(set).partition) return []
  const known = new Set(revisionsOf(world, set).map(({ metadata }) => metadata.name))
  return outdated.filter((pod) => !known.has(revisionOf(pod)))
}

/** One that was adopted from an earlier set of the name, with whom the claims went that it waits for. Who has no claims of its own cannot know that nobody will make them. */
function stuckOf(world: World, set: CloneSet): Pod | undefined {
  if (set.spec.volumeClaimTemplates?.length) return undefined
  const isThere = (claim: string) => world.truth.list(persistentvolumeclaims.plural).some(({ metadata }) => metadata.name === claim)
  return activePodsOf(world, set).find((pod) => !pod.spec.nodeName && !claimNamesOf(pod).every(isThere))
}

const hasDeadline = ({ progressDeadlineSeconds }: CloneSet['spec']): boolean => progressDeadlineSeconds !== 2_147_483_647

function judgeStuck({ spec, status }: CloneSet, { metadata: { name } }: Pod): Verdict {
  const { reason = '', message = '' } = findCondition(status.conditions, 'Progressing') ?? {}
  if (spec.updateStrategy.paused) return reason === 'RolloutPaused' ? undefined : `says ${reason}`
  if (!hasDeadline(spec)) return undefined
  return reason === 'ProgressDeadlineExceeded' && message.includes(name!) ? undefined : `says ${reason}: ${message}, and ${name} waits for claims that are gone`
}

function judgeStatus({ metadata, spec, status }: CloneSet, refused: readonly Pod[]): Verdict {
  if (status.observedGeneration !== metadata.generation) return `says that it is of generation ${status.observedGeneration}, and is of ${metadata.generation}`
  const { replicas, readyReplicas, availableReplicas, conditions } = status
  if ([replicas, readyReplicas, availableReplicas].some((count) => count !== (spec.replicas ?? 1))) return `says ${replicas}, ${readyReplicas} ready, ${availableReplicas} available of ${spec.replicas}`
  if (!isConditionTrue(conditions, 'Available')) return 'does not say that it is available'
  const failures = ['ReplicaFailure', 'FailedScale', 'FailedUpdate'].filter((type) => findCondition(conditions, type)).join()
  if (failures !== (refused.length > 0 ? 'FailedUpdate' : '')) return `says ${failures || 'of no failure'}`
  const reason = findCondition(conditions, 'Progressing')?.reason ?? ''
  if (refused.length > 0) return reason === 'ProgressDeadlineExceeded' || !hasDeadline(spec) ? undefined : `says ${reason}, and cannot update ${refused[0]!.metadata.name}`
  const isRight = spec.updateStrategy.paused ? reason === 'RolloutPaused' : reason === 'NewRevisionAvailable' || reason === 'PartitionReached'
  return isRight ? undefined : `says ${reason}`
}

function judgeRevisions(world: World, set: CloneSet): Verdict {
  const { spec, status } = set
  const all = revisionsOf(world, set)
  const inUse = new Set([status.currentRevision, status.updateRevision, ...(world.truth.list(pods.plural) as Pod[]).map((pod) => pod.metadata.labels?.['controller-revision-hash'])])
  const unused = all.filter((r) => !inUse.has(r.metadata.name)).length
  return unused > (spec.revisionHistoryLimit ?? 10) ? `keeps ${unused} revisions` : undefined
}

export function cloneSetRules(): Invariant[] {
  const late: LateChildren = new Map()
  return [
    neverTooMany(family, late),
    partitionHolds(late),
    pausedMeansPaused(),
    outOfServiceFirst(),
    enoughAvailable(),
    uselessGoFirst(),
    claimsAreKept(late),
    rolledOutInTheEnd(),
  ]
}
