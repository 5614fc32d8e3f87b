import type { PersistentVolumeClaim, Pod, StatefulSet } from '../generated/types.ts'

/** On a StatefulSet: what is done about pods that cannot start because of their claims. `recreate` is all there is. */
export const claimRecovery = 'coxswain.dev/claim-recovery'
/** On the same set: after how long, such as `5m`. */
export const claimRecoveryAfter = 'coxswain.dev/claim-recovery-after'
/** On a pod of such a set: the uids of claims that were made together with it, so that no earlier pod of the set can have used them. */
export const newClaims = 'coxswain.dev/new-claims'

/** Whether a set asks for it, so that its pods say which claims were made with them. */
export const asksForClaimRecovery = ({ metadata }: Pick<StatefulSet, 'metadata'>): boolean => metadata.annotations?.[claimRecovery] !== undefined

/** The uids of claims that were made together with a pod. */
export const newClaimsOf = ({ metadata }: Pick<Pod, 'metadata'>): string[] => metadata.annotations?.[newClaims]?.split(',') ?? []

/** The annotation of a pod with which these claims were made, after those that it names already. */
export const newClaimsAnnotation = (pod: Pick<Pod, 'metadata'>, made: readonly PersistentVolumeClaim[]): Record<string, string> =>
  made.length > 0 ? { [newClaims]: [...newClaimsOf(pod), ...made.map(({ metadata }) => metadata.uid ?? '')].join() } : {}
