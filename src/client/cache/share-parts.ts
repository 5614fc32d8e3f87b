import { deepEqual } from '../../api/deep-equal.ts'
import type { KubeObject } from '../../api/object.ts'

/**
 * Gives an object that has just arrived those parts of the one before that say the same: its spec, its labels. There is less to keep then, and who
 * compares the two sees it at a glance. An object that is frozen is somebody else's and stays as it is.
 */
export function shareParts(old: KubeObject, object: KubeObject): void {
  if (Object.isFrozen(object)) return
  shareMembers(old.metadata as Members, object.metadata as Members)
  shareMembers(old as unknown as Members, object as unknown as Members)
}

/** What changes with nearly every event, and is not worth a look. */
const volatile = new Set(['metadata', 'status'])

type Members = Record<string, unknown>

function shareMembers(old: Members, object: Members): void {
  for (const name in object) {
    if (volatile.has(name)) continue
    const [was, is] = [old[name], object[name]]
    if (typeof is === 'object' && is !== null && is !== was && deepEqual(was, is)) object[name] = was
  }
}
