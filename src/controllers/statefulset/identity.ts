import type { PersistentVolumeClaim, Pod, PodTemplateSpec, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery, claimUsed, neverUsed } from '../../api/kinds/workloads/claim-recovery.ts'
import type { OwnerReference } from '../../api/object.ts'
import {
  type New,
  type ResourceType,
  apiVersionOf,
  ownerReference,
  pods,
  refersTo,
  statefulsets,
} from '../../client/index.ts'
import {
  type ClaimNameOf,
  claimsOfTemplates,
  podOfTemplate,
  revisionHashLabel,
  volumesWithClaims,
} from '../kit/workload/index.ts'
import type { Action } from './apply.ts'

export const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'

/** Finds the claims of a set by name. */
export type ClaimOf = (name: string) => PersistentVolumeClaim | undefined

/** The ordinal in the name of a pod. Undefined if the name is not of this set. */
export function ordinalOf({ metadata: { name = '' } }: StatefulSet, podName: string): number | undefined {
  if (!podName.startsWith(name) || podName[name.length] !== '-') return undefined
  let ordinal = 0
  // No regular expression is used, because every reconcile calls this function for every pod.
  for (let i = name.length + 1; i < podName.length; i++) {
    const digit = podName.charCodeAt(i) - zero
    if (!(digit >= 0 && digit <= 9) || (ordinal === 0 && i > name.length + 1)) return undefined
    ordinal = ordinal * 10 + digit
  }
  return podName.length > name.length + 1 && ordinal <= maxOrdinal ? ordinal : undefined
}

const zero = '0'.charCodeAt(0)

const maxOrdinal = 2_147_483_647

export const startOrdinal = (set: StatefulSet): number => set.spec.ordinals?.start ?? 0

export const podNameAt = (set: StatefulSet, ordinal: number): string => `${set.metadata.name}-${ordinal}`

/** The name of the claim of an ordinal for one of the set's templates. */
export const claimNameAt = (set: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string =>
  `${template.metadata.name}-${podNameAt(set, ordinal)}`

/** The revision label of a pod. */
export const revisionOf = (pod: Pick<Pod, 'metadata'>): string => pod.metadata.labels?.[revisionHashLabel] ?? ''

/** The labels that identify the pod of an ordinal. */
export const identityLabels = (name: string, ordinal: number): Record<string, string> => ({
  [podNameLabel]: name,
  [podIndexLabel]: String(ordinal),
})

/** The pod of an ordinal, from a revision's template. */
export function newPod(set: StatefulSet, template: PodTemplateSpec, revision: string, ordinal: number): New<Pod> {
  const name = podNameAt(set, ordinal)
  const pod = podOfTemplate(template, {
    name,
    labels: { ...identityLabels(name, ordinal), [revisionHashLabel]: revision },
  })
  const subdomain = set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}
  const volumes = volumesWithClaims(
    set.spec.volumeClaimTemplates ?? [],
    template.spec?.volumes,
    claimNamesAt(set, ordinal),
  )
  return { ...pod, spec: { ...pod.spec, hostname: name, ...subdomain, ...volumes } }
}

/** The claims of an ordinal. Claims that may be recreated carry an annotation that they have never been used. */
export function newClaims(set: StatefulSet, ordinal: number): New<PersistentVolumeClaim>[] {
  const { volumeClaimTemplates = [], selector } = set.spec
  const claims = claimsOfTemplates(
    volumeClaimTemplates,
    claimNamesAt(set, ordinal),
    selector.matchLabels ?? {},
    set.metadata.namespace,
  )
  return asksForClaimRecovery(set) ? claims.map(unused) : claims
}

/** A template with its own annotation keeps its value: a time in it means that the claim must be kept. */
const unused = ({ metadata, ...claim }: New<PersistentVolumeClaim>): New<PersistentVolumeClaim> => ({
  ...claim,
  metadata: { ...metadata, annotations: { [claimUsed]: neverUsed, ...metadata.annotations } },
})

const claimNamesAt =
  (set: StatefulSet, ordinal: number): ClaimNameOf =>
  (template) =>
    claimNameAt(set, template, ordinal)

