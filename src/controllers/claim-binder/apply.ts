import { conflict, isNotFound } from '../../api/errors.ts'
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { boundClaim, boundVolume } from '../../api/kinds/volumes/volume-binding.ts'
import {
  type KubeObject,
  type ResourceType,
  pathOf,
  persistentvolumeclaims,
  persistentvolumes,
} from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { type Action, boundStatus, saysAlready, unboundStatus } from './plan.ts'

type Context = ApplyContext<PersistentVolumeClaim>

export const apply: Appliers<PersistentVolumeClaim, Action> = {
  Bind: bind,
  Wait: ({ writer, owner }) =>
    writer.updateStatus(persistentvolumeclaims, { ...owner, status: unboundStatus(owner, 'Pending') }),
  async Lose({ writer, owner, event, ask }, { volume, told }) {
    if (volume && (await live(ask, persistentvolumes, '', volume))) throw notCached(persistentvolumes, volume)
    await writer.updateStatus(persistentvolumeclaims, { ...owner, status: unboundStatus(owner, 'Lost') })
    event('Warning', told.reason, told.message)
  },
  SetClass: ({ writer, owner }, { name }) =>
    writer.update(persistentvolumeclaims, { ...owner, spec: { ...owner.spec, storageClassName: name } }),
  Ask: ({ writer }, { claim }) => writer.update(persistentvolumeclaims, claim),
  Tell: async ({ event }, { type, told }) => event(type, told.reason, told.message),
}

/** The volume is written first, and decides who wins. A Bound claim has a Bound volume. */
async function bind(ctx: Context, { volume }: { volume: PersistentVolume }): Promise<void> {
  const { writer, owner } = ctx
  const taken = await take(ctx, volume)
  const bound =
    taken.status?.phase === 'Bound'
      ? taken
      : await writer.updateStatus(persistentvolumes, {
          ...taken,
          status: { ...taken.status, phase: 'Bound', message: '' },
        })
  const wanted = boundClaim(owner, bound)
  const claim = wanted === owner ? owner : await writer.update(persistentvolumeclaims, wanted)
  const status = boundStatus(claim, bound)
  if (!saysAlready(claim, status)) await writer.updateStatus(persistentvolumeclaims, { ...claim, status })
}

async function take({ writer, owner, ask }: Context, volume: PersistentVolume): Promise<PersistentVolume> {
  const taken = boundVolume(volume, owner)
  if (taken === volume) return volume
  // A volume that is bound to a deleted claim would be released together with its data.
  const { namespace = '', name = '', uid } = owner.metadata
  const now = await live(ask, persistentvolumeclaims, namespace, name)
  if (!now || now.metadata.uid !== uid || now.metadata.deletionTimestamp) {
    throw conflict({ group: '', resource: 'persistentvolumeclaims' }, name, 'it is gone, or going, and gets no volume')
  }
  return writer.update(persistentvolumes, taken)
}

/**
 * The cache is behind. The check repeats until it is current, because an object that is deleted before is never
 * reported.
 */
export const notCached = ({ group, plural }: ResourceType, name: string): Error =>
  conflict({ group, resource: plural }, name, 'it is there, and not in the cache yet')

/** The object as the server has it. Undefined if it does not exist. */
export async function live<T extends KubeObject>(
  ask: Context['ask'],
  type: ResourceType<T>,
  namespace: string,
  name: string,
): Promise<T | undefined> {
  try {
    return await ask<T>(pathOf(type, namespace, name))
  } catch (e) {
    if (isNotFound(e)) return undefined
    throw e
  }
}
