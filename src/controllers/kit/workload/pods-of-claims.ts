import type { Pod } from '../../../api/generated/types.ts'
import { pods } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { type CacheIndex, indexing } from '../definition.ts'

const byClaim = 'claim'

/** The keys of the claims whose volumes a pod mounts: those it names, and those that are made for it. */
export function claimKeysOf({ metadata: { namespace, name }, spec }: Pod): string[] {
  const keys: string[] = []
  for (const volume of spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) keys.push(`${namespace}/${volume.persistentVolumeClaim.claimName}`)
    if (volume.ephemeral) keys.push(`${namespace}/${name}-${volume.name}`)
  }
  return keys
}

/** Pods by the claims whose volumes they mount. */
export const podsByClaim: CacheIndex = indexing(pods, byClaim, claimKeysOf)

/** Pods that mount the volume of a claim. Needs `podsByClaim`. */
export const podsOfClaim = (caches: Caches, claimKey: string): Pod[] => caches.byIndex(pods, byClaim, claimKey)
