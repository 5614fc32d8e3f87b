import type { PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import { persistentvolumeclaims, pods } from '../../../src/client/index.ts'
import type { World } from '../world.ts'

const { plural } = persistentvolumeclaims

/** Deletes claims whose owners are gone, as the garbage collector does, and lets them go when no pod has them any more, as their protection does. */
export function collectClaims(world: World, owners: readonly string[]): void {
  const { truth, timeline, userClient: client } = world
  const isThere = (uid: string) => owners.some((kind) => truth.list(kind).some((owner) => owner.metadata.uid === uid))
  const isUsed = (name: string) => (truth.list(pods.plural) as Pod[]).some((pod) => pod.spec.nodeName && claimNamesOf(pod).includes(name))
  const end = async ({ metadata: { name = '', uid, deletionTimestamp, finalizers = [], ownerReferences = [] } }: PersistentVolumeClaim) => {
    const isForsaken = ownerReferences.length > 0 && !ownerReferences.some((ref) => isThere(ref.uid))
    if (!deletionTimestamp && isForsaken) await client.delete(persistentvolumeclaims, 'default', name, { uid })
    else if (deletionTimestamp && finalizers.length > 0 && !isUsed(name)) await client.patch(persistentvolumeclaims, 'default', name, { metadata: { uid, finalizers: null } }, { type: 'merge' })
  }
  const collect = (name: string, delayMs = 1000) =>
    timeline.after(delayMs, () => {
      const claim = truth.get(plural, `default/${name}`) as PersistentVolumeClaim | undefined
      if (claim) end(claim).catch(() => collect(name))
    })
  truth.onChange((change) => {
    if (change.plural === plural && change.after) collect(change.after.metadata.name!)
    const isGone = change.before && change.before.metadata.uid !== change.after?.metadata.uid
    if (isGone && (change.plural === pods.plural || owners.includes(change.plural))) for (const { metadata } of truth.list(plural)) collect(metadata.name!)
  })
}
