import type { Node, PersistentVolumeClaim, Pod, StatefulSet } from '../generated/types.ts'

/** On a StatefulSet: what is done about pods that cannot start because of their claims: `recreate` or `observe`. */
export const claimRecovery = 'coxswain.dev/claim-recovery'
/** On the same set: after how long, such as `5m`. */
export const claimRecoveryAfter = 'coxswain.dev/claim-recovery-after'
/** On the same set: how often pods may be made anew before it is given up. */
export const claimRecoveryLimit = 'coxswain.dev/claim-recovery-limit'
/** On the same set: `recreate` if claims may go whose volumes have the reclaim policy Retain. */
export const claimRecoveryRetained = 'coxswain.dev/claim-recovery-retained'
/** On a pod of such a set: the uids of claims that were made together with it, so that no earlier pod of the set can have used them. */
export const newClaims = 'coxswain.dev/new-claims'

/**
 * On a claim: whether a container may have used its volume. The StatefulSet controller makes a claim with `never`. A
 * node writes the time there, and waits for the answer, before it starts the first container of a pod that names the
 * claim. The value is never set back. A claim without the annotation proves nothing and counts as used.
 */
export const claimUsed = 'coxswain.dev/claim-used'
export const neverUsed = 'never'

/** On a node: its agent marks claims before it starts containers. On other nodes a claim may be used without a mark. */
export const marksClaims = 'coxswain.dev/marks-claims'

/** Whether a set asks for it, so that its pods say which claims were made with them. */
export const asksForClaimRecovery = ({ metadata }: Pick<StatefulSet, 'metadata'>): boolean => metadata.annotations?.[claimRecovery] !== undefined

/** The uids of claims that were made together with a pod. */
export const newClaimsOf = ({ metadata }: Pick<Pod, 'metadata'>): string[] => metadata.annotations?.[newClaims]?.split(',') ?? []

/** The annotation of a pod with which these claims were made, after those that it names already. */
export const newClaimsAnnotation = (pod: Pick<Pod, 'metadata'>, made: readonly PersistentVolumeClaim[]): Record<string, string> =>
  made.length > 0 ? { [newClaims]: [...newClaimsOf(pod), ...made.map(({ metadata }) => metadata.uid ?? '')].join() } : {}

/** True if a node has to write the mark before a container may use the claim. Without `never` there is nothing to undo. */
export const awaitsMark = ({ metadata }: Pick<PersistentVolumeClaim, 'metadata'>): boolean => metadata.annotations?.[claimUsed] === neverUsed

/** The patch by which a claim is used from now on. It names the uid: another claim of the same name is not meant. */
export const usedPatch = ({ metadata: { uid } }: Pick<PersistentVolumeClaim, 'metadata'>, at: string): object =>
  ({ metadata: { uid, annotations: { [claimUsed]: at } } })

/** True if no container starts on a node before the claims of its pod are marked. */
export const isMarkingNode = ({ metadata }: Pick<Node, 'metadata'>): boolean => metadata.annotations?.[marksClaims] === 'true'
