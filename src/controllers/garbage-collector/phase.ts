import type { KubeObject } from '../../api/object.ts'
import { hasFinalizer } from '../../client/index.ts'

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** Where an object is: on its way out it may first let its dependents go (`orphaning`) or take them along (`foreground`). */
export type Phase = 'staying' | 'going' | 'orphaning' | 'foreground'

export function phaseOf(object: KubeObject): Phase {
  if (!object.metadata.deletionTimestamp) return 'staying'
  if (hasFinalizer(object, orphanFinalizer)) return 'orphaning'
  return hasFinalizer(object, foregroundFinalizer) ? 'foreground' : 'going'
}
