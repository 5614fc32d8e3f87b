import type { ControllerRevision, DeleteOptions, PersistentVolumeClaim, Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { percentOf } from '../../../src/api/numbers/int-or-string.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { controllerOf, controllerrevisions, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { findCondition, isConditionTrue, isPodFinished, isPodReady, isPodTerminating, millisecondsOf } from '../../../src/controllers/kit/workload/index.ts'
import { recoveryAnnotation } from '../../../src/api/explain/index.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import { isLate } from '../owned-children.ts'
import { usefulGoLast } from '../useful-last.ts'
import type { World } from '../world.ts'
import { isStuck, troubleOf } from './troubles.ts'

const revisionLabel = 'controller-revision-hash'
const setNameOf = (podName: string): string => podName.slice(0, podName.lastIndexOf('-'))
const ordinalOf = (podName: string): number => Number(podName.slice(podName.lastIndexOf('-') + 1))
const imageOf = ({ spec }: Pod | StatefulSet['spec']['template']): string | undefined => spec?.containers[0]?.image
const isOrdered = ({ spec }: StatefulSet): boolean => spec.podManagementPolicy !== 'Parallel'
const isRolling = ({ spec }: StatefulSet): boolean => spec.updateStrategy.type === 'RollingUpdate'

/** The ordinals that a set wants. */
function ordinalsOf({ spec }: StatefulSet): number[] {
  const start = spec.ordinals?.start ?? 0
  return Array.from({ length: spec.replicas ?? 1 }, (_, i) => start + i)
}

const budgetOf = ({ spec }: StatefulSet): number => Math.max(1, percentOf(spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 1, spec.replicas ?? 1, false))

/** From where on pods are updated. */
const firstUpdated = ({ spec }: StatefulSet): number => (spec.ordinals?.start ?? 0) + (spec.updateStrategy.rollingUpdate?.partition ?? 0)

const isServing = (pod: Pod | undefined): pod is Pod =>
  pod !== undefined && !isPodTerminating(pod) && pod.status?.phase === 'Running' && isPodReady(pod)

function isAvailable(pod: Pod | undefined, minReadySeconds: number, nowMs: number): boolean {
  if (!isServing(pod)) return false
  const { lastTransitionTime } = pod.status!.conditions!.find((c) => c.type === 'Ready')!
  return minReadySeconds === 0 || millisecondsOf(lastTransitionTime) + minReadySeconds * 1000 <= nowMs
}

/** A write of a controller that looked at a set, and what it saw. Undefined for what was nobody's decision any more. */
interface Decision {
  who: string
  set: StatefulSet
  atMs: number
  podAt(ordinal: number): Pod | undefined
  /** All pods of the set, by ordinal. */
  pods: Pod[]
  claim(name: string): PersistentVolumeClaim | undefined
  /** True if a revision of this name was seen that is the set's, or may be. */
  hasRevision(name: string): boolean
  isAvailable(ordinal: number): boolean
}

function decisionOf(call: Call, world: World, setUid: string | undefined): Decision | undefined {
  const life = world.lives.get(call.process)
  const observation = setUid && life?.observations.get(setUid)
  if (!life || !observation || isLate(call) || !call.outcome?.object) return undefined
  const set = observation.owner as StatefulSet
  const podRevision = observation.seen.get(pods.plural)!
  // Those of an earlier set of the name, and those that go and belong to nobody, are in the way and none of its business.
  const isItsOwn = (pod: KubeObject) => {
    const owner = controllerOf(pod)
    return setNameOf(pod.metadata.name!) === set.metadata.name && (owner ? owner.uid === setUid : !pod.metadata.deletionTimestamp)
  }
  const podAt = (ordinal: number) => {
    const pod = world.truth.getAt(pods.plural, `default/${set.metadata.name}-${ordinal}`, podRevision) as Pod | undefined
    return pod && isItsOwn(pod) ? pod : undefined
  }
  const all = (world.truth.listAt(pods.plural, podRevision) as Pod[]).filter(isItsOwn)
  return {
    who: `${life.identity} ${describe(call)}`,
    set,
    atMs: observation.atMs,
    podAt,
    pods: all.toSorted((a, b) => ordinalOf(a.metadata.name!) - ordinalOf(b.metadata.name!)),
    claim: (name) => world.truth.getAt(persistentvolumeclaims.plural, `default/${name}`, observation.seen.get(persistentvolumeclaims.plural)!) as PersistentVolumeClaim | undefined,
    hasRevision: (name) => {
      const at = observation.seen.get(controllerrevisions.plural)!
      const revision = world.truth.getAt(controllerrevisions.plural, `default/${name}`, at)
      const owner = revision && controllerOf(revision)
      return revision !== undefined && (owner ? owner.uid === setUid : !revision.metadata.deletionTimestamp)
    },
    isAvailable: (ordinal) => isAvailable(podAt(ordinal), set.spec.minReadySeconds ?? 0, observation.atMs),
  }
}

/** The pod that a call deletes. */
const deletedUid = (call: Call): string | undefined =>
  call.method === 'DELETE' && call.plural === pods.plural ? (call.body as DeleteOptions | undefined)?.preconditions?.uid : undefined

/** Every pod has a place that its maker saw to be wanted and free; in order, one whose predecessors it saw available. */
const podsComeInOrder = (): Invariant => ({
  name: 'a pod is made for a wanted place, and in order',
  happened(call, world): Verdict {
    if (call.method !== 'POST' || call.plural !== pods.plural || call.subresource) return undefined
    const made = call.outcome?.object as Pod | undefined
    const decision = made && decisionOf(call, world, controllerOf(made)?.uid)
    if (!decision) return undefined
    const { who, set } = decision
    const ordinal = ordinalOf(made.metadata.name!)
    if (setNameOf(made.metadata.name!) !== set.metadata.name || !ordinalsOf(set).includes(ordinal)) return `${who}, which is no place of ${set.metadata.name}`
    const [name, index] = ['statefulset.kubernetes.io/pod-name', 'apps.kubernetes.io/pod-index'].map((label) => made.metadata.labels?.[label])
    if (name !== made.metadata.name || index !== String(ordinal)) return `${who}, which says that it is ${name}, number ${index}`
    if (decision.podAt(ordinal)) return `${who}, and saw that there was one`
    if (!isOrdered(set)) return undefined
    const missing = ordinalsOf(set).find((o) => o < ordinal && !decision.isAvailable(o))
    return missing === undefined ? undefined : `${who}, and saw that number ${missing} was not available`
  },
})

/** A pod that is made below the partition is of the revision that those were of which the partition has kept. */
const keptRevisionsStay = (): Invariant => ({
  name: 'a pod below the partition comes back as it was',
  happened(call, world): Verdict {
    if (call.method !== 'POST' || call.plural !== pods.plural || call.subresource) return undefined
    const made = call.outcome?.object as Pod | undefined
    const decision = made && decisionOf(call, world, controllerOf(made)?.uid)
    if (!decision) return undefined
    const { who, set, hasRevision } = decision
    const { currentRevision } = set.status
    if (!isRolling(set) || ordinalOf(made.metadata.name!) >= firstUpdated(set)) return undefined
    const revision = made.metadata.labels?.[revisionLabel]
    if (!currentRevision || revision === currentRevision || !hasRevision(currentRevision)) return undefined
    return `${who} of ${revision}, and saw that ${currentRevision} is kept below ${firstUpdated(set)}`
  },
})

/** In parallel, outdated pods that are not ready are replaced whatever the budget: none is spared for one that is. */
const brokenGoFirst = (): Invariant =>
  usefulGoLast((call, { ownerUid, observation, pods: all }) => {
    const set = observation.owner as StatefulSet
    if (call.method !== 'DELETE' || isOrdered(set) || !isRolling(set)) return undefined
    const places = ordinalsOf(set).filter((ordinal) => ordinal >= firstUpdated(set))
    const isCandidate = (pod: Pod): boolean =>
      controllerOf(pod)?.uid === ownerUid &&
      // A pod that the set does not select any more is let go, and not replaced.
      Object.entries(set.spec.selector.matchLabels ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value) &&
      places.includes(ordinalOf(pod.metadata.name!)) &&
      imageOf(pod) !== imageOf(set.spec.template) &&
      !isPodTerminating(pod) &&
      !isPodFinished(pod)
    const outdated = all.filter(isCandidate)
    const chosen = outdated.find((pod) => pod.metadata.name === call.name)
    return chosen && { chosen, others: outdated, serves: (pod) => pod.status?.phase === 'Running' && isPodReady(pod) }
  })

/** At any time a set has one pod for an ordinal. */
const onePodPerPlace = (): Invariant => ({
  name: 'one pod per ordinal and identity',
  changed({ plural, after }, world): Verdict {
    const uid = plural === pods.plural && after ? controllerOf(after)?.uid : undefined
    if (!uid) return undefined
    const same = world.truth.list(pods.plural).filter((pod) => controllerOf(pod)?.uid === uid && ordinalOf(pod.metadata.name!) === ordinalOf(after!.metadata.name!))
    return same.length > 1 ? `${same.map((pod) => pod.metadata.name).join(' and ')} are both there` : undefined
  },
})

/**
 * The controller deletes redundant, finished and outdated pods only; in order, only when it observed all others as
 * available.
 */
const podsGoInOrder = (): Invariant => ({
  name: 'a pod is deleted for a reason, and in order',
  happened(call, world): Verdict {
    const uid = deletedUid(call)
    const owner = uid && controllerOf(podByUid(world, call.name, uid) ?? { metadata: {} })
    const decision = owner ? decisionOf(call, world, owner.uid) : undefined
    if (!decision) return undefined
    const { who, set } = decision
    const ordinal = ordinalOf(call.name)
    const pod = decision.podAt(ordinal)
    if (!pod || pod.metadata.uid !== uid) return `${who}, and had not seen it`
    const places = ordinalsOf(set)
    const unavailable = isOrdered(set) ? places.find((o) => !decision.isAvailable(o)) : undefined
    if (!places.includes(ordinal)) {
      if (!isOrdered(set)) return undefined
      const higher = decision.pods.find(({ metadata }) => ordinalOf(metadata.name!) > ordinal && !places.includes(ordinalOf(metadata.name!)))
      if (higher) return `${who} before ${higher.metadata.name}`
      return unavailable === undefined ? undefined : `${who}, and saw that number ${unavailable} was not available`
    }
    if (isPodFinished(pod)) return undefined
    if (!isRolling(set)) return `${who}, which is for the user to delete`
    if (ordinal < firstUpdated(set)) return `${who}, which is below the partition`
    if (imageOf(pod) === imageOf(set.spec.template) && !hasTwin(world, set, pod)) return `${who}, which is up to date`
    // A set may ask for pods that do not work to be replaced at once.
    if (set.metadata.annotations?.[recoveryAnnotation] === 'true' && !isPodReady(pod)) return undefined
    return unavailable === undefined ? undefined : `${who} for an update, and saw that number ${unavailable} was not available`
  },
})

/** True if another revision has the same content, for example one of an earlier set of the name. */
const hasTwin = (world: World, { metadata, spec }: StatefulSet, pod: Pod): boolean =>
  (world.truth.list(controllerrevisions.plural) as ControllerRevision[]).some(
    (r) => r.metadata.labels?.app === metadata.name && r.metadata.name !== pod.metadata.labels?.[revisionLabel] && imageOf((r.data as StatefulSet).spec.template) === imageOf(spec.template),
  )

/** The pod with this uid, as it was last. */
function podByUid(world: World, name: string, uid: string): Pod | undefined {
  const change = world.truth.changesOf(pods.plural, `default/${name}`).findLast(({ before, after }) => after?.metadata.uid === uid || before?.metadata.uid === uid)
  return (change?.after?.metadata.uid === uid ? change.after : change?.before) as Pod | undefined
}

/**
 * By our hand no more healthy pods are down at a time than the set was seen to allow, whatever else goes wrong. A pod
 * that is ready is healthy, for however short a time it has been ready. A place counts until a pod was available
 * there again.
 */
const neverTooManyDown = (): Invariant => {
  /** By pod: how it was before it was to go. */
  const alive = new Map<string, Pod>()
  /** Places where a healthy pod was taken down, by set and ordinal. */
  const down = new Map<string, Set<number>>()
  return {
    name: 'never more than maxUnavailable healthy pods down by our hand',
    changed({ plural, before, after, atMs }, world): Verdict {
      if (plural !== pods.plural || !before) return undefined
      const isSame = before.metadata.uid === after?.metadata.uid
      if (!before.metadata.deletionTimestamp && (!isSame || after!.metadata.deletionTimestamp)) alive.set(before.metadata.uid!, before as Pod)
      const uid = controllerOf(before)?.uid ?? ''
      const set = world.truth.list(statefulsets.plural).find((s) => s.metadata.uid === uid) as StatefulSet | undefined
      // It was available until now, if it is not any more.
      for (const pod of [before, after] as (Pod | undefined)[]) if (isAvailable(pod, set?.spec.minReadySeconds ?? 0, atMs)) down.get(uid)?.delete(ordinalOf(pod!.metadata.name!))
      return undefined
    },
    happened(call, world): Verdict {
      const pod = alive.get(deletedUid(call) ?? '')
      const uid = pod && controllerOf(pod)?.uid
      const decision = pod && decisionOf(call, world, uid)
      if (!decision) return undefined
      const { set, who } = decision
      const places = ordinalsOf(set)
      const { minReadySeconds = 0 } = set.spec
      if (!places.includes(ordinalOf(call.name)) || !isServing(pod)) return undefined
      const ofSet = down.get(uid!) ?? new Set()
      down.set(uid!, ofSet.add(ordinalOf(call.name)))
      // One that is ready now and then was seen in a moment in which it was.
      const wasSeen = (o: number) => decision.isAvailable(o) && troubleOf(decision.podAt(o)?.spec) !== undefined
      const isUp = (o: number) => isAvailable(world.truth.get(pods.plural, `default/${set.metadata.name}-${o}`) as Pod | undefined, minReadySeconds, Math.round(world.timeline.nowMs))
      const still = places.filter((o) => ofSet.has(o) && !isUp(o) && !wasSeen(o))
      return still.length > budgetOf(set) ? `${who}: numbers ${still.join(', ')} are down, and ${budgetOf(set)} may be` : undefined
    },
  }
}

const ownerKinds = (claim: KubeObject | undefined): string => (claim?.metadata.ownerReferences ?? []).map((ref) => ref.kind).join()

/**
 * Claims belong to whom the policy says that was seen, and none to a pod that goes and is wanted. `late` has the version
 * of each claim that a change made which came late: who has not seen it cannot know of it.
 */
const claimsAreKept = (late = new Map<string, number>()): Invariant => ({
  name: 'no claim goes against its retention policy',
  happened(call, world): Verdict {
    if (call.method === 'DELETE' && call.plural === persistentvolumeclaims.plural && world.lives.has(call.process)) return `${describe(call)}, which is the garbage collector's business`
    if (call.method === 'DELETE' && call.plural === pods.plural) {
      const pod = podByUid(world, call.name, deletedUid(call) ?? '')
      const decision = pod && decisionOf(call, world, controllerOf(pod)?.uid)
      // A set without claims may have adopted a pod of an earlier one, whose claim goes as that one wanted.
      if (!decision?.set.spec.volumeClaimTemplates?.length) return undefined
      if (!ordinalsOf(decision.set).includes(ordinalOf(call.name))) return undefined
      const claim = world.truth.get(persistentvolumeclaims.plural, `default/data-${call.name}`)
      // One that is on its way out already is not to be kept.
      const isLost = claim?.metadata.ownerReferences?.some((ref) => ref.uid === pod!.metadata.uid) && !claim.metadata.deletionTimestamp
      const seen = claim && decision.claim(claim.metadata.name!)
      const isKnown = (late.get(`data-${call.name}`) ?? 0) <= Number(seen?.metadata.resourceVersion ?? 0)
      return isLost && isKnown ? `${decision.who}, which takes ${claim!.metadata.name} with it` : undefined
    }
    if (call.method !== 'PATCH' || call.plural !== persistentvolumeclaims.plural) return undefined
    const claim = call.outcome?.object
    if (claim && isLate(call)) late.set(call.name, Number(claim.metadata.resourceVersion))
    const podName = call.name.slice('data-'.length)
    const set = world.truth.list(statefulsets.plural).find(({ metadata }) => metadata.name === setNameOf(podName))
    const decision = claim && decisionOf(call, world, set?.metadata.uid)
    if (!decision) return undefined
    const { whenDeleted, whenScaled } = { whenDeleted: 'Retain', whenScaled: 'Retain', ...decision.set.spec.persistentVolumeClaimRetentionPolicy }
    const isWanted = ordinalsOf(decision.set).includes(ordinalOf(podName))
    const kinds = ownerKinds(claim)
    const due = whenScaled === 'Delete' && !isWanted ? 'Pod' : whenDeleted === 'Delete' ? 'StatefulSet' : ''
    return kinds === due ? undefined : `${decision.who} to be owned by ${kinds || 'nobody'}, and should be by ${due || 'nobody'}`
  },
})

/** In the end every set has its pods, its claims and its revisions, and says so. */
const rolledOutInTheEnd = (): Invariant => ({
  name: 'every StatefulSet is rolled out',
  unfinished(world): Verdict {
    const sets = world.truth.list(statefulsets.plural) as StatefulSet[]
    const uids = new Set(sets.map((set) => set.metadata.uid))
    const stray = world.truth.list(pods.plural).find((pod) => !uids.has(controllerOf(pod)?.uid ?? ''))
    if (stray && sets.some((set) => set.metadata.name === setNameOf(stray.metadata.name!))) return `${stray.metadata.name} has no owner`
    for (const set of sets) {
      const own = (world.truth.list(pods.plural) as Pod[]).filter((pod) => controllerOf(pod)?.uid === set.metadata.uid)
      if (isStuck(set.spec.template.spec, own)) continue
      const verdict = judgePods(world, set) ?? judgeClaims(world, set) ?? judgeStatus(set) ?? judgeRevisions(world, set)
      if (verdict) return `${set.metadata.name} ${verdict}`
    }
    return undefined
  },
})

function judgePods(world: World, set: StatefulSet): Verdict {
  const all = (world.truth.list(pods.plural) as Pod[]).filter((pod) => controllerOf(pod)?.uid === set.metadata.uid)
  const places = ordinalsOf(set)
  const [has, wants] = [all.map((pod) => ordinalOf(pod.metadata.name!)).toSorted((a, b) => a - b).join(), places.join()]
  if (has !== wants) return `wants ${wants} and has ${has}`
  const late = all.find((pod) => isPodTerminating(pod) || !isPodReady(pod))
  if (late) return `waits for ${late.metadata.name}`
  const outdated = all.find((pod) => isRolling(set) && ordinalOf(pod.metadata.name!) >= firstUpdated(set) && imageOf(pod) !== imageOf(set.spec.template))
  return outdated && `has ${outdated.metadata.name}, which is outdated`
}

function judgeClaims(world: World, { metadata, spec }: StatefulSet): Verdict {
  if (!spec.volumeClaimTemplates?.length) return undefined
  for (const ordinal of ordinalsOf({ metadata, spec } as StatefulSet)) {
    const name = `data-${metadata.name}-${ordinal}`
    // One that was adopted as it was may have none.
    if (!claimNamesOf(world.truth.get(pods.plural, `default/${metadata.name}-${ordinal}`) as Pod).includes(name)) continue
    const claim = world.truth.get(persistentvolumeclaims.plural, `default/${name}`)
    if (!claim) return `lacks ${name}`
    // One that an earlier set took with it stays for as long as a pod that was left behind has it.
    if (claim.metadata.deletionTimestamp) continue
    const due = spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete' ? 'StatefulSet' : ''
    if (ownerKinds(claim) !== due) return `has ${name}, which is owned by ${ownerKinds(claim) || 'nobody'} and should be by ${due || 'nobody'}`
  }
  return undefined
}

function judgeStatus(set: StatefulSet): Verdict {
  const { metadata, spec, status } = set
  if (status.observedGeneration !== metadata.generation) return `says that it is of generation ${status.observedGeneration}, and is of ${metadata.generation}`
  const wanted = spec.replicas ?? 1
  const { replicas, readyReplicas = 0, availableReplicas = 0, conditions } = status
  if ([replicas, readyReplicas, availableReplicas].some((count) => count !== wanted)) return `says ${replicas}, ${readyReplicas} ready, ${availableReplicas} available of ${wanted}`
  if (!isConditionTrue(conditions, 'Available')) return 'does not say that it is available'
  if (findCondition(conditions, 'ReplicaFailure')) return 'says that it fails'
  const reason = findCondition(conditions, 'Progressing')?.reason ?? ''
  return !isRolling(set) || ['NewRevisionAvailable', 'PartitionReached'].includes(reason) ? undefined : `says ${reason}`
}

function judgeRevisions(world: World, { metadata, spec, status }: StatefulSet): Verdict {
  // One that belongs to nobody is adopted when the set is next looked at, for whatever reason.
  const all = (world.truth.list(controllerrevisions.plural) as ControllerRevision[]).filter((r) => controllerOf(r)?.uid === metadata.uid)
  const newer = all.find((r) => r.revision > (all.find(({ metadata: { name } }) => name === status.updateRevision)?.revision ?? 0))
  if (newer) return `says that ${status.updateRevision} is its newest revision, and ${newer.metadata.name} is newer`
  const inUse = new Set([status.currentRevision, status.updateRevision, ...(world.truth.list(pods.plural) as Pod[]).map((pod) => pod.metadata.labels?.[revisionLabel])])
  const unused = all.filter((r) => !inUse.has(r.metadata.name)).length
  return unused > (spec.revisionHistoryLimit ?? 10) ? `keeps ${unused} revisions` : undefined
}

export const statefulSetRules = (): Invariant[] => [
  onePodPerPlace(),
  podsComeInOrder(),
  keptRevisionsStay(),
  podsGoInOrder(),
  brokenGoFirst(),
  neverTooManyDown(),
  claimsAreKept(),
  rolledOutInTheEnd(),
]
