import type { DeleteOptions, PersistentVolumeClaim, Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { awaitsMark, claimRecovery, claimRecoveryAfter, claimRecoveryLimit, newClaimsOf } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import { parseDuration } from '../../../src/base/duration.ts'
import { controllerOf, hasFinalizer, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { findCondition, isConditionTrue, isPodReady, millisecondsOf } from '../../../src/controllers/kit/workload/index.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { World } from '../world.ts'
import { type StorageNodes, areClocksSet } from './storage-nodes.ts'

type NodesOf = (world: World) => StorageNodes

const podFinalizer = 'coxswain.dev/claim-recovery'
const stateAnnotation = 'coxswain.dev/claim-recovery-state'
const triesAnnotation = 'coxswain.dev/claim-recovery-tries'

const preconditionsOf = (call: Call) => (call.body as DeleteOptions | undefined)?.preconditions

/** The uid of an object of this kind that a manager has deleted. */
const deletedBy = (call: Call, world: World, plural: string): string | undefined =>
  call.method === 'DELETE' && call.plural === plural && world.lives.has(call.process) && call.outcome?.object ? preconditionsOf(call)?.uid : undefined

/** Whatever is known in the API, no claim goes by our hand whose volume has a byte on it, whoever has written it. */
const dataIsKept = (nodesOf: NodesOf): Invariant => ({
  name: 'no claim with data is deleted',
  happened(call, world): Verdict {
    const uid = deletedBy(call, world, persistentvolumeclaims.plural)
    if (!uid) return undefined
    const who = `${call.process.name} ${describe(call)}`
    const [writer] = nodesOf(world).data.get(uid) ?? []
    return writer && `${who}, and ${writer} has written to it`
  },
})

/** A place where a pod was deleted waits for another pod before one of another place is deleted. */
const oneAtATime = (): Invariant => {
  /** By set: the pod that was taken away and has no successor yet. */
  const open = new Map<string, Pod>()
  return {
    name: 'one pod at a time is made anew',
    changed({ plural, before, after }): Verdict {
      const uid = plural === pods.plural && after && after.metadata.uid !== before?.metadata.uid ? controllerOf(after)?.uid : undefined
      if (uid && open.get(uid)?.metadata.name === after!.metadata.name) open.delete(uid)
      // A place that was not wanted for a while is not waited for, though it is wanted again.
      const set = plural === statefulsets.plural ? (after as StatefulSet | undefined) : undefined
      const pod = set && open.get(set.metadata.uid!)
      if (pod && ordinalOf(pod) >= (set.spec.replicas ?? 1)) open.delete(set.metadata.uid!)
      return undefined
    },
    happened(call, world): Verdict {
      const uid = deletedBy(call, world, pods.plural)
      // Others delete pods in whichever state they are.
      if (!uid || !preconditionsOf(call)?.resourceVersion) return undefined
      const pod = world.truth.changesOf(pods.plural, `default/${call.name}`).findLast(({ before }) => before?.metadata.uid === uid)!.before as Pod
      const owner = controllerOf(pod)?.uid ?? ''
      const set = world.truth.list(statefulsets.plural).find(({ metadata }) => metadata.uid === owner) as StatefulSet | undefined
      const other = open.get(owner)
      open.set(owner, pod)
      if (!set || !other || other.metadata.name === call.name || isLetBe(world, set, other)) return undefined
      return `${call.process.name} ${describe(call)}, and ${other.metadata.name} is not back`
    },
  }
}

const ordinalOf = ({ metadata }: Pod): number => Number(metadata.name!.slice(metadata.name!.lastIndexOf('-') + 1))

/** True if an ordinal need not be waited for: it is no longer wanted, or others come before it in order. */
function isLetBe(world: World, { metadata, spec }: StatefulSet, pod: Pod): boolean {
  const ordinal = ordinalOf(pod)
  if (ordinal >= (spec.replicas ?? 1)) return true
  const isDown = (lower: number) => !isPodReady((world.truth.get(pods.plural, `default/${metadata.name}-${lower}`) ?? { metadata: {} }) as Pod)
  return spec.podManagementPolicy !== 'Parallel' && Array.from({ length: ordinal }, (_, lower) => lower).some(isDown)
}

/** True if the next place of a set is empty since its claim is to go, and a pod that is not the set's still uses it. */
function waitsForTakenClaim(world: World, { metadata: { name, uid }, spec }: StatefulSet): boolean {
  const others = (world.truth.list(pods.plural) as Pod[]).filter((pod) => pod.spec.nodeName && controllerOf(pod)?.uid !== uid)
  const used = new Set(others.flatMap(claimNamesOf))
  const isTaken = (claim: string) =>
    used.has(claim) && world.truth.get(persistentvolumeclaims.plural, `default/${claim}`)?.metadata.deletionTimestamp !== undefined
  const ordinals = Array.from({ length: spec.replicas ?? 1 }, (_, ordinal) => ordinal)
  const missing = ordinals.filter((ordinal) => !world.truth.get(pods.plural, `default/${name}-${ordinal}`))
  const next = spec.podManagementPolicy === 'Parallel' ? missing : missing.slice(0, 1)
  return next.length > 0 && next.every((ordinal) => isTaken(`data-${name}-${ordinal}`))
}

/** True if the leader's cache of any kind has not seen the last change. */
function isLeaderBehind({ managers }: World): boolean {
  const leader = managers.find(({ life }) => life?.manager.isActive)?.life
  return !leader || [...leader.caches].some((cache) => cache.behind() !== undefined)
}

/** In the end every pod is ready, but for those whose claims have to stay, and nothing is under way. */
const allIsWell = (nodesOf: NodesOf): Invariant => {
  /** When the leader's caches were last behind: what it has told before then, it may correct when it looks again. */
  let behindAtMs = 0
  return {
    name: 'what can be made anew is',
    afterStep(world): Verdict {
      if (!world.faults.isOn && !world.isIdle && isLeaderBehind(world)) behindAtMs = world.timeline.nowMs
      return undefined
    },
    unfinished: (world) => lackOf(world, nodesOf(world), behindAtMs),
  }
}

function lackOf(world: World, storage: StorageNodes, behindAtMs: number): Verdict {
  const kept = (world.truth.list(pods.plural) as Pod[]).find((pod) => hasFinalizer(pod, podFinalizer))
  if (kept) return `pod ${kept.metadata.name} is kept`
  const late = (world.truth.list(pods.plural) as Pod[]).find((pod) => pod.metadata.deletionTimestamp || (!controllerOf(pod) && isOnTheWay(world, storage, pod)))
  if (late) return `pod ${late.metadata.name} is on its way`
  for (const set of world.truth.list(statefulsets.plural) as StatefulSet[]) {
    const { name, annotations, generation, uid } = set.metadata
    if (set.status.observedGeneration !== generation) return `${name} was not looked at`
    const own = (world.truth.list(pods.plural) as Pod[]).filter((pod) => controllerOf(pod)?.uid === uid)
    // A manager whose clock is an hour behind that of others would need an hour to see that a pod has had its time.
    if (areClocksSet(world) && own.some((pod) => isStuck(world, storage, set, pod))) continue
    // A claim that is to go stays for as long as another pod uses it: the place of the set's own pod waits for that.
    if (waitsForTakenClaim(world, set) && own.every((pod) => isPodReady(pod))) continue
    if (annotations?.[stateAnnotation]) return `${name} has ${annotations[stateAnnotation]} under way`
    if (isConditionTrue(set.status.conditions, 'ClaimRecovery')) return `${name} says that something is under way`
    const reason = findCondition(set.status.conditions, 'ClaimRecovery')?.reason
    const asked = annotations?.[claimRecovery]
    const isInvalid = asked !== undefined && asked !== 'recreate' && asked !== 'observe'
    const near = reason === 'LimitReached' && !world.isIdle ? forgivenSoon(world, set) : undefined
    if (near) return `${name} will forget how often ${near} was made anew`
    if (isInvalid !== (reason === 'InvalidAnnotation')) return `${name} says ${reason}, and asks for ${asked}`
    let isHeldUp = false
    for (let ordinal = 0; ordinal < (set.spec.replicas ?? 1) && !isHeldUp; ordinal++) {
      const pod = world.truth.get(pods.plural, `default/${name}-${ordinal}`) as Pod | undefined
      if (pod && !pod.metadata.deletionTimestamp && isPodReady(pod)) {
        const unmarked = claimsOf(world, pod).find((claim) => claim && awaitsMark(claim))
        if (unmarked) return `${unmarked.metadata.name} is used and does not say so`
        continue
      }
      const isLetBe = pod ? isStuck(world, storage, set, pod) : isWaitingForOthers(world, `data-${name}-${ordinal}`)
      if (!isLetBe || (pod && isNodeSilent(world, pod))) return `pod ${name}-${ordinal} is not ready`
      if (pod && asked !== undefined && !isInvalid && !isTold(world, set, pod, behindAtMs)) return `nobody has said why ${name}-${ordinal} is kept`
      // In order, nobody comes or goes after it.
      isHeldUp = set.spec.podManagementPolicy !== 'Parallel'
    }
    const surplus = own.find((pod) => ordinalOf(pod) >= (set.spec.replicas ?? 1))
    // In order, a pod that is too many and not ready waits for one before it that is not ready, either.
    const isWaitedFor = set.spec.podManagementPolicy !== 'Parallel' && own.length > 1 && own.some((pod) => isStuck(world, storage, set, pod))
    if (surplus && !isHeldUp && !isWaitedFor) return `pod ${surplus.metadata.name} is too many`
  }
  return undefined
}

const claimsOf = (world: World, pod: Pod) =>
  claimNamesOf(pod).map((name) => world.truth.get(persistentvolumeclaims.plural, `default/${name}`) as PersistentVolumeClaim | undefined)

const usersOf = (world: World, claim: string): Pod[] => (world.truth.list(pods.plural) as Pod[]).filter((pod) => claimNamesOf(pod).includes(claim))

/** True if an ordinal is empty because its claim is terminating, and another pod still uses the claim. */
const isWaitingForOthers = (world: World, claim: string): boolean =>
  world.truth.get(persistentvolumeclaims.plural, `default/${claim}`)?.metadata.deletionTimestamp !== undefined && usersOf(world, claim).length > 0

/**
 * True if a set must have reported by now why a pod is not recreated: its time is over, and all caches are current
 * since. A pod without a node has no time, and gets none while its claim is terminating.
 */
function isTold(world: World, { metadata, status }: StatefulSet, pod: Pod, behindAtMs: number): boolean {
  if (!pod.spec.nodeName) return claimsOf(world, pod).some((claim) => claim?.metadata.deletionTimestamp)
  const since = millisecondsOf(findCondition(pod.status.conditions, 'PodReadyToStartContainers')?.lastTransitionTime)
  // Pods that have had their time are looked at once a minute: no volume and no node wakes their set.
  const toldByMs = Math.max(since + parseDuration(metadata.annotations?.[claimRecoveryAfter])!, behindAtMs) + 65_000
  const reason = findCondition(status.conditions, 'ClaimRecovery')?.reason ?? ''
  const isObserved = metadata.annotations?.[claimRecovery] === 'observe' && reason.startsWith('WouldRecreate')
  return world.timeline.nowMs > toldByMs && (isObserved || ['ClaimKept', 'LimitReached'].includes(reason))
}

/** True if a node has yet to take a pod, or to say why it does not start. No node takes a pod without its claim. */
function isNodeSilent(world: World, pod: Pod): boolean {
  if (!pod.spec.nodeName) return claimsOf(world, pod).every((claim) => claim && !claim.metadata.deletionTimestamp)
  const said = findCondition(pod.status.conditions, 'PodReadyToStartContainers')
  return !said || (said.status !== 'True' && !said.reason)
}

interface Tried { count: number; at: string }

const triesOf = ({ metadata }: StatefulSet): [string, Tried][] =>
  Object.entries(JSON.parse(metadata.annotations?.[triesAnnotation] || '{}') as Record<string, Tried>)

/** A pod of the set whose tries are forgotten within the next minutes, which may let another one have its turn. */
function forgivenSoon({ timeline: { nowMs } }: World, set: StatefulSet): string | undefined {
  const afterMs = parseDuration(set.metadata.annotations?.[claimRecoveryAfter]) ?? 0
  return triesOf(set).find(([, { count, at }]) => {
    const atMs = millisecondsOf(at) + 10 * afterMs * 2 ** count
    return atMs > nowMs - 90_000 && atMs < nowMs + 180_000
  })?.[0]
}

/** True if the set has had its fill of recoveries, as far as it counts. */
const isExhausted = (set: StatefulSet): boolean =>
  triesOf(set).reduce((sum, [, { count }]) => sum + count, 0) >= Number(set.metadata.annotations?.[claimRecoveryLimit] ?? 10)

/** True if another client's pod may still change. A pod without its claim, or with a broken one, waits forever. */
const isOnTheWay = (world: World, { spoilt }: StorageNodes, pod: Pod): boolean =>
  !isPodReady(pod) && claimsOf(world, pod).every((claim) => claim && !claim.metadata.deletionTimestamp && !spoilt.has(claim.metadata.uid!))

/**
 * True if a pod has a broken claim, or one that a user has deleted, which the controller must keep for one of the
 * possible reasons.
 */
function isStuck(world: World, { spoilt, data }: StorageNodes, set: StatefulSet, pod: Pod): boolean {
  const isAsked = set.metadata.annotations?.[claimRecovery] === 'recreate'
  return claimsOf(world, pod).some((claim) => {
    const { uid = '', name = '' } = claim?.metadata ?? {}
    if (!claim || !(spoilt.has(uid) || claim.metadata.deletionTimestamp)) return false
    const hasOtherUsers = usersOf(world, name).some(({ metadata }) => metadata.uid !== pod.metadata.uid)
    const isDoubtful = findCondition(pod.status.conditions, 'PodReadyToStartContainers')?.status === 'Unknown'
    return !isAsked || isExhausted(set) || isDoubtful || !newClaimsOf(pod).includes(uid) || !awaitsMark(claim) || data.has(uid) || hasOtherUsers
  })
}

export const claimRecoveryRules = (nodesOf: NodesOf): Invariant[] => [dataIsKept(nodesOf), oneAtATime(), allIsWell(nodesOf)]
