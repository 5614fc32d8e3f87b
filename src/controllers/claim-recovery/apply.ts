import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { usedPatch } from '../../api/kinds/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import {
  addFinalizer, finalizersPatch, nodes, pathOf, persistentvolumeclaims, persistentvolumes, pods, removeFinalizer,
} from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import { whyKept } from './keeping.ts'
import type { Action } from './plan.ts'
import { snapshotOf } from './provenance.ts'
import { endOf, sandboxHistory } from './sandbox.ts'
import { settingsOf } from './settings.ts'
import { snapshotSources } from './snapshots.ts'
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
  writer.patch(persistentvolumeclaims, claim, usedPatch(claim, timestamp(nowMs)), { type: 'merge' })

/** All that claims are judged by, as the server has it now: no cache is new enough. */
async function lookAround({ ask, owner }: Ctx) {
  const { namespace = '' } = owner.metadata
  const list = async <T>(path: string): Promise<T[]> => (await ask<{ items: T[] }>(path)).items
  return {
    users: await list<Pod>(pathOf(pods, namespace)),
    claims: await list<PersistentVolumeClaim>(pathOf(persistentvolumeclaims)),
    volumes: await list<PersistentVolume>(pathOf(persistentvolumes)),
    nodes: await list<Node>(pathOf(nodes)),
    snapshots: await snapshotSources(ask, namespace),
  }
}

type Surroundings = Awaited<ReturnType<typeof lookAround>>

/** Why a claim of a pod that has ended stays, by what the server says. */
function whyStays({ owner }: Ctx, pod: Pod, claim: PersistentVolumeClaim, around: Surroundings): string | undefined {
  const settings = settingsOf(owner)
  if (endOf(pod) !== 'told') return `the node of pod ${pod.metadata.name} has not told how it ended`
  if (settings.kind !== 'on') return 'the set does not ask for it any more'
  const others = usersOf(around, pod, claim)
  const why = whyKept({ pod, claim, others, storage: around, nodes: around.nodes, allowsRetained: settings.allowsRetained })
  if (why !== undefined) return why
  if (!around.snapshots) return 'whether there is a snapshot of it is not known: volumesnapshots may not be listed'
  const snapshot = snapshotOf(claim, around.volumes, around.snapshots)
  return snapshot && `snapshot ${snapshot} was taken of it`
}

const usersOf = ({ users }: Surroundings, pod: Pod, { metadata: { name = '' } }: PersistentVolumeClaim): Pod[] =>
  users.filter((one) => one.metadata.uid !== pod.metadata.uid && claimNamesOf(one).includes(name))

/** Deletes the claims of a pod that has ended, unless one may hold data after all. */
async function decide(ctx: Ctx, seen: Pod, claims: readonly PersistentVolumeClaim[]): Promise<Decision[]> {
  const { writer, event } = ctx
  const around = await lookAround(ctx)
  const pod = around.users.find(({ metadata }) => metadata.uid === seen.metadata.uid)
  if (!pod) return []
  const decisions: Decision[] = []
  for (const { metadata: { uid } } of claims) {
    const claim = around.claims.find(({ metadata }) => metadata.uid === uid)
    if (!claim || claim.metadata.deletionTimestamp) continue
    const { name = '', resourceVersion } = claim.metadata
    const why = whyStays(ctx, pod, claim, around)
    decisions.push({ claim: name, whyKept: why })
    const hasStarted = [pod, ...usersOf(around, pod, claim)].some((one) => sandboxHistory(one) === 'ready')
    // What only the server can tell is not asked for again: a claim with a snapshot counts as used.
    if (hasStarted || (why !== undefined && snapshotOf(claim, around.volumes, around.snapshots ?? []))) await mark(ctx, claim)
    if (why !== undefined) continue
    // It names the version that was judged: a mark that a node has written since prevents it.
    await writer.delete(persistentvolumeclaims, claim, { resourceVersion })
    event('Normal', 'RecreatingClaim', `Deleted, to be made anew: pod ${pod.metadata.name} could not start with it`, claim)
  }
  await releasePod(writer, pod)
  return decisions
}