/** Sets the owner references of a pod's claims according to the retention policy. */
export function ownClaims(
  {
    set,
    claimOf,
  }: {
    set: StatefulSet
    claimOf: ClaimOf
  },
  { pod, ordinal }: { pod: Pod; ordinal: number },
  isCondemned: boolean,
): Action[] {
  const actions: Action[] = []
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const claim = claimOf(claimNameAt(set, template, ordinal))
    const owners = claim && ownersDue(set, pod, isCondemned, claim)
    if (owners) actions.push({ kind: 'OwnClaim', claim, owners })
  }
  return actions
}

/** The claims that an ordinal lacks. */
export const missingClaims = (set: StatefulSet, claimOf: ClaimOf, ordinal: number): New<PersistentVolumeClaim>[] =>
  newClaims(set, ordinal).filter(({ metadata }) => !claimOf(metadata.name!))

/** A claim that must be deleted before the pod of the ordinal is created. */
export function leavingClaim(set: StatefulSet, claimOf: ClaimOf, ordinal: number): string | undefined {
  const names = (set.spec.volumeClaimTemplates ?? []).map((template) => claimNameAt(set, template, ordinal))
  return names.find((name) => {
    const claim = claimOf(name)
    return claim && isLeaving(set, podNameAt(set, ordinal), claim)
  })
}

interface Policy {
  whenDeleted: string
  whenScaled: string
}

const policyOf = ({ spec }: StatefulSet): Policy => ({
  whenDeleted: 'Retain',
  whenScaled: 'Retain',
  ...spec.persistentVolumeClaimRetentionPolicy,
})

/** Reports whether a reference names this set or an earlier one of the same name. */
const isToSet = (ref: OwnerReference, set: StatefulSet): boolean =>
  refersTo(ref, statefulsets) && ref.name === set.metadata.name
const isToPod = (ref: OwnerReference, podName: string): boolean => refersTo(ref, pods) && ref.name === podName

/** Cached objects may lack apiVersion and kind. */
const reference = <T extends Pod | StatefulSet>(type: ResourceType<T>, object: T): OwnerReference =>
  ownerReference({ ...object, apiVersion: apiVersionOf(type), kind: type.kind }, { controller: true })

/**
 * The owner references that a claim needs under the set's retention policy. Undefined if it has them. A claim that is
 * deleted on scale-down belongs to its pod once that is condemned, before that to the set if the set's deletion deletes
 * it.
 */
function ownersDue(
  set: StatefulSet,
  pod: Pod,
  isCondemned: boolean,
  claim: PersistentVolumeClaim,
): OwnerReference[] | undefined {
  const { name = '', uid } = pod.metadata
  // The owner is gone, and the garbage collector decides about the claim.
  if (isForsaken(set, name, uid, claim)) return undefined
  const { whenDeleted, whenScaled } = policyOf(set)
  const refs = claim.metadata.ownerReferences ?? []
  const others = refs.filter((ref) => !isToSet(ref, set) && !isToPod(ref, name))
  // A claim with another controller is left alone.
  const isForeign = others.some((ref) => ref.controller)
  const due = isForeign
    ? undefined
    : whenScaled === 'Delete' && isCondemned
      ? reference(pods, pod)
      : whenDeleted === 'Delete'
        ? reference(statefulsets, set)
        : undefined
  const isDue = due
    ? refs.length === others.length + 1 && refs.some((ref) => ref.uid === due.uid && ref.controller)
    : refs.length === others.length
  return isDue ? undefined : due ? [...others, due] : others
}

/**
 * True if a new pod must not use the claim: it is being deleted, or belongs to a deleted pod or set of the same name.
 */
const isLeaving = (set: StatefulSet, podName: string, claim: PersistentVolumeClaim): boolean =>
  claim.metadata.deletionTimestamp !== undefined || isForsaken(set, podName, undefined, claim)

/** True if the claim belongs to an earlier set or pod of the same name. */
function isForsaken(
  set: StatefulSet,
  podName: string,
  podUid: string | undefined,
  { metadata: { ownerReferences = [] } }: PersistentVolumeClaim,
): boolean {
  return ownerReferences.some(
    (ref) => (isToSet(ref, set) && ref.uid !== set.metadata.uid) || (isToPod(ref, podName) && ref.uid !== podUid),
  )
}
