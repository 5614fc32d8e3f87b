import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { isAlreadyExists, isNotFound } from '../../api/errors.ts'
import { type New, clonesets, ownerReference, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type Appliers, type ApplyContext, TerminalError, revisionAppliers } from '../kit/index.ts'
import { contentHashLabel } from '../kit/workload/index.ts'
import type { Action, CreatePod, PodPatch } from './actions.ts'
import { idOf, newClaims, newPod, podPrefix } from './identity.ts'
import { refreshPod } from './in-place.ts'
import { preparedPod } from './lifecycle.ts'
import { memberOf } from './member.ts'

type Ctx = ApplyContext<CloneSet>

export const apply: Appliers<CloneSet, Action> = {
  AdoptPod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.adopt(pods, pod) },
  ReleasePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.release(pods, pod) },
  ...revisionAppliers(contentHashLabel),
  LeaveClaim: ({ writer, owner }, { claim, pod }) => {
    const { uid, resourceVersion, ownerReferences = [] } = claim.metadata
    const owners = [...ownerReferences.filter((ref) => ref.uid !== owner.metadata.uid), ownerReference({ ...pod, apiVersion: 'v1', kind: 'Pod' }, { controller: false })]
    return writer.patch(persistentvolumeclaims, claim, { metadata: { uid, resourceVersion, ownerReferences: owners } }, { type: 'merge' })
  },
  DeleteClaim: ({ writer }, { claim }) => writer.delete(persistentvolumeclaims, claim),
  PatchLifecycle: {
    pace: 'all at once',
    run: changePod,
    failed: (error, { pod }) => ({ reason: 'FailedUpdate', message: `failed to change the state of pod ${pod.metadata.name}: ${error.message}` }),
  },
  UpdateInPlace: {
    pace: 'all at once',
    async run(ctx, action) {
      await changePod(ctx, action)
      ctx.event('Normal', 'SuccessfulUpdatePodInPlace', `successfully update pod ${action.pod.metadata.name} in-place(revision ${action.revision})`)
    },
    failed: (error, { pod, revision }) => ({
      reason: 'FailedUpdatePodInPlace',
      message: `failed to update pod ${pod.metadata.name} in-place(revision ${revision}): ${error.message}`,
    }),
  },
  DeletePod: {
    pace: 'all at once',
    async run({ writer, event }, { pod, claims }) {
      await writer.delete(pods, pod)
      event('Normal', 'SuccessfulDelete', `succeed to delete pod ${pod.metadata.name}`)
      for (const claim of claims) await writer.delete(persistentvolumeclaims, claim)
    },
    failed: (error, { pod }) => ({ reason: 'FailedDelete', message: `failed to delete pod ${pod.metadata.name}: ${error.message}` }),
  },
  CreatePod: {
    pace: 'slow start',
    run: createPod,
    failed: (error) => ({ reason: 'FailedCreate', message: `failed to create pod: ${error.message}` }),
  },
  RefuseUpdate: {
    pace: 'all at once',
    run: (_, { pod, why }) => Promise.reject(new TerminalError(`pod ${pod.metadata.name} cannot be updated in place, as InPlaceOnly asks: ${why}`)),
    failed: (error) => ({ reason: 'FailedUpdate', message: error.message }),
  },
  TrimPodsToDelete: ({ writer, owner }, { left }) => {
    const { uid, resourceVersion } = owner.metadata
    const spec = { scaleStrategy: { podsToDelete: left.length > 0 ? left : null } }
    return writer.patch(clonesets, owner, { metadata: { uid, resourceVersion }, spec }, { type: 'merge' })
  },
}

/** Out of service first, then changed. A pod that is gone needs no state. */
async function changePod({ writer }: Ctx, { pod, patch }: { pod: Pod; patch: PodPatch }): Promise<void> {
  const { uid } = pod.metadata
  const own = (change: object): object => ({ ...change, metadata: { ...(change as Partial<Pod>).metadata, uid } })
  try {
    if (patch.status) await writer.patch(pods, pod, own(patch.status), { type: 'strategic', subresource: 'status' })
    if (patch.pod) await writer.patch(pods, pod, own(patch.pod), { type: 'strategic' })
  } catch (e) {
    if (!isNotFound(e)) throw e
  }
}

async function createPod(ctx: Ctx, { revision, id: known }: CreatePod): Promise<void> {
  const { owner, writer, event, nowMs } = ctx
  const prefix = podPrefix(owner)
  const id = known ?? idOf(writer.newName(pods, prefix))
  const claims = newClaims(owner, id)
  await createClaims(ctx, claims)
  const pod = preparedPod(owner, newPod(owner, revision, id), nowMs)
  // A name that was refused is used again, so that it is told once. Where there are claims, it is they who keep it.
  const made = await writer.create(pods, claims.length > 0 ? pod : { ...pod, metadata: { ...pod.metadata, generateName: prefix } })
  event('Normal', 'SuccessfulCreate', `succeed to create pod ${made.metadata.name}`)
  // Its gates are opened before its node has anything to say of it, which saves the node a word. What fails is done by the next look, which sees that it was not.
  const { action } = refreshPod(owner, memberOf(owner, made, nowMs), revision.hash, nowMs)
  if (action) await changePod(ctx, action).catch(() => {})
}

async function createClaims({ writer }: Ctx, claims: readonly New<PersistentVolumeClaim>[]): Promise<void> {
  for (const claim of claims) {
    try {
      await writer.create(persistentvolumeclaims, claim)
    } catch (e) {
      // Of this id, or of somebody who calls a claim the same: it is what the pod asks for.
      if (!isAlreadyExists(e)) throw e
    }
  }
}
