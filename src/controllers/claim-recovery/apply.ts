import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import {
  addFinalizer, finalizersPatch, pathOf, persistentvolumeclaims, pods, removeFinalizer,
} from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import { usedAnnotation, whyKept } from './keeping.ts'
import type { Action } from './plan.ts'
import { endOf, sandboxHistory } from './sandbox.ts'
import { podFinalizer } from './stage.ts'
import type { Decision } from './status.ts'

type Ctx = ApplyContext<StatefulSet>

export const apply: Appliers<StatefulSet, Action> = {
  MarkClaim: { pace: 'all at once', run: (ctx, { claim }) => mark(ctx, claim) },
  async DeletePod({ writer }, { pod, staysForDecision }) {
    // Each write names the version it is based on: a pod that has changed since it was judged stays.
    const guarded = staysForDecision ? addFinalizer(pod, podFinalizer) : pod
    const { metadata } = guarded === pod ? pod : await writer.patch(pods, pod, finalizersPatch(guarded), { type: 'merge' })
    await writer.delete(pods, { ...pod, metadata }, { resourceVersion: metadata.resourceVersion })
  },
  Decide: (ctx, { pod, claims }) => decide(ctx, pod, claims),
  Release: ({ writer }, { pod }) => releasePod(writer, pod),
}

/** Lets a pod go that was kept for a decision. */
export const releasePod = (writer: Ctx['writer'], pod: Pod): Promise<unknown> =>
  writer.patch(pods, pod, finalizersPatch(removeFinalizer(pod, podFinalizer)), { type: 'merge' })

const mark = ({ writer, nowMs }: Ctx, claim: PersistentVolumeClaim): Promise<unknown> =>
  writer.patch(persistentvolumeclaims, claim, { metadata: { uid: claim.metadata.uid, annotations: { [usedAnnotation]: timestamp(nowMs) } } }, { type: 'merge' })

/** Deletes the claims of a pod that has ended, unless one may hold data after all. The server is asked how the pod ended and who else names them: no cache is new enough. */
async function decide(ctx: Ctx, seen: Pod, claims: readonly PersistentVolumeClaim[]): Promise<Decision[]> {
  const { writer, ask, owner, event } = ctx
  const { items } = await ask<{ items: Pod[] }>(pathOf(pods, owner.metadata.namespace ?? ''))
  const pod = items.find(({ metadata }) => metadata.uid === seen.metadata.uid)
  if (!pod) return []
  const decisions: Decision[] = []
  for (const claim of claims) {
    const { name = '', deletionTimestamp, resourceVersion } = claim.metadata
    if (deletionTimestamp) continue
    const users = items.filter((one) => one !== pod && claimNamesOf(one).includes(name))
    const why = endOf(pod) === 'told' ? whyKept(pod, claim, users) : `the node of pod ${pod.metadata.name} has not told how it ended`
    decisions.push({ claim: name, whyKept: why })
    if ([pod, ...users].some((one) => sandboxHistory(one) === 'ready')) await mark(ctx, claim)
    if (why !== undefined) continue
    await writer.delete(persistentvolumeclaims, claim, { resourceVersion })
    event('Normal', 'RecreatingClaim', `Deleted, to be made anew: pod ${pod.metadata.name} could not start with it`, claim)
  }
  await releasePod(writer, pod)
  return decisions
}
