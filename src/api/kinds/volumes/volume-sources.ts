import type {
  AzureDiskVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  HostPathVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
} from '../../generated/types.ts'
import { type FieldError, invalid, notSupported, required, tooLong } from '../../validation/field-error.ts'
import { byteLength, isDns1123Label, isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateNoBacksteps } from '../containers/file-paths.ts'

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** Requires all named fields. */
export function requireFields(source: object, names: readonly string[], path: Path, errors: FieldError[]): void {
  for (const name of names) {
    const value = (source as Record<string, unknown>)[name]
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
      errors.push(required(path.child(name)))
    }
  }
}

/** A reference to a secret must name it. */
export function requireSecretName(ref: { name?: string } | undefined, path: Path, errors: FieldError[]): void {
  if (ref && !ref.name) errors.push(required(path.child('secretRef', 'name')))
}

export function validateHostPath(source: HostPathVolumeSource, path: Path, errors: FieldError[]): void {
  if (!source.path) {
    errors.push(required(path.child('path')))
    return
  }
  validateNoBacksteps(source.path, path.child('path'), errors)
  if (source.type !== undefined && !hostPathTypes.includes(source.type)) {
    errors.push(notSupported(path.child('type'), source.type, hostPathTypes))
  }
}

export function validateNfs(source: NFSVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['server', 'path'], path, errors)
  if (!source.path?.startsWith('/'))
    errors.push(invalid(path.child('path'), source.path ?? '', 'must be an absolute path'))
}

const iqn = /^iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|\s]+)$/
const eui = /^eui\.[A-Za-z0-9]{16}$/
const naa = /^naa\.[A-Za-z0-9]{32}$/

function validateInitiator(name: string, path: Path, errors: FieldError[]): void {
  const pattern = name.startsWith('iqn') ? iqn : name.startsWith('eui') ? eui : name.startsWith('naa') ? naa : undefined
  if (!pattern) errors.push(invalid(path, name, 'must be valid format starting with iqn, eui, or naa'))
  else if (!pattern.test(name)) errors.push(invalid(path, name, 'must be valid format'))
}

function validateLun(lun: number, path: Path, errors: FieldError[]): void {
  if (lun < 0 || lun > 255) errors.push(invalid(path.child('lun'), lun, 'must be between 0 and 255, inclusive'))
}

export function validateIscsi(source: ISCSIVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['targetPortal', 'iqn'], path, errors)
  if (source.iqn) validateInitiator(source.iqn, path.child('iqn'), errors)
  validateLun(source.lun ?? 0, path, errors)
  if ((source.chapAuthDiscovery || source.chapAuthSession) && !source.secretRef)
    errors.push(required(path.child('secretRef')))
  if (source.initiatorName !== undefined) validateInitiator(source.initiatorName, path.child('initiatorname'), errors)
}

export function validateFc(source: FCVolumeSource, path: Path, errors: FieldError[]): void {
  const hasTargets = (source.targetWWNs?.length ?? 0) > 0
  const hasIds = (source.wwids?.length ?? 0) > 0
  const at = path.child('targetWWNs')
  if (!hasTargets && !hasIds) errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'))
  if (hasTargets && hasIds)
    errors.push(invalid(at, source.targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'))
  if (!hasTargets) return
  if (source.lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'))
  else validateLun(source.lun, path, errors)
}

/** A partition is numbered 1 to 255; 0 is the whole disk. */
export function validatePartition(partition: number | undefined, path: Path, errors: FieldError[]): void {
  if (partition !== undefined && (partition < 0 || partition > 255)) {
    errors.push(invalid(path.child('partition'), partition, 'must be between 1 and 255, inclusive'))
  }
}

const isHostPort = (text: string) => /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(text)

export function validateQuobyte(source: QuobyteVolumeSource, path: Path, errors: FieldError[]): void {
  const pairs = 'must be a host:port pair or multiple pairs separated by commas'
  if (!source.registry) errors.push(required(path.child('registry'), pairs))
  else if ((source.tenant?.length ?? 0) >= 65) {
    errors.push(required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters'))
  } else
    for (const pair of source.registry.split(',')) {
      if (!isHostPort(pair)) errors.push(invalid(path.child('registry'), source.registry, pairs))
    }
  requireFields(source, ['volume'], path, errors)
}

export function validateFlocker(source: FlockerVolumeSource, path: Path, errors: FieldError[]): void {
  if (!source.datasetName && !source.datasetUUID)
    errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (source.datasetName && source.datasetUUID) {
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  }
  if (source.datasetName?.includes('/'))
    errors.push(invalid(path.child('datasetName'), source.datasetName, "must not contain '/'"))
}

export function validateFlex(source: FlexVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['driver'], path, errors)
  for (const key of Object.keys(source.options ?? {}).sort()) {
    const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`
    if (domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io')) {
      errors.push(invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved'))
    }
  }
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite']
const diskKinds = ['Dedicated', 'Managed', 'Shared']

export function validateAzureDisk(source: AzureDiskVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['diskName', 'diskURI'], path, errors)
  const { cachingMode, kind, diskURI = '' } = source
  if (cachingMode !== undefined && !cachingModes.includes(cachingMode)) {
    errors.push(notSupported(path.child('cachingMode'), cachingMode, cachingModes))
  }
  if (kind !== undefined && !diskKinds.includes(kind)) errors.push(notSupported(path.child('kind'), kind, diskKinds))
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    errors.push(
      notSupported(path.child('diskURI'), diskURI, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    )
  }
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(
      notSupported(path.child('diskURI'), diskURI, [
        'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
      ]),
    )
  }
}

export function validateStorageOs(source: StorageOSVolumeSource, path: Path, errors: FieldError[]): void {
  if (!source.volumeName) errors.push(required(path.child('volumeName')))
  else {
    for (const problem of isDns1123Label(source.volumeName)) {
      errors.push(invalid(path.child('volumeName'), source.volumeName, problem))
    }
  }
  if (source.volumeNamespace) {
    for (const problem of isDns1123Label(source.volumeNamespace)) {
      errors.push(invalid(path.child('volumeNamespace'), source.volumeNamespace, problem))
    }
  }
  requireSecretName(source.secretRef, path, errors)
}

/** Validates the name of a CSI driver. */
export function validateCsiDriverName(name: string, path: Path, errors: FieldError[]): void {
  if (!name) {
    errors.push(required(path))
    return
  }
  if (byteLength(name) > 63) errors.push(tooLong(path, 63))
  for (const problem of isDns1123Subdomain(name.toLowerCase())) errors.push(invalid(path, name, problem))
}

export function validateCsi(source: CSIVolumeSource, path: Path, errors: FieldError[]): void {
  validateCsiDriverName(source.driver ?? '', path.child('driver'), errors)
  const secret = source.nodePublishSecretRef
  if (!secret) return
  if (!secret.name) errors.push(required(path.child('nodePublishSecretRef', 'name')))
  else
    for (const problem of isDns1123Subdomain(secret.name))
      errors.push(invalid(path.child('name'), secret.name, problem))
}
