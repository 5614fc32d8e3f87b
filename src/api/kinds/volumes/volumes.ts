import type { Volume } from '../../generated/types.ts'
import { quantitySign } from '../../numbers/quantity.ts'
import { type FieldError, duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { byteLength, isDns1123Label, isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateDownwardFile } from '../containers/downward-api.ts'
import { validateDescendingPath, validateFileMode, validateKeyPaths } from '../containers/file-paths.ts'
import { validateProjectedVolume } from './projected-volume.ts'
import { validateClaimTemplate } from './volume-claim.ts'
import {
  requireFields,
  requireSecretName,
  validateAzureDisk,
  validateCsi,
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

/** The facts about the object around the volumes that their validation needs. */
export interface VolumeContext {
  /** The pod's name, if it has one: ephemeral volumes create claims named after it. */
  podName: string
  /** An image volume of a pod requires a reference. A template may get it later. */
  isPod: boolean
}

type Source = Exclude<keyof Volume, 'name'>

type Judge<K extends Source> = (
  source: NonNullable<Volume[K]>,
  path: Path,
  errors: FieldError[],
  context: VolumeContext,
) => void

/** Required fields of sources without other rules. */
const needs =
  <K extends Source>(...names: string[]): Judge<K> =>
  (source, path, errors) =>
    requireFields(source, names, path, errors)

const pullPolicies = ['Always', 'IfNotPresent', 'Never']

/** In Kubernetes' order: if two sources are set, the later one is reported. */
const judges: { [K in Source]-?: Judge<K> } = {
  emptyDir: (source, path, errors) => {
    if (source.sizeLimit !== undefined && quantitySign(source.sizeLimit) < 0) {
      errors.push(forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity'))
    }
  },
  hostPath: validateHostPath,
  gitRepo: (source, path, errors) => {
    requireFields(source, ['repository'], path, errors)
    validateDescendingPath(source.directory ?? '', path.child('directory'), errors)
  },
  gcePersistentDisk: (source, path, errors) => {
    requireFields(source, ['pdName'], path, errors)
    validatePartition(source.partition, path, errors)
  },
  awsElasticBlockStore: (source, path, errors) => {
    requireFields(source, ['volumeID'], path, errors)
    validatePartition(source.partition, path, errors)
  },
  secret: (source, path, errors) => {
    requireFields(source, ['secretName'], path, errors)
    validateFileMode(source.defaultMode, path.child('defaultMode'), errors)
    if (source.items) validateKeyPaths(source.items, path.child('items'), errors)
  },
  nfs: validateNfs,
  iscsi: validateIscsi,
  glusterfs: needs('endpoints', 'path'),
  flocker: validateFlocker,
  persistentVolumeClaim: needs('claimName'),
  rbd: needs('monitors', 'image'),
  cinder: (source, path, errors) => {
    requireFields(source, ['volumeID'], path, errors)
    requireSecretName(source.secretRef, path, errors)
  },
  cephfs: needs('monitors'),
  quobyte: validateQuobyte,
  downwardAPI: (source, path, errors) => {
    validateFileMode(source.defaultMode, path.child('defaultMode'), errors)
    for (const file of source.items ?? []) validateDownwardFile(file, path, errors)
  },
  fc: validateFc,
  flexVolume: validateFlex,
  configMap: (source, path, errors) => {
    requireFields(source, ['name'], path, errors)
    validateFileMode(source.defaultMode, path.child('defaultMode'), errors)
    if (source.items) validateKeyPaths(source.items, path.child('items'), errors)
  },
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: validateAzureDisk,
  storageos: validateStorageOs,
  projected: validateProjectedVolume,
  scaleIO: needs('gateway', 'system', 'volumeName'),
  csi: validateCsi,
  ephemeral: (source, path, errors) => {
    if (!source.volumeClaimTemplate) errors.push(required(path.child('volumeClaimTemplate')))
    else errors.push(...validateClaimTemplate(source.volumeClaimTemplate, path.child('volumeClaimTemplate')))
  },
  image: (source, path, errors, context) => {
    if (context.isPod && !source.reference) errors.push(required(path.child('reference')))
    if (source.pullPolicy && !pullPolicies.includes(source.pullPolicy)) {
      errors.push(notSupported(path.child('pullPolicy'), source.pullPolicy, pullPolicies))
    }
  },
}

const sources = Object.keys(judges) as Source[]

/** Sources that Kubernetes reports under another name. */
const reportedAs: Partial<Record<Source, string>> = { gcePersistentDisk: 'persistentDisk' }
const reportedTwiceAs: Partial<Record<Source, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

/** The source of a volume that has exactly one; undefined otherwise. */
function onlySource(volume: Volume): Source | undefined {
  let only: Source | undefined
  for (const key in volume) {
    if (key === 'name' || volume[key as Source] === undefined) continue
    if (only !== undefined) return undefined
    only = key as Source
  }
  return only
}

function validateSources(volume: Volume, path: Path, context: VolumeContext, errors: FieldError[]): void {
  const only = onlySource(volume)
  if (only !== undefined) {
    ;(judges[only] as Judge<Source>)(volume[only]!, path.child(reportedAs[only] ?? only), errors, context)
    return
  }
  let found = false
  for (const source of sources) {
    const value = volume[source]
    if (value === undefined) continue
    if (found) {
      errors.push(forbidden(path.child(reportedTwiceAs[source] ?? source), 'may not specify more than 1 volume type'))
      continue
    }
    found = true
    ;(judges[source] as Judge<Source>)(value, path.child(reportedAs[source] ?? source), errors, context)
  }
  if (!found) errors.push(required(path, 'must specify a volume type'))
}

function validateSource(volume: Volume, path: Path, context: VolumeContext, errors: FieldError[]): void {
  validateSources(volume, path, context, errors)
  if (volume.iscsi?.initiatorName !== undefined && byteLength(`${volume.name}:${volume.iscsi.targetPortal}`) > 64) {
    errors.push(
      invalid(
        path.child('name'),
        volume.name,
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
      ),
    )
  }
  if (volume.ephemeral && context.podName && volume.name) {
    const claim = `${context.podName}-${volume.name}`
    for (const problem of isDns1123Subdomain(claim)) {
      errors.push(invalid(path.child('name'), volume.name, `PVC name ${JSON.stringify(claim)}: ${problem}`))
    }
  }
}

/** Validates the volumes. Returns the valid ones by name: only they can be mounted. */
export function validateVolumes(
  volumes: readonly Volume[],
  path: Path,
  context: VolumeContext,
  errors: FieldError[],
): Map<string, Volume> {
  const valid = new Map<string, Volume>()
  const madeClaims =
    context.podName === '' ? [] : volumes.filter((v) => v.ephemeral).map((v) => `${context.podName}-${v.name}`)
  for (let i = 0; i < volumes.length; i++) {
    const volume = volumes[i]!
    const at = path.index(i)
    const before = errors.length
    validateSource(volume, at, context, errors)
    if (!volume.name) errors.push(required(at.child('name')))
    else for (const problem of isDns1123Label(volume.name)) errors.push(invalid(at.child('name'), volume.name, problem))
    if (valid.has(volume.name)) errors.push(duplicate(at.child('name'), volume.name))
    if (errors.length === before) valid.set(volume.name, volume)
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim && madeClaims.includes(claim)) {
      errors.push(
        invalid(
          at.child('persistentVolumeClaim', 'claimName'),
          claim,
          'must not reference a PVC that gets created for an ephemeral volume',
        ),
      )
    }
  }
  return valid
}
