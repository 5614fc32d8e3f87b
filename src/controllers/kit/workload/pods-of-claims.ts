import type { Pod } from '../../../api/generated/types.ts'
import { claimKeysOf } from '../../../api/kinds/pod-claims.ts'
import { pods } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type CacheIndex, indexing } from '../definition.ts'

const byClaim = 'claim'

/** Pods by the claims whose volumes they mount. */
export const podsByClaim: CacheIndex = indexing(pods, byClaim, claimKeysOf)

/** Pods that mount the volume of a claim. Needs `podsByClaim`. */
export const podsOfClaim = (caches: Caches, claimKey: string): Pod[] => caches.byIndex(pods, byClaim, claimKey)
