import { kindNames } from '../../../../api/kind-names.ts'
import { semanticEqual } from '../../../../api/deep-equal.ts'
import { describeField } from '../../../../api/schema/descriptions.ts'
import type {
  NodeSelectorRequirement,
  PersistentVolume,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../../api/generated/types.ts'
import { internalVolumeSource } from '../../../../api/kinds/volumes/internal-volumes.ts'
import { defaultVolumeSource, volumeSourceOf } from '../../../../api/kinds/volumes/persistent-volume-source.ts'
import { validateVolumeSpec } from '../../../../api/kinds/volumes/persistent-volume-spec.ts'
import { roundResourcesUpToMilli } from '../../../../api/kinds/quantities/resource-names.ts'
import { structureDiff } from '../../../../api/printing/structure-diff.ts'
import { immutableMessage, validateImmutableField } from '../../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid } from '../../../../api/validation/field-error.ts'
import { subdomainName } from '../../../../api/validation/names.ts'
import { Path } from '../../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../../answers/columns.ts'
import { type Column, defineResource } from '../../../registry/resource.ts'
import { accessModesText, phaseOf, storageClassOf } from './volume-columns.ts'
import { volumeWarnings } from './volume-warnings.ts'
import { timestamp } from '../../../../api/object.ts'

const specPath = Path.of('spec')

const validate = (pv: PersistentVolume): FieldError[] => validateVolumeSpec(pv.spec, pv.metadata.name ?? '', specPath)

/** Removes an added expand secret, which an update may set once. */
function withoutAddedExpandSecret(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): PersistentVolumeSpec {
  if (!spec.csi?.controllerExpandSecretRef || !old.csi || old.csi.controllerExpandSecretRef) return spec
  const { controllerExpandSecretRef: _added, ...csi } = spec.csi
  return { ...spec, csi }
}

function validateSameSource(given: PersistentVolumeSpec, old: PersistentVolumeSpec): FieldError[] {
  const spec = withoutAddedExpandSecret(given, old)
  if (semanticEqual(volumeSourceOf(spec), volumeSourceOf(old))) return []
  const diff = structureDiff(internalVolumeSource(old), internalVolumeSource(spec))
  return [
    forbidden(
      specPath.child('persistentvolumesource'),
      `spec.persistentvolumesource is immutable after creation\n${diff}`,
    ),
  ]
}

const newNameOfLabel: Record<string, string> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** The old affinity with the deprecated labels renamed that the new one has renamed. */
function withRenamedLabels(old: VolumeNodeAffinity, affinity: VolumeNodeAffinity | undefined): VolumeNodeAffinity {
  const rename = (requirement: NodeSelectorRequirement, now: NodeSelectorRequirement | undefined) =>
    now !== undefined && newNameOfLabel[requirement.key] === now.key ? { ...requirement, key: now.key } : requirement
  return {
    required: {
      nodeSelectorTerms: (old.required?.nodeSelectorTerms ?? []).map((term, i) => ({
        ...term,
        ...(term.matchExpressions
          ? {
              matchExpressions: term.matchExpressions.map((r, j) =>
                rename(r, affinity?.required?.nodeSelectorTerms?.[i]?.matchExpressions?.[j]),
              ),
            }
          : {}),
      })),
    },
  }
}

const internalRequirement = ({ key, operator, values }: NodeSelectorRequirement) => ({
  Key: key,
  Operator: operator,
  Values: values ?? null,
})

const internalAffinity = (affinity: VolumeNodeAffinity | undefined) =>
  affinity && {
    Required: affinity.required
      ? {
          NodeSelectorTerms: (affinity.required.nodeSelectorTerms ?? []).map((term) => ({
            MatchExpressions: term.matchExpressions?.map(internalRequirement) ?? null,
            MatchFields: term.matchFields?.map(internalRequirement) ?? null,
          })),
        }
      : null,
  }

/** Validates that an affinity is unchanged once set. Only deprecated labels in it may be renamed. */
function validateSameAffinity(
  affinity: VolumeNodeAffinity | undefined,
  old: VolumeNodeAffinity | undefined,
): FieldError[] {
  if (!old || semanticEqual(affinity, old) || semanticEqual(affinity, withRenamedLabels(old, affinity))) return []
  return [invalid(Path.of('nodeAffinity'), internalAffinity(affinity), immutableMessage)]
}

function validateUpdate(pv: PersistentVolume, old: PersistentVolume): FieldError[] {
  const losesClass = old.spec.volumeAttributesClassName !== undefined && pv.spec.volumeAttributesClassName === undefined
  return [
    ...validate(pv),
    ...validateSameSource(pv.spec, old.spec),
    ...validateImmutableField(pv.spec.volumeMode, old.spec.volumeMode, Path.of('volumeMode')),
    ...validateSameAffinity(pv.spec.nodeAffinity, old.spec.nodeAffinity),
    ...(losesClass
      ? [forbidden(specPath.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden')]
      : []),
  ]
}

const ofSpec = (
  name: string,
  field: string,
  cell: (pv: PersistentVolume) => string,
  priority: 0 | 1 = 0,
): Column<PersistentVolume> => ({
  name,
  type: 'string',
  description: () => describeField('PersistentVolumeSpec', field),
  priority,
  cell,
})

/** core/v1 PersistentVolumes. */
export const persistentvolumes = defineResource<PersistentVolume>({
  ...kindNames.persistentvolumes,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults(pv) {
    pv.status.phase ||= 'Pending'
    pv.spec.persistentVolumeReclaimPolicy ||= 'Retain'
    pv.spec.volumeMode ??= 'Filesystem'
    roundResourcesUpToMilli(pv.spec.capacity)
    defaultVolumeSource(pv.spec)
  },
  prepareForCreate(pv, { now }) {
    pv.status = { phase: 'Pending', lastPhaseTransitionTime: timestamp(now) }
  },
  validate,
  validateUpdate,
  warnings: volumeWarnings,
  status: {
    prepare(pv, old, { now }) {
      pv.spec = old.spec
      const [status, before] = [pv.status, old.status]
      const isTimeGiven =
        status.lastPhaseTransitionTime !== undefined &&
        status.lastPhaseTransitionTime !== before.lastPhaseTransitionTime
      if (status.phase !== before.phase && !isTimeGiven) status.lastPhaseTransitionTime = timestamp(now)
    },
    validate: () => [],
  },
  columns: [
    nameColumn(),
    ofSpec('Capacity', 'capacity', (pv) => pv.spec.capacity?.['storage'] ?? '0'),
    ofSpec('Access Modes', 'accessModes', (pv) => accessModesText(pv.spec.accessModes)),
    ofSpec('Reclaim Policy', 'persistentVolumeReclaimPolicy', (pv) => pv.spec.persistentVolumeReclaimPolicy ?? ''),
    {
      name: 'Status',
      type: 'string',
      description: () => describeField('PersistentVolumeStatus', 'phase'),
      cell: phaseOf,
    },
    {
      name: 'Claim',
      type: 'string',
      description:
        'claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. ' +
        'claim.VolumeName is the authoritative bind between PV and PVC. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding',
      cell: ({ spec: { claimRef } }) => (claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : ''),
    },
    { name: 'StorageClass', type: 'string', description: 'StorageClass of the pv', cell: storageClassOf },
    {
      name: 'VolumeAttributesClass',
      type: 'string',
      description: 'VolumeAttributesClass of the pv',
      cell: (pv) => pv.spec.volumeAttributesClassName ?? '<unset>',
    },
    {
      name: 'Reason',
      type: 'string',
      description: () => describeField('PersistentVolumeStatus', 'reason'),
      cell: (pv) => pv.status.reason ?? '',
    },
    ageColumn(),
    ofSpec('VolumeMode', 'volumeMode', (pv) => pv.spec.volumeMode ?? '<unset>', 1),
  ],
})
