import { isAlreadyExists, isNotFound } from '../../api/errors.ts'
import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { type New, clonesets, ownerReference, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type Appliers, type ApplyContext, type RevisionAction, TerminalError, revisionAppliers } from '../kit/index.ts'
import { contentHashLabel } from '../kit/workload/index.ts'
import { idOf, newClaims, newPod, podPrefix } from './identity.ts'
import { type UpdateInPlace, refreshPod } from './in-place.ts'
import { type PatchLifecycle, type PodPatch, preparedPod } from './lifecycle.ts'
import { memberOf } from './member.ts'
import type { Revision } from './revisions.ts'

/** Creates the missing claims and the pod. */
export interface CreatePod {
  kind: 'CreatePod'
  revision: Revision
  /** The instance ID whose claims are reused. Without it the pod gets a new ID. */
  id?: string
}

/** Deletes a pod, then its claims. */
export interface DeletePod {
  kind: 'DeletePod'
  pod: Pod
  claims: readonly PersistentVolumeClaim[]
}

/** Reports that a pod cannot be updated as the strategy requires. */
interface RefuseUpdate {
  kind: 'RefuseUpdate'
  pod: Pod
  why: string
}

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  | CreatePod
  | DeletePod
  | UpdateInPlace
  | PatchLifecycle
  | RefuseUpdate
  /** Makes a claim that is not reused go with its pod. */
  | { kind: 'LeaveClaim'; claim: PersistentVolumeClaim; pod: Pod }
  | { kind: 'DeleteClaim'; claim: PersistentVolumeClaim }
  /** The remaining `podsToDelete`, without the names of deleted pods. */
  | { kind: 'TrimPodsToDelete'; left: readonly string[] }

type Ctx = ApplyContext<CloneSet>

export const apply: Appliers<CloneSet, Action> = {
  AdoptPod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.adopt(pods, pod) },
  ReleasePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.release(pods, pod) },
  ...revisionAppliers(contentHashLabel),
  LeaveClaim: ({ writer, owner }, { claim, pod }) => {
    const { uid, resourceVersion, ownerReferences = [] } = claim.metadata
    const owners = [
      ...ownerReferences.filter((ref) => ref.uid !== owner.metadata.uid),
      ownerReference({ ...pod, apiVersion: 'v1', kind: 'Pod' }, { controller: false }),
    ]
    return writer.patch(
      persistentvolumeclaims,
      claim,
      { metadata: { uid, resourceVersion, ownerReferences: owners } },
      { type: 'merge' },
    )
  },
  DeleteClaim: ({ writer }, { claim }) => writer.delete(persistentvolumeclaims, claim),
  PatchLifecycle: {
    pace: 'all at once',
    run: changePod,
    failed: (error, { pod }) => ({
      reason: 'FailedUpdate',
      message: `failed to change the state of pod ${pod.metadata.name}: ${error.message}`,
    }),
  },
  UpdateInPlace: {
    pace: 'all at once',
    async run(ctx, action) {
      await changePod(ctx, action)
      ctx.event(
        'Normal',
        'SuccessfulUpdatePodInPlace',
        `successfully update pod ${action.pod.metadata.name} in-place(revision ${action.revision})`,
      )
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
    failed: (error, { pod }) => ({
      reason: 'FailedDelete',
      message: `failed to delete pod ${pod.metadata.name}: ${error.message}`,
    }),
  },
  CreatePod: {
    pace: 'slow start',
    run: createPod,
    failed: (error) => ({ reason: 'FailedCreate', message: `failed to create pod: ${error.message}` }),
  },
  RefuseUpdate: {
    pace: 'all at once',
    run: (_, { pod, why }) =>
      Promise.reject(
        new TerminalError(`pod ${pod.metadata.name} cannot be updated in place, as InPlaceOnly asks: ${why}`),
      ),
    failed: (error) => ({ reason: 'FailedUpdate', message: error.message }),
  },
  TrimPodsToDelete: ({ writer, owner }, { left }) => {
    const { uid, resourceVersion } = owner.metadata
    const spec = { scaleStrategy: { podsToDelete: left.length > 0 ? left : null } }
    return writer.patch(clonesets, owner, { metadata: { uid, resourceVersion }, spec }, { type: 'merge' })
  },
}

/** Takes the pod out of service, then changes it. A missing pod is not an error. */
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
  // A rejected name is reused, so that the rejection is reported once. In sets with claims, the claims keep the name.
  const made = await writer.create(
    pods,
    claims.length > 0 ? pod : { ...pod, metadata: { ...pod.metadata, generateName: prefix } },
  )
  event('Normal', 'SuccessfulCreate', `succeed to create pod ${made.metadata.name}`)
  // The gates are opened before the node first reports the pod, which saves a status write of the node. The next
  // reconcile repeats a failed change.
  const { action } = refreshPod(owner, memberOf(owner, made, nowMs), revision.hash, nowMs)
  if (action) await changePod(ctx, action).catch(() => {})
}

async function createClaims({ writer }: Ctx, claims: readonly New<PersistentVolumeClaim>[]): Promise<void> {
  for (const claim of claims) {
    try {
      await writer.create(persistentvolumeclaims, claim)
    } catch (e) {
      // The claim exists, for this ID or of another user. The pod asks for it by name.
      if (!isAlreadyExists(e)) throw e
    }
  }
}
