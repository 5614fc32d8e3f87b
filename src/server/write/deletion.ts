import { addInt64, maxInt64Of, secondsInMs } from '../../api/numbers/int64.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions } from '../objects/objects.ts'
import type { Registered } from '../registry/registry.ts'
import { timestamp } from '../../api/object.ts'

const orphan = 'orphan'
const foreground = 'foregroundDeletion'

/** The finalizers after a delete, which tell the garbage collector how to treat dependents. */
function propagationFinalizers(target: Registered, object: KubeObject, options: DeleteOptions): string[] {
  const wanted = (() => {
    if (options.orphanDependents !== undefined) return options.orphanDependents ? orphan : ''
    if (options.propagationPolicy === 'Orphan') return orphan
    if (options.propagationPolicy === 'Foreground') return foreground
    if (options.propagationPolicy === 'Background') return ''
    // By default the object's own finalizers decide, then the kind's default policy.
    if (object.metadata.finalizers?.includes(orphan)) return orphan
    if (object.metadata.finalizers?.includes(foreground)) return foreground
    return target.resource.defaultPropagation === 'Orphan' ? orphan : ''
  })()
  const others = (object.metadata.finalizers ?? []).filter((f) => f !== orphan && f !== foreground)
  return wanted ? [...others, wanted] : others
}

/**
 * Applies a delete to an object: `next` is its marked form, `isRemoved` whether it is removed now or waits for
 * finalizers or grace.
 */
export function markDeleted(
  target: Registered,
  object: KubeObject,
  options: DeleteOptions,
  now: number,
): { next: KubeObject; isRemoved: boolean } {
  const { resource } = target
  // Unchanged parts are shared and not encoded again.
  const meta = { ...object.metadata }
  const next = { ...object, metadata: meta }
  const finalizers = propagationFinalizers(target, object, options)
  const grace = maxInt64Of([resource.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0])
  if (finalizers.length || object.metadata.finalizers?.length)
    meta.finalizers = finalizers.length ? finalizers : undefined
  const isFirst = !meta.deletionTimestamp
  const isHeld = finalizers.length > 0 || grace > 0
  if (isFirst) {
    meta.deletionTimestamp = timestamp(now + secondsInMs(grace))
    meta.deletionGracePeriodSeconds = grace
    if (meta.generation) meta.generation = addInt64(meta.generation, 1)
    resource.beginDeletion?.(next)
  } else if (grace < (meta.deletionGracePeriodSeconds ?? 0)) {
    // A later delete may shorten the grace period but not extend it.
    const askedAt = Date.parse(meta.deletionTimestamp!) - secondsInMs(meta.deletionGracePeriodSeconds ?? 0)
    meta.deletionTimestamp = timestamp(askedAt + secondsInMs(grace))
    meta.deletionGracePeriodSeconds = grace
  }
  const waits =
    finalizers.length > 0 || (isHeld && (meta.deletionGracePeriodSeconds ?? 0) > 0) || Boolean(resource.isHeld?.(next))
  return { next, isRemoved: !waits }
}
