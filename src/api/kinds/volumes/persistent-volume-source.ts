import type {
  CSIPersistentVolumeSource,
  CinderPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  LocalVolumeSource,
  PersistentVolumeSpec,
  StorageOSPersistentVolumeSource,
} from '../../generated/types.ts'
import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import { byteLength, isDns1123Label } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateNoBacksteps } from '../containers/file-paths.ts'
import { defaultVolume } from './volume-defaults.ts'
import {
  requireFields,
  validateAzureDisk,
  validateCsiDriverName,
  validateFc,
  validateFlex,
  validateFlocker,
  validateHostPath,
  validateIscsi,
  validateNfs,
  validatePartition,
  validateQuobyte,
  validateStorageOs,
} from './volume-sources.ts'

type NotASource =
  | 'accessModes'
  | 'capacity'
  | 'claimRef'
  | 'mountOptions'
  | 'nodeAffinity'
  | 'persistentVolumeReclaimPolicy'
  | 'storageClassName'
  | 'volumeAttributesClassName'
  | 'volumeMode'

/** The source fields of a volume's spec. Exactly one must be set. */
type SourceField = Exclude<keyof PersistentVolumeSpec, NotASource>

type Judge<K extends SourceField> = (
  source: NonNullable<PersistentVolumeSpec[K]>,
  path: Path,
  errors: FieldError[],
  volumeName: string,
) => void

interface SecretReference {
  name?: string
  namespace?: string
}

/** Volumes are cluster-scoped, so secret references must name a namespace. */
function requireSecret(ref: SecretReference | undefined, path: Path, errors: FieldError[]): void {
  if (ref) requireFields(ref, ['name', 'namespace'], path, errors)
}

function validateGlusterfs(source: GlusterfsPersistentVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['endpoints', 'path'], path, errors)
  const namespace = source.endpointsNamespace
  if (namespace === undefined) return
  const at = path.child('endpointsNamespace')
  if (namespace === '')
    errors.push(invalid(at, namespace, 'if the endpointnamespace is set, it must be a valid namespace name'))
  else for (const problem of isDns1123Label(namespace)) errors.push(invalid(at, namespace, problem))
}

function validateVolumeIscsi(
  source: ISCSIPersistentVolumeSource,
  path: Path,
  errors: FieldError[],
  volumeName: string,
): void {
  validateIscsi(source, path, errors)
  if (source.secretRef) requireFields(source.secretRef, ['name'], path.child('secretRef'), errors)
  if (source.initiatorName === undefined || byteLength(`${volumeName}:${source.targetPortal}`) <= 64) return
  const why =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
  errors.push(invalid(path.child('targetportal'), source.targetPortal, why))
}

function validateCinder(source: CinderPersistentVolumeSource, path: Path, errors: FieldError[]): void {
  requireFields(source, ['volumeID'], path, errors)
  requireSecret(source.secretRef, path.child('secretRef'), errors)
}

function validateLocal(source: LocalVolumeSource, path: Path, errors: FieldError[]): void {
  if (!source.path) errors.push(required(path.child('path')))
  else validateNoBacksteps(source.path, path.child('path'), errors)
}

function validateVolumeStorageOs(source: StorageOSPersistentVolumeSource, path: Path, errors: FieldError[]): void {
  const { secretRef, ...rest } = source
  validateStorageOs(rest, path, errors)
  requireSecret(secretRef, path.child('secretRef'), errors)
}

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const

function validateVolumeCsi(source: CSIPersistentVolumeSource, path: Path, errors: FieldError[]): void {
  validateCsiDriverName(source.driver ?? '', path.child('driver'), errors)
  requireFields(source, ['volumeHandle'], path, errors)
  for (const field of csiSecrets) requireSecret(source[field], path.child(field), errors)
}

/** Required fields of sources without other rules. */
const needs =
  <K extends SourceField>(...names: string[]): Judge<K> =>
  (source, path, errors) =>
    requireFields(source, names, path, errors)

/** In Kubernetes' order: if two sources are set, the later one is reported. */
const judges: { [K in SourceField]-?: Judge<K> } = {
  hostPath: validateHostPath,
  gcePersistentDisk: (source, path, errors) => {
    requireFields(source, ['pdName'], path, errors)
    validatePartition(source.partition, path, errors)
  },
  awsElasticBlockStore: (source, path, errors) => {
    requireFields(source, ['volumeID'], path, errors)
    validatePartition(source.partition, path, errors)
  },
  glusterfs: validateGlusterfs,
  flocker: validateFlocker,
  nfs: validateNfs,
  rbd: needs('monitors', 'image'),
  quobyte: validateQuobyte,
  cephfs: needs('monitors'),
  iscsi: validateVolumeIscsi,
  cinder: validateCinder,
  fc: validateFc,
  flexVolume: validateFlex,
  azureFile: (source, path, errors) => {
    requireFields(source, ['secretName', 'shareName'], path, errors)
    if (source.secretNamespace === '') errors.push(required(path.child('secretNamespace')))
  },
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: validateAzureDisk,
  scaleIO: needs('gateway', 'system', 'volumeName'),
  local: validateLocal,
  storageos: validateVolumeStorageOs,
  csi: validateVolumeCsi,
}

const sources = Object.keys(judges) as SourceField[]

/** Sources that Kubernetes reports under another name. */
const reportedAs: Partial<Record<SourceField, string>> = { gcePersistentDisk: 'persistentDisk' }
const reportedTwiceAs: Partial<Record<SourceField, string>> = { cephfs: 'cephFS' }

/** Validates the source of a volume: exactly one must be set, and it must be valid. */
export function validateVolumeSource(spec: PersistentVolumeSpec, volumeName: string, path: Path): FieldError[] {
  const errors: FieldError[] = []
  let found = false
  for (const field of sources) {
    const source = spec[field]
    if (source === undefined) continue
    if (found)
      errors.push(forbidden(path.child(reportedTwiceAs[field] ?? field), 'may not specify more than 1 volume type'))
    else (judges[field] as Judge<SourceField>)(source, path.child(reportedAs[field] ?? field), errors, volumeName)
    if (field === 'local' && !found && !spec.nodeAffinity)
      errors.push(required(path.child('nodeAffinity'), 'Local volume requires node affinity'))
    found = true
  }
  if (!found) errors.push(required(path, 'must specify a volume type'))
  return errors
}

/** Applies the defaults of a source, by the rules of a pod's volumes. */
export function defaultVolumeSource(spec: PersistentVolumeSpec): void {
  const { hostPath, iscsi, rbd, azureDisk, scaleIO } = spec
  if (hostPath || iscsi || rbd || azureDisk || scaleIO) {
    const given = Object.fromEntries(
      Object.entries({ hostPath, iscsi, rbd, azureDisk, scaleIO }).filter(([, source]) => source),
    )
    defaultVolume({ name: '', ...given } as Parameters<typeof defaultVolume>[0])
  }
}

/** The source of a volume. */
export function volumeSourceOf(spec: PersistentVolumeSpec): Pick<PersistentVolumeSpec, SourceField> {
  return Object.fromEntries(sources.filter((field) => spec[field] !== undefined).map((field) => [field, spec[field]]))
}
