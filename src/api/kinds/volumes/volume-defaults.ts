import type {
  DownwardAPIVolumeFile,
  ObjectFieldSelector,
  ResourceFieldSelector,
  Volume,
} from '../../generated/types.ts'
import { defaultClaimSpec } from './volume-claim.ts'
import { defaultPullPolicy } from '../containers/image-reference.ts'

/** 0644 */
const defaultFileMode = 420

/** A field reference defaults to apiVersion v1. */
export function defaultFieldRef(ref: ObjectFieldSelector | undefined): void {
  if (ref && !ref.apiVersion) ref.apiVersion = 'v1'
}

/** The divisor is always serialized; it defaults to 0. */
export function defaultResourceFieldRef(ref: ResourceFieldSelector | undefined): void {
  if (ref && ref.divisor === undefined) ref.divisor = '0'
}

function defaultDownwardFiles(files: DownwardAPIVolumeFile[] | undefined): void {
  for (const file of files ?? []) {
    defaultFieldRef(file.fieldRef)
    defaultResourceFieldRef(file.resourceFieldRef)
  }
}

function hasSource(volume: Volume): boolean {
  for (const key in volume) if (key !== 'name' && volume[key as keyof Volume] !== undefined) return true
  return false
}

/** Applies the defaults of a volume. A volume without a source is an emptyDir. */
export function defaultVolume(volume: Volume): void {
  if (volume.configMap) volume.configMap.defaultMode ??= defaultFileMode
  else if (volume.secret) volume.secret.defaultMode ??= defaultFileMode
  else if (volume.emptyDir) return
  else if (!hasSource(volume)) volume.emptyDir = {}
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= defaultFileMode
    defaultDownwardFiles(volume.downwardAPI.items)
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= defaultFileMode
    for (const source of volume.projected.sources ?? []) {
      defaultDownwardFiles(source.downwardAPI?.items)
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600
      if (source.podCertificate) source.podCertificate.maxExpirationSeconds ??= 86400
    }
  }
  if (volume.image && !volume.image.pullPolicy)
    volume.image.pullPolicy = defaultPullPolicy(volume.image.reference ?? '')
  if (volume.ephemeral?.volumeClaimTemplate) defaultClaimSpec(volume.ephemeral.volumeClaimTemplate.spec)
  defaultOldVolume(volume)
}

function defaultOldVolume(volume: Volume): void {
  if (volume.iscsi && !volume.iscsi.iscsiInterface) volume.iscsi.iscsiInterface = 'default'
  if (volume.rbd) {
    volume.rbd.pool ||= 'rbd'
    volume.rbd.user ||= 'admin'
    volume.rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (volume.azureDisk) {
    volume.azureDisk.cachingMode ??= 'ReadWrite'
    volume.azureDisk.kind ??= 'Shared'
    volume.azureDisk.fsType ??= 'ext4'
    volume.azureDisk.readOnly ??= false
  }
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ||= 'ThinProvisioned'
    volume.scaleIO.fsType ||= 'xfs'
  }
}
