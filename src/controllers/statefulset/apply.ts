import type { StatefulSet } from '../../api/generated/types.ts'
import { isAlreadyExists, persistentvolumeclaims, pods } from '../../client/index.ts'
import { type Appliers, type ApplyContext, revisionAppliers } from '../kit/index.ts'
import { setNameOf } from './identity.ts'
import type { Action } from './plan.ts'

type Ctx = ApplyContext<StatefulSet>
type ClaimsOf = Pick<Extract<Action, { kind: 'CreatePod' }>, 'claims'>

export const apply: Appliers<StatefulSet, Action> = {
  AdoptPod: ({ writer }, { pod }) => writer.adopt(pods, pod),
  ReleasePod: ({ writer }, { pod }) => writer.release(pods, pod),
  ...revisionAppliers,
  CreatePod: {
    pace: 'slow start',
    run: createPod,
    failed: (error, { pod }) => ({ reason: 'FailedCreate', message: failureText('create', pod.metadata.name!, error) }),
  },
  CreateClaims: (ctx, { pod, claims }) => createClaims(ctx, pod.metadata.name!, { claims }),
  OwnClaim: ({ writer }, { claim, owners }) => {
    const { uid, resourceVersion } = claim.metadata
    return writer.patch(persistentvolumeclaims, claim, { metadata: { uid, resourceVersion, ownerReferences: owners } }, { type: 'merge' })
  },
  LabelPod: {
    run: async ({ writer, event, owner }, { pod, labels }) => {
      await writer.patch(pods, pod, { metadata: { uid: pod.metadata.uid, labels } }, { type: 'merge' })
      event('Normal', 'SuccessfulUpdate', `update Pod ${pod.metadata.name} in StatefulSet ${owner.metadata.name} successful`)
    },
    failed: (error, { pod }) => ({ reason: 'FailedUpdate', message: failureText('update', pod.metadata.name!, error) }),
  },
  DeletePod: {
    pace: 'all at once',
    run: async ({ writer, event, owner }, { pod, ifUnchanged }) => {
      const { resourceVersion } = pod.metadata
      await writer.delete(pods, pod, ifUnchanged && resourceVersion ? { resourceVersion } : {})
      event('Normal', 'SuccessfulDelete', `delete Pod ${pod.metadata.name} in StatefulSet ${owner.metadata.name} successful`)
    },
    failed: (error, { pod }) => ({ reason: 'FailedDelete', message: failureText('delete', pod.metadata.name!, error) }),
  },
}

const failureText = (verb: string, podName: string, error: Error): string => `${verb} Pod ${podName} in StatefulSet ${setNameOf(podName)} failed error: ${error.message}`

async function createPod(ctx: Ctx, action: Extract<Action, { kind: 'CreatePod' }>): Promise<void> {
  const { writer, event, owner } = ctx
  const { name } = action.pod.metadata
  await createClaims(ctx, name!, action)
  await writer.create(pods, action.pod)
  event('Normal', 'SuccessfulCreate', `create Pod ${name} in StatefulSet ${owner.metadata.name} successful`)
}

async function createClaims({ writer, event, owner }: Ctx, podName: string, { claims }: ClaimsOf): Promise<void> {
  for (const claim of claims) {
    try {
      await writer.create(persistentvolumeclaims, claim)
    } catch (e) {
      // Not ours to mind: a claim of this name is what the pod asks for, whoever made it.
      if (!isAlreadyExists(e)) throw e
      continue
    }
    event('Normal', 'SuccessfulCreate', `create Claim ${claim.metadata.name} Pod ${podName} in StatefulSet ${owner.metadata.name} success`)
  }
}
