import { posix } from 'node:path'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimUsed, isMarkingNode, neverUsed, newClaimsOf } from '../../api/kinds/workloads/claim-recovery.ts'
import {
  annotationOf,
  bindCompleted,
  boundByController,
  isBoundTo,
  provisionedBy,
} from '../../api/kinds/volumes/volume-binding.ts'
import { controllerOf, pods, refersTo, statefulsets } from '../../client/index.ts'
import { millisecondsOf } from '../kit/workload/index.ts'
import type { Storage } from './observe.ts'
import { sandboxHistory } from './trouble.ts'

/** The source of a copy: a claim, or a volume by its driver's handle. */
export interface SnapshotSource {
  snapshot: string
  claim?: string | undefined
  driver?: string | undefined
  handle?: string | undefined
}

/** The reason why the volume of a claim may contain other data, or is used by another object. Undefined if not. */
function whyNotItsOwn(
  claim: PersistentVolumeClaim,
  { volumes, claims }: Storage,
  allowsRetained: boolean,
): string | undefined {
  const { dataSource, dataSourceRef, volumeName } = claim.spec
  if (dataSource ?? dataSourceRef) {
    return `it has a data source, ${(dataSource ?? dataSourceRef)!.kind} ${(dataSource ?? dataSourceRef)!.name}`
  }
  const clone = claims.find((other) => isCloneOf(other, claim))
  if (clone) return `claim ${clone.metadata.name} is a clone of it`
  if (!volumeName) return whyReserved(claim, volumes)
  if (claim.status?.phase === 'Lost') return `it has lost its volume ${volumeName}, and nobody can tell what was on it`
  if (!annotationOf(claim, boundByController)) return `it names its volume ${volumeName} itself`
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName)
  if (!volume) return `its volume ${volumeName} is gone, and nobody can tell what was on it`
  return whyForeign(claim, volume) ?? whyRetained(volume, allowsRetained) ?? whyTwice(volume, volumes)
}

function isCloneOf(
  { metadata: { namespace: ownNamespace, uid }, spec: { dataSource, dataSourceRef } }: PersistentVolumeClaim,
  { metadata }: PersistentVolumeClaim,
): boolean {
  if (uid === metadata.uid) return false
  return [dataSource, dataSourceRef].some((source) => {
    const namespace = (source && 'namespace' in source ? source.namespace : undefined) ?? ownNamespace
    return source?.kind === 'PersistentVolumeClaim' && source.name === metadata.name && namespace === metadata.namespace
  })
}

/** A claim without a volume has no data, but a restored volume may be reserved for it. */
function whyReserved(claim: PersistentVolumeClaim, volumes: readonly PersistentVolume[]): string | undefined {
  if (annotationOf(claim, bindCompleted)) return 'it has had a volume, and nobody can tell what was on it'
  const reserved = volumes.find((volume) => isBoundTo(volume, claim) && whyForeign(claim, volume))
  return reserved && `volume ${reserved.metadata.name} is reserved for it`
}

/**
 * The reason why a volume was not provisioned for this claim. A provisioner annotates the volume and includes the
 * claim's UID in its name. A restored volume has another UID, even if it has all earlier annotations.
 */
function whyForeign(
  { metadata: { uid = '', creationTimestamp } }: PersistentVolumeClaim,
  volume: PersistentVolume,
): string | undefined {
  const { name = '', creationTimestamp: madeAt } = volume.metadata
  if (volume.spec.claimRef?.uid !== uid) return `its volume ${name} is not bound to it`
  if (!annotationOf(volume, provisionedBy)) return `its volume ${name} was not provisioned: it does not say by whom`
  if (annotationOf(volume, boundByController)) return `its volume ${name} was there before, and was chosen for it`
  if (!(millisecondsOf(madeAt) >= millisecondsOf(creationTimestamp))) return `its volume ${name} was there before it`
  return uid !== '' && name.includes(uid)
    ? undefined
    : `its volume ${name} does not have its uid in its name, and may be an older one`
}

function whyRetained({ metadata: { name }, spec }: PersistentVolume, allowsRetained: boolean): string | undefined {
  const policy = spec.persistentVolumeReclaimPolicy
  if (policy === 'Delete' || (policy === 'Retain' && allowsRetained)) return undefined
  return `its volume ${name} has the reclaim policy ${policy}`
}

/** Another volume may be the same storage, a part of it, or contain it. */
function whyTwice(volume: PersistentVolume, volumes: readonly PersistentVolume[]): string | undefined {
  const asset = assetOf(volume)
  const twin =
    asset && volumes.find((other) => other.metadata.name !== volume.metadata.name && overlap(assetOf(other), asset))
  return twin ? `its volume ${volume.metadata.name} has the same storage as volume ${twin.metadata.name}` : undefined
}

