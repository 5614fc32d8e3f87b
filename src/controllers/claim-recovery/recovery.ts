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

/** The recovery that is written on a set; undefined if there is none, or if it is nonsense. */
export function recoveryOf({ metadata }: Pick<StatefulSet, 'metadata'>): Recovery | undefined {
  const text = metadata.annotations?.[stateAnnotation]
  if (!text) return undefined
  try {
    const { pod, uid, since, claims } = JSON.parse(text) as Partial<Record<keyof Recovery, unknown>>
    const isReadable = [pod, uid, since].every(isText) && typeof claims === 'object' && claims !== null && Object.values(claims).every(isText)
    return isReadable ? ({ pod, uid, since, claims } as Recovery) : undefined
  } catch {
    return undefined // it was written by somebody else
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

/** True if something is written on a set that cannot be read: a recovery may be under way, and nobody knows of which pod. */
export const hasUnreadableRecovery = (set: Pick<StatefulSet, 'metadata'>): boolean =>
  Boolean(set.metadata.annotations?.[stateAnnotation]) && recoveryOf(set) === undefined

/** As it is written; empty for none, where something was written before. */
export const stateText = (recovery: Recovery | undefined): string => (recovery ? JSON.stringify(recovery) : '')

export const hasClaims = ({ claims }: Recovery): boolean => Object.keys(claims).length > 0
