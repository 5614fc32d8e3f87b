import type { Secret } from '../../api/generated/types.ts'
import { isBootstrapToken, tokenMsLeft } from '../../api/kinds/bootstrap-token.ts'
import { secrets } from '../../client/index.ts'
import { type Step, defineController } from '../kit/index.ts'

export interface Observed {
  secret: Secret
  nowMs: number
}

export type CleaningAction = { kind: 'Delete' }

/** Deletes a token that has expired, or whose expiration cannot be parsed. A token without an expiration is kept. */
export function planCleaning({ secret, nowMs }: Observed): Step<CleaningAction> {
  const leftMs = tokenMsLeft(secret, nowMs)
  if (leftMs === undefined) return { actions: [] }
  return leftMs > 0 ? { actions: [], requeueAfterMs: leftMs } : { actions: [{ kind: 'Delete' }] }
}

/** Deletes bootstrap tokens that have expired. */
export const tokenCleaner = defineController<Secret, Observed, CleaningAction>({
  name: 'token-cleaner',
  owner: secrets,
  sources: { looksAt: isBootstrapToken },
  observe: ({ nowMs }, secret) => ({ secret, nowMs }),
  plan: planCleaning,
  apply: {
    // The version is checked, because the expiration may have been extended since.
    Delete: ({ writer, owner }) => writer.delete(secrets, owner, { resourceVersion: owner.metadata.resourceVersion }),
  },
})
