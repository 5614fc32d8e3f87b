import type { StatefulSet } from '../../api/generated/types.ts'

/** On a set: which of its pods is being made anew. It is there before anything is done, so that whoever comes next goes on with it, and with no other. */
export const stateAnnotation = 'coxswain.dev/claim-recovery-state'

export interface Recovery {
  pod: string
  uid: string
  /** Since when it was in trouble. */
  since: string
  /** The uids of claims that go with it, by name; none if only the pod goes. */
  claims: Readonly<Record<string, string>>
}

/** Undefined if there is none, or nobody could say what it means. */
export function recoveryOf({ metadata }: StatefulSet): Recovery | undefined {
  const text = metadata.annotations?.[stateAnnotation]
  if (!text) return undefined
  try {
    const { pod, uid, since, claims } = JSON.parse(text) as Partial<Recovery>
    return pod && uid && since && claims ? { pod, uid, since, claims } : undefined
  } catch {
    return undefined // it was written by somebody else
  }
}

/** As it is written; empty for none, where something was written before. */
export const stateText = (recovery: Recovery | undefined): string => (recovery ? JSON.stringify(recovery) : '')

export const hasClaims = ({ claims }: Recovery): boolean => Object.keys(claims).length > 0
