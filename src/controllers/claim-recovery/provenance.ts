import { posix } from 'node:path'
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { annotationOf, bindCompleted, boundByController, isBoundTo, provisionedBy } from '../../api/kinds/volume-binding.ts'
import { millisecondsOf } from '../kit/workload/index.ts'

/** The storage of the cluster: the volumes and claims of all namespaces. */
export interface Storage {
  volumes: readonly PersistentVolume[]
  claims: readonly PersistentVolumeClaim[]
}

/** The source of a copy: a claim, or a volume by the handle that its driver knows it by. */
export interface SnapshotSource {
  snapshot: string
  claim?: string | undefined
  driver?: string | undefined
  handle?: string | undefined
}

/** Why the volume of a claim may hold what was not written through this claim, or somebody counts on it; undefined if not. */
export function whyNotItsOwn(claim: PersistentVolumeClaim, { volumes, claims }: Storage, allowsRetained: boolean): string | undefined {
  const { dataSource, dataSourceRef, volumeName } = claim.spec
  if (dataSource ?? dataSourceRef) return `it has a data source, ${(dataSource ?? dataSourceRef)!.kind} ${(dataSource ?? dataSourceRef)!.name}`
  const clone = claims.find((other) => isCloneOf(other, claim))
  if (clone) return `claim ${clone.metadata.name} is a clone of it`
  if (!volumeName) return whyReserved(claim, volumes)
  if (claim.status?.phase === 'Lost') return `it has lost its volume ${volumeName}, and nobody can tell what was on it`
  if (!annotationOf(claim, boundByController)) return `it names its volume ${volumeName} itself`
  const volume = volumes.find(({ metadata }) => metadata.name === volumeName)
  if (!volume) return `its volume ${volumeName} is gone, and nobody can tell what was on it`
  return whyForeign(claim, volume) ?? whyRetained(volume, allowsRetained) ?? whyTwice(volume, volumes)
}

function isCloneOf({ metadata: { namespace: ownNamespace, uid }, spec: { dataSource, dataSourceRef } }: PersistentVolumeClaim, { metadata }: PersistentVolumeClaim): boolean {
  if (uid === metadata.uid) return false
  return [dataSource, dataSourceRef].some((source) => {
    const namespace = (source && 'namespace' in source ? source.namespace : undefined) ?? ownNamespace
    return source?.kind === 'PersistentVolumeClaim' && source.name === metadata.name && namespace === metadata.namespace
  })
}

/** A claim without a volume has no data. But one may be meant for it, which somebody has restored. */
function whyReserved(claim: PersistentVolumeClaim, volumes: readonly PersistentVolume[]): string | undefined {
  if (annotationOf(claim, bindCompleted)) return 'it has had a volume, and nobody can tell what was on it'
  const reserved = volumes.find((volume) => isBoundTo(volume, claim) && whyForeign(claim, volume))
  return reserved && `volume ${reserved.metadata.name} is reserved for it`
}

/**
 * Why a volume was not provisioned for this very claim. A provisioner names itself on the volume, and names the volume
 * after the claim's uid: a volume that was restored, also one with all annotations of its former life, cannot have it.
 */
function whyForeign({ metadata: { uid = '', creationTimestamp } }: PersistentVolumeClaim, volume: PersistentVolume): string | undefined {
  const { name = '', creationTimestamp: madeAt } = volume.metadata
  if (volume.spec.claimRef?.uid !== uid) return `its volume ${name} is not bound to it`
  if (!annotationOf(volume, provisionedBy)) return `its volume ${name} was not provisioned: it does not say by whom`
  if (annotationOf(volume, boundByController)) return `its volume ${name} was there before, and was chosen for it`
  if (!(millisecondsOf(madeAt) >= millisecondsOf(creationTimestamp))) return `its volume ${name} was there before it`
  return uid !== '' && name.includes(uid) ? undefined : `its volume ${name} does not have its uid in its name, and may be an older one`
}

function whyRetained({ metadata: { name }, spec }: PersistentVolume, allowsRetained: boolean): string | undefined {
  const policy = spec.persistentVolumeReclaimPolicy
  if (policy === 'Delete' || (policy === 'Retain' && allowsRetained)) return undefined
  return `its volume ${name} has the reclaim policy ${policy}`
}

/** Another volume may stand for the same storage, for a part of it, or for what it is a part of. */
function whyTwice(volume: PersistentVolume, volumes: readonly PersistentVolume[]): string | undefined {
  const asset = assetOf(volume)
  const twin = asset && volumes.find((other) => other.metadata.name !== volume.metadata.name && overlap(assetOf(other), asset))
  return twin ? `its volume ${volume.metadata.name} has the same storage as volume ${twin.metadata.name}` : undefined
}

/** Storage by where it is, and the directory there. */
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

/** `/data/a` as `/data/a/`, and so are `/data//a`, `/data/a/` and `/data/b/../a`. */
const directoryOf = (path: string): string => `${posix.normalize(`/${path}`).replace(/\/+$/, '')}/`

function overlap(one: Asset | undefined, other: Asset): boolean {
  if (one?.where !== other.where) return false
  return one.directory.startsWith(other.directory) || other.directory.startsWith(one.directory)
}

/** The snapshot that was taken of a claim, or of its volume. */
export function snapshotOf({ metadata, spec }: PersistentVolumeClaim, volumes: readonly PersistentVolume[], sources: readonly SnapshotSource[]): string | undefined {
  const csi = volumes.find(({ metadata: { name } }) => name === spec.volumeName)?.spec.csi
  const isOfVolume = ({ driver, handle }: SnapshotSource) => csi !== undefined && driver === csi.driver && handle === csi.volumeHandle
  return sources.find((source) => source.claim === metadata.name || isOfVolume(source))?.snapshot
}
