import { ApiError } from '../../api/errors.ts'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { usedPatch } from '../../api/kinds/workloads/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import {
  addFinalizer,
  finalizersPatch,
  nodes,
  pathOf,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  removeFinalizer,
} from '../../client/index.ts'
import type { Appliers, ApplyContext } from '../kit/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import { type SnapshotSource, snapshotOf, whyKept } from './keeping.ts'
import { type Action, podFinalizer } from './plan.ts'
import { settingsOf } from './settings.ts'
import type { Decision } from './status.ts'
import { endOf, sandboxHistory } from './trouble.ts'

type Ask = ApplyContext<never>['ask']

interface Snapshot {
  metadata: { name: string }
  spec?: { driver?: string; source?: { persistentVolumeClaimName?: string; volumeHandle?: string } }
}

const api = '/apis/snapshot.storage.k8s.io/v1'

/**
 * Lists the snapshots of a namespace's claims, and of volumes. Empty without the snapshot API. Undefined without the
 * right to read them.
 */
async function snapshotSources(ask: Ask, namespace: string): Promise<readonly SnapshotSource[] | undefined> {
  const taken = await listOf(ask, `${api}/namespaces/${namespace}/volumesnapshots`)
  const contents = await listOf(ask, `${api}/volumesnapshotcontents`)
  if (!taken || !contents) return undefined
  return [...taken, ...contents].map(({ metadata: { name }, spec }) => ({
    snapshot: name,
    claim: spec?.source?.persistentVolumeClaimName,
    driver: spec?.driver,
    handle: spec?.source?.volumeHandle,
  }))
}

async function listOf(ask: Ask, path: string): Promise<readonly Snapshot[] | undefined> {
  try {
    return (await ask<{ items?: Snapshot[] }>(path)).items ?? []
  } catch (e) {
    if (!(e instanceof ApiError)) throw e
    if (e.code === 404) return []
    if (e.code === 401 || e.code === 403) return undefined
    throw e
  }
}

type Ctx = ApplyContext<StatefulSet>

export const apply: Appliers<StatefulSet, Action> = {
  MarkClaim: { pace: 'all at once', run: (ctx, { claim }) => mark(ctx, claim) },
  async DeletePod({ writer }, { pod, staysForDecision }) {
    // Each write checks the version that the decision is based on, so a pod that has changed since is kept.
    const guarded = staysForDecision ? addFinalizer(pod, podFinalizer) : pod
    const { metadata } =
      guarded === pod ? pod : await writer.patch(pods, pod, finalizersPatch(guarded), { type: 'merge' })
    await writer.delete(pods, { ...pod, metadata }, { resourceVersion: metadata.resourceVersion })
  },
  Decide: (ctx, { pod, claims }) => decide(ctx, pod, claims),
  Release: ({ writer }, { pod }) => releasePod(writer, pod),
}

/** Releases a pod that was kept for a decision. */
export const releasePod = (writer: Ctx['writer'], pod: Pod): Promise<unknown> =>
  writer.patch(pods, pod, finalizersPatch(removeFinalizer(pod, podFinalizer)), { type: 'merge' })

const mark = ({ writer, nowMs }: Ctx, claim: PersistentVolumeClaim): Promise<unknown> =>
  writer.patch(persistentvolumeclaims, claim, usedPatch(claim, timestamp(nowMs)), { type: 'merge' })

/** All input for the decision about claims, read from the server because no cache is new enough. */
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

/** The reason why a claim of a finished pod is kept, according to the server. */
function whyStays({ owner }: Ctx, pod: Pod, claim: PersistentVolumeClaim, around: Surroundings): string | undefined {
  const settings = settingsOf(owner)
  if (endOf(pod) !== 'told') return `the node of pod ${pod.metadata.name} has not told how it ended`
  if (settings.kind !== 'on') return 'the set does not ask for it any more'
  const others = usersOf(around, pod, claim)
  const why = whyKept({
    pod,
    claim,
    others,
    storage: around,
    nodes: around.nodes,
    allowsRetained: settings.allowsRetained,
  })
  if (why !== undefined) return why
  if (!around.snapshots) return 'whether there is a snapshot of it is not known: volumesnapshots may not be listed'
  const snapshot = snapshotOf(claim, around.volumes, around.snapshots)
  return snapshot && `snapshot ${snapshot} was taken of it`
}

const usersOf = ({ users }: Surroundings, pod: Pod, { metadata: { name = '' } }: PersistentVolumeClaim): Pod[] =>
  users.filter((one) => one.metadata.uid !== pod.metadata.uid && claimNamesOf(one).includes(name))

/** Deletes the claims of a finished pod, unless one may contain data. */
async function decide(ctx: Ctx, seen: Pod, claims: readonly PersistentVolumeClaim[]): Promise<Decision[]> {
  const { writer, event } = ctx
  const around = await lookAround(ctx)
  const pod = around.users.find(({ metadata }) => metadata.uid === seen.metadata.uid)
  if (!pod) return []
  const decisions: Decision[] = []
  for (const {
    metadata: { uid },
  } of claims) {
    const claim = around.claims.find(({ metadata }) => metadata.uid === uid)
    if (!claim || claim.metadata.deletionTimestamp) continue
    const { name = '', resourceVersion } = claim.metadata
    const why = whyStays(ctx, pod, claim, around)
    decisions.push({ claim: name, whyKept: why })
    const hasStarted = [pod, ...usersOf(around, pod, claim)].some((one) => sandboxHistory(one) === 'ready')
    // A snapshot is known only from the server, so the claim is marked as used and not checked again.
    if (hasStarted || (why !== undefined && snapshotOf(claim, around.volumes, around.snapshots ?? []))) {
      await mark(ctx, claim)
    }
    if (why !== undefined) continue
    // The version is checked, so that a mark written by a node in the meantime prevents the deletion.
    await writer.delete(persistentvolumeclaims, claim, { resourceVersion })
    event(
      'Normal',
      'RecreatingClaim',
      `Deleted, to be made anew: pod ${pod.metadata.name} could not start with it`,
      claim,
    )
  }
  await releasePod(writer, pod)
  return decisions
}
