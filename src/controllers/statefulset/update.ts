import { assert } from '../../base/assert.ts'
import type { Step } from '../kit/index.ts'
import type { Action } from './apply.ts'
import { startOrdinal } from './identity.ts'
import type { Member } from './member.ts'
import type { Derived } from './observe.ts'

/**
 * Replaces outdated pods from the highest ordinal down to the partition, with at most maxUnavailable unavailable pods.
 */
export function rollOut(seen: Derived): Step<Action> {
  const { set, ordinals, partition, maxUnavailable, unavailable } = seen
  if (set.spec.updateStrategy.type === 'OnDelete') return { actions: [] }
  const outdated = ordinals.outdatedReady.size + ordinals.outdatedUnready.size
  if (outdated === 0) return { actions: [] }
  const broken = brokenOf(seen)
  // The limit is at most the number of pods to update: pods below the partition must not raise it.
  const most = Math.min(maxUnavailable, Math.max(1, ordinals.wanted - partition))
  // A ready pod serves users even if it is not available yet, and is deleted within the limit.
  const serving = ordinals.outdatedReady.first(Math.max(0, most - unavailable))
  assert(
    () => serving.length === 0 || unavailable + serving.length <= most,
    'a rollout makes at most maxUnavailable pods unavailable',
  )
  // A broken pod may have recovered since, and is then deleted within the limit, or not at all.
  const actions: Action[] = [
    ...broken.map(({ pod }): Action => ({ kind: 'DeletePod', pod, ifUnchanged: true })),
    ...serving.map(({ pod }): Action => ({ kind: 'DeletePod', pod })),
  ]
  const isStuck = outdated > actions.length && actions.length === 0
  return isStuck ? { actions, wait: `${unavailable} pods are unavailable, of ${most} that may be` } : { actions }
}

/**
 * The outdated pods that are replaced regardless of the limit: in parallel, those that are not ready. This costs no
 * availability, and otherwise they would prevent their own replacement. Without the feature gate they are replaced one
 * at a time. Finished pods are deleted by another stage.
 */
function brokenOf(seen: Derived): readonly Member[] {
  if (seen.isOrdered) return []
  const { ordinals } = seen
  const broken = [...ordinals.outdatedUnready.values()]
    .filter(({ isFinished }) => !isFinished)
    .sort((a, b) => b.ordinal - a.ordinal)
  if (seen.honoursMaxUnavailable || broken.length === 0) return broken
  return isOneUnderWay(seen) ? [] : broken.slice(0, 1)
}

/**
 * True if a replica is missing, terminating, or updated and not available. Pods that are replaced one at a time wait
 * for it.
 */
function isOneUnderWay({ set, ordinals, partition }: Derived): boolean {
  if (ordinals.tally.underWay > 0) return true
  const first = startOrdinal(set) + partition
  return ordinals.missing > 0 && ordinals.isMissingFrom(first)
}
