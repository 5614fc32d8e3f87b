import type { Node, PersistentVolumeClaim, Pod, StatefulSet } from '../../generated/types.ts'

/** On a StatefulSet: the action for pods that cannot start because of their claims: `recreate` or `observe`. */
export const claimRecovery = 'coxswain.dev/claim-recovery'
/** On a StatefulSet: the delay before the action, such as `5m`. */
export const claimRecoveryAfter = 'coxswain.dev/claim-recovery-after'
/** On a StatefulSet: the maximum number of recreations of a pod. */
export const claimRecoveryLimit = 'coxswain.dev/claim-recovery-limit'
/** On a StatefulSet: `recreate` if claims may be deleted whose volumes have the reclaim policy Retain. */
export const claimRecoveryRetained = 'coxswain.dev/claim-recovery-retained'
/**
 * On a pod of such a StatefulSet: the uids of the claims that were created together with it, so no earlier pod can have
 * used them.
 */
export const newClaims = 'coxswain.dev/new-claims'

/**
 * On a claim: records whether a container may have used its volume. The StatefulSet controller creates a claim with
 * `never`. A node writes the time, and waits for the response, before it starts the first container of a pod that names
 * the claim. The value is never reset. A claim without the annotation counts as used.
 */
export const claimUsed = 'coxswain.dev/claim-used'
export const neverUsed = 'never'

/**
 * On a node: its agent marks claims before it starts containers. On other nodes, a claim may be used without a mark.
 */
export const marksClaims = 'coxswain.dev/marks-claims'

/** True if a StatefulSet enables recovery, so that its pods record the claims created with them. */
export const asksForClaimRecovery = ({ metadata }: Pick<StatefulSet, 'metadata'>): boolean =>
  metadata.annotations?.[claimRecovery] !== undefined

/** The uids of the claims that were created together with a pod. */
export const newClaimsOf = ({ metadata }: Pick<Pod, 'metadata'>): string[] =>
  metadata.annotations?.[newClaims]?.split(',') ?? []

/** The annotation of a pod after these claims were created with it, in addition to those it lists. */
export const newClaimsAnnotation = (
  pod: Pick<Pod, 'metadata'>,
  made: readonly PersistentVolumeClaim[],
): Record<string, string> =>
  made.length > 0
    ? { [newClaims]: [...newClaimsOf(pod), ...made.map(({ metadata }) => metadata.uid ?? '')].join() }
    : {}

/** True if a node must mark the claim before a container may use it. A claim without `never` needs no mark. */
export const awaitsMark = ({ metadata }: Pick<PersistentVolumeClaim, 'metadata'>): boolean =>
  metadata.annotations?.[claimUsed] === neverUsed

/** The patch that marks a claim as used. Its uid precondition excludes another claim of the same name. */
export const usedPatch = ({ metadata: { uid } }: Pick<PersistentVolumeClaim, 'metadata'>, at: string): object => ({
  metadata: { uid, annotations: { [claimUsed]: at } },
})

/** True if no container starts on the node before its pod's claims are marked. */
export const isMarkingNode = ({ metadata }: Pick<Node, 'metadata'>): boolean =>
  metadata.annotations?.[marksClaims] === 'true'
