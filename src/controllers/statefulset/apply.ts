import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery, newClaimsAnnotation } from '../../api/kinds/workloads/claim-recovery.ts'
import type { OwnerReference } from '../../api/object.ts'
import { type New, isAlreadyExists, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type Appliers, type ApplyContext, type RevisionAction, revisionAppliers } from '../kit/index.ts'
import { contentHashLabel } from '../kit/workload/index.ts'

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  /** Creates the claims that are missing, then the pod. */
  | { kind: 'CreatePod'; pod: New<Pod>; claims: readonly New<PersistentVolumeClaim>[] }
  | { kind: 'CreateClaims'; pod: Pod; claims: readonly New<PersistentVolumeClaim>[] }
  | { kind: 'OwnClaim'; claim: PersistentVolumeClaim; owners: readonly OwnerReference[] }
  | { kind: 'LabelPod'; pod: Pod; labels: Readonly<Record<string, string>> }
  /** `ifUnchanged` is set for a pod that serves no users, which must still be true when it is deleted. */
  | { kind: 'DeletePod'; pod: Pod; ifUnchanged?: true }

type Ctx = ApplyContext<StatefulSet>
type ClaimsOf = Pick<Extract<Action, { kind: 'CreatePod' }>, 'claims'>

export const apply: Appliers<StatefulSet, Action> = {
  AdoptPod: ({ writer }, { pod }) => writer.adopt(pods, pod),
  ReleasePod: ({ writer }, { pod }) => writer.release(pods, pod),
  ...revisionAppliers(contentHashLabel),
  CreatePod: {
    pace: 'slow start',
    run: createPod,
    failed: (error, { pod }) => ({ reason: 'FailedCreate', message: failureText('create', pod.metadata.name!, error) }),
  },
  CreateClaims: async (ctx, { pod, claims }) => {
    const made = await createClaims(ctx, pod.metadata.name!, { claims })
    if (asksForClaimRecovery(ctx.owner) && made.length > 0) {
      await ctx.writer.patch(
        pods,
        pod,
        {
          metadata: { uid: pod.metadata.uid, annotations: newClaimsAnnotation(pod, made) },
        },
        { type: 'merge' },
      )
    }
  },
  OwnClaim: ({ writer }, { claim, owners }) => {
    const { uid, resourceVersion } = claim.metadata
    return writer.patch(
      persistentvolumeclaims,
      claim,
      { metadata: { uid, resourceVersion, ownerReferences: owners } },
      { type: 'merge' },
    )
  },
  LabelPod: {
    run: async ({ writer, event, owner }, { pod, labels }) => {
      await writer.patch(pods, pod, { metadata: { uid: pod.metadata.uid, labels } }, { type: 'merge' })
      event(
        'Normal',
        'SuccessfulUpdate',
        `update Pod ${pod.metadata.name} in StatefulSet ${owner.metadata.name} successful`,
      )
    },
    failed: (error, { pod }) => ({ reason: 'FailedUpdate', message: failureText('update', pod.metadata.name!, error) }),
  },
  DeletePod: {
    pace: 'all at once',
    run: async ({ writer, event, owner }, { pod, ifUnchanged }) => {
      const { resourceVersion } = pod.metadata
      await writer.delete(pods, pod, ifUnchanged && resourceVersion ? { resourceVersion } : {})
      event(
        'Normal',
        'SuccessfulDelete',
        `delete Pod ${pod.metadata.name} in StatefulSet ${owner.metadata.name} successful`,
      )
    },
    failed: (error, { pod }) => ({ reason: 'FailedDelete', message: failureText('delete', pod.metadata.name!, error) }),
  },
}

/** The set name in a pod name. */
const setNameOf = (podName: string): string => podName.slice(0, podName.lastIndexOf('-'))

const failureText = (verb: string, podName: string, error: Error): string =>
  `${verb} Pod ${podName} in StatefulSet ${setNameOf(podName)} failed error: ${error.message}`

async function createPod(ctx: Ctx, action: Extract<Action, { kind: 'CreatePod' }>): Promise<void> {
  const { writer, event, owner } = ctx
  const { name } = action.pod.metadata
  const made = await createClaims(ctx, name!, action)
  await writer.create(pods, asksForClaimRecovery(owner) ? madeWith(action.pod, made) : action.pod)
  event('Normal', 'SuccessfulCreate', `create Pod ${name} in StatefulSet ${owner.metadata.name} successful`)
}

/** The pod with an annotation that names the claims that were created with it. */
const madeWith = (pod: New<Pod>, made: readonly PersistentVolumeClaim[]): New<Pod> => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...newClaimsAnnotation(pod, made) } },
})

/** Returns the claims that did not exist before. */
async function createClaims(
  { writer, event, owner }: Ctx,
  podName: string,
  { claims }: ClaimsOf,
): Promise<PersistentVolumeClaim[]> {
  const made: PersistentVolumeClaim[] = []
  for (const claim of claims) {
    try {
      made.push(await writer.create(persistentvolumeclaims, claim))
    } catch (e) {
      // The claim exists, whoever created it. The pod asks for it by name.
      if (!isAlreadyExists(e)) throw e
      continue
    }
    event(
      'Normal',
      'SuccessfulCreate',
      `create Claim ${claim.metadata.name} Pod ${podName} in StatefulSet ${owner.metadata.name} success`,
    )
  }
  return made
}
