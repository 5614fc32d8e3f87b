import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { claimKeysOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import { bindCompleted, provisionedBy } from '../../../src/api/kinds/volumes/volume-binding.ts'
import { matchingVolume, requestedStorage } from '../../../src/api/kinds/volumes/volume-matching.ts'
import { compareQuantity } from '../../../src/api/numbers/quantity.ts'
import { keyOf, persistentvolumeclaims, persistentvolumes, pods } from '../../../src/client/index.ts'
import { isPodActive } from '../../../src/controllers/kit/workload/index.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { World } from '../world.ts'

const claimsOf = (world: World) => world.truth.list(persistentvolumeclaims.plural) as PersistentVolumeClaim[]
const volumesOf = (world: World) => world.truth.list(persistentvolumes.plural) as PersistentVolume[]
const podsOf = (world: World) => world.truth.list(pods.plural) as Pod[]
const isBound = ({ metadata }: PersistentVolumeClaim) => metadata.annotations?.[bindCompleted] !== undefined
const usersOf = (world: World, claim: PersistentVolumeClaim) => podsOf(world).filter((pod) => pod.spec.nodeName && claimKeysOf(pod).includes(keyOf(claim)))
const claimWith = (world: World, uid: string | undefined) => claimsOf(world).find(({ metadata }) => metadata.uid === uid)

/** A claim that has a volume is the one that the volume says it has. */
const nobodyShares = (): Invariant => ({
  name: 'no volume is given to two claims',
  changed({ plural, after }, world): Verdict {
    if (plural !== persistentvolumeclaims.plural || !after || !isBound(after as PersistentVolumeClaim)) return undefined
    const { metadata, spec, status } = after as PersistentVolumeClaim
    const volume = world.truth.get(persistentvolumes.plural, spec.volumeName ?? '') as PersistentVolume | undefined
    if (!volume || status.phase === 'Lost' || volume.spec.claimRef?.uid === metadata.uid) return undefined
    return `${metadata.name} has ${spec.volumeName}, which belongs to ${volume.spec.claimRef?.name} (${volume.spec.claimRef?.uid})`
  },
})

/** A claim's volume is neither released nor deleted while the claim exists. */
const nothingIsGivenUp = (): Invariant => ({
  name: 'nothing is given up whose claim is there',
  changed({ plural, before, after }, world): Verdict {
    if (plural !== persistentvolumes.plural || !before || !after) return undefined
    const [old, now] = [before, after] as PersistentVolume[]
    const claim = claimWith(world, now!.spec.claimRef?.uid)
    if (!claim || (claim.spec.volumeName && claim.spec.volumeName !== now!.metadata.name)) return undefined
    return now!.status.phase === 'Released' && old!.status.phase !== 'Released' ? `${now!.metadata.name} is released, and ${claim.metadata.name} is there` : undefined
  },
})

/** A claim that a pod on a node used when it was deleted outlives that pod. */
const usedClaimsStay = (): Invariant => ({
  name: 'a claim stays while a pod uses it',
  changed({ plural, key, before, after }, world): Verdict {
    if (plural !== persistentvolumeclaims.plural || !before || after) return undefined
    const end = world.truth.changesOf(plural, key).find((change) => change.after?.metadata.uid === before.metadata.uid && change.after?.metadata.deletionTimestamp)
    const user = usersOf(world, before as PersistentVolumeClaim).find((pod) => {
      const then = world.truth.getAt(pods.plural, keyOf(pod), end?.revision ?? 0) as Pod | undefined
      return then?.metadata.uid === pod.metadata.uid && then?.spec.nodeName
    })
    return user && `${key} is gone, and ${user.metadata.name} uses it`
  },
})

const everyClaimIsServed = (): Invariant => ({
  name: 'every claim has what there is for it',
  unfinished(world): Verdict {
    for (const claim of claimsOf(world)) {
      const verdict = judgeClaim(world, claim)
      if (verdict) return `${claim.metadata.name} ${verdict}`
    }
    return undefined
  },
})

function judgeClaim(world: World, claim: PersistentVolumeClaim): Verdict {
  const { phase, capacity } = claim.status
  const users = usersOf(world, claim)
  if (claim.metadata.deletionTimestamp) return users.length > 0 ? undefined : 'is still being deleted'
  if (phase === 'Lost') return world.truth.get(persistentvolumes.plural, claim.spec.volumeName ?? '') ? 'is lost, and its volume is there' : undefined
  if (phase === 'Bound') {
    const volume = world.truth.get(persistentvolumes.plural, claim.spec.volumeName!)
    if (!volume) return 'is bound to a volume that is gone'
    const isMade = volume.metadata.annotations?.[provisionedBy] !== undefined
    return isMade && compareQuantity(requestedStorage(claim), capacity?.['storage'] ?? '0') > 0 ? 'has not grown' : undefined
  }
  if (claim.spec.storageClassName === 'manual') return matchingVolume(claim, volumesOf(world)) && 'has no volume, and there is one'
  if (claim.spec.storageClassName === 'standard' && !users.some(isPodActive)) return undefined
  return 'has no volume'
}

const everyVolumeTells = (): Invariant => ({
  name: 'every volume tells what it is',
  unfinished(world): Verdict {
    for (const volume of volumesOf(world)) {
      const verdict = judgeVolume(world, volume)
      if (verdict) return `${volume.metadata.name} ${verdict}`
    }
    return undefined
  },
})

function judgeVolume(world: World, { metadata, spec, status }: PersistentVolume): Verdict {
  const claim = claimWith(world, spec.claimRef?.uid)
  const isMade = metadata.annotations?.[provisionedBy] !== undefined
  const right = !spec.claimRef?.uid ? 'Available' : claim ? 'Bound' : 'Released'
  if (status.phase !== right) return `is ${status.phase}, and should be ${right}`
  if (metadata.deletionTimestamp && right !== 'Bound') return 'is still being deleted'
  return isMade && right === 'Released' ? 'was made for a claim that is gone' : undefined
}

export const claimRules = (): Invariant[] => [nobodyShares(), nothingIsGivenUp(), usedClaimsStay(), everyClaimIsServed(), everyVolumeTells()]