/** The location of storage, and the directory in it. */
interface Asset {
  where: string
  directory: string
}

function assetOf({ spec: { csi, hostPath, local, nfs } }: PersistentVolume): Asset | undefined {
  if (csi) return { where: `csi ${csi.driver} ${csi.volumeHandle}`, directory: '/' }
  if (nfs) return { where: `nfs ${nfs.server}`, directory: directoryOf(nfs.path) }
  const path = hostPath?.path ?? local?.path
  return path === undefined ? undefined : { where: 'a node', directory: directoryOf(path) }
}

/** Normalizes a path: `/data/a`, `/data//a`, `/data/a/` and `/data/b/../a` become `/data/a/`. */
const directoryOf = (path: string): string => `${posix.normalize(`/${path}`).replace(/\/+$/, '')}/`

function overlap(one: Asset | undefined, other: Asset): boolean {
  if (one?.where !== other.where) return false
  return one.directory.startsWith(other.directory) || other.directory.startsWith(one.directory)
}

/** The snapshot of a claim, or of its volume. */
export function snapshotOf(
  { metadata, spec }: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  sources: readonly SnapshotSource[],
): string | undefined {
  const csi = volumes.find(({ metadata: { name } }) => name === spec.volumeName)?.spec.csi
  const isOfVolume = ({ driver, handle }: SnapshotSource) =>
    csi !== undefined && driver === csi.driver && handle === csi.volumeHandle
  return sources.find((source) => source.claim === metadata.name || isOfVolume(source))?.snapshot
}

/** The input for the decision whether a claim may be deleted. */
export interface Case {
  /** The pod that cannot start with the claim. */
  pod: Pod
  claim: PersistentVolumeClaim
  /** The other pods that mount it. */
  others: readonly Pod[]
  storage: Storage
  nodes: readonly Node[]
  /** True if the set permits that volumes with the policy Retain are left behind. */
  allowsRetained: boolean
}

/**
 * The reason why a claim must not be deleted. Undefined if it may be. Each rule needs a proof, and unknown facts are a
 * reason to keep the claim. The proofs: no node has marked it, all nodes would have, it was created together with the
 * pod, that pod never had a sandbox, and its volume was provisioned for this claim only.
 */
export function whyKept({ pod, claim, others, storage, nodes, allowsRetained }: Case): string | undefined {
  return (
    whyUsed(claim) ??
    whyOwned(claim) ??
    whyOlder(pod, claim) ??
    whyStarted(pod) ??
    whyShared(others) ??
    whyUnmarked(pod, nodes) ??
    whyNotItsOwn(claim, storage, allowsRetained)
  )
}

function whyUsed({ metadata: { annotations } }: PersistentVolumeClaim): string | undefined {
  const used = annotations?.[claimUsed]
  if (used === undefined) return `nobody vouches that it was never used: it has no annotation ${claimUsed}`
  return used === neverUsed ? undefined : `it was used since ${used}`
}

function whyOwned(claim: PersistentVolumeClaim): string | undefined {
  const owner = controllerOf(claim)
  return owner && !refersTo(owner, statefulsets) && !refersTo(owner, pods)
    ? `it belongs to ${owner.kind} ${owner.name}`
    : undefined
}

const whyOlder = (pod: Pod, { metadata: { uid = '' } }: PersistentVolumeClaim): string | undefined =>
  newClaimsOf(pod).includes(uid)
    ? undefined
    : `it was not made together with pod ${pod.metadata.name}, and an earlier one may have used it`

function whyStarted(pod: Pod): string | undefined {
  const history = sandboxHistory(pod)
  if (history === 'ready') return `pod ${pod.metadata.name} has had a ready sandbox with it`
  return history === 'unknown' ? `it is not known whether pod ${pod.metadata.name} ever had a ready sandbox` : undefined
}

const whyShared = ([other]: readonly Pod[]): string | undefined =>
  other && `it is used by pod ${other.metadata.name}, too`

/** On a node that does not mark claims, a deleted pod may have used this one. */
function whyUnmarked({ spec }: Pod, nodes: readonly Node[]): string | undefined {
  if (spec?.nodeName && !nodes.some(({ metadata }) => metadata.name === spec.nodeName)) {
    return `node ${spec.nodeName} is gone`
  }
  const silent = nodes.find((node) => !isMarkingNode(node))
  return silent && `node ${silent.metadata.name} does not mark claims, and a pod may have used it there`
}
