import { kindNames } from '../../../../api/kind-names.ts'
import { describeField } from '../../../../api/schema/descriptions.ts'
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
} from '../../../../api/generated/types.ts'
import { roundResourcesUpToMilli } from '../../../../api/kinds/quantities/resource-names.ts'
import { defaultClaimSpec } from '../../../../api/kinds/volumes/volume-claim.ts'
import { quantityIsInteger } from '../../../../api/numbers/quantity.ts'
import { subdomainName } from '../../../../api/validation/names.ts'
import { Path } from '../../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../../answers/columns.ts'
import { type Column, defineResource } from '../../../registry/resource.ts'
import { validateClaim, validateClaimStatus, validateClaimUpdate } from './claim-validation.ts'
import { accessModesText, betaStorageClass, phaseOf, storageClassOf } from './volume-columns.ts'

/** The warnings for the spec of a claim or claim template: fractional bytes. */
export function claimSpecWarnings(spec: PersistentVolumeClaimSpec, path: Path): string[] {
  return (['requests', 'limits'] as const).flatMap((sort) => {
    const amount = spec.resources[sort]?.['storage']
    if (amount === undefined || quantityIsInteger(amount)) return []
    return [
      `${path.child('resources', sort).key('storage')}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
    ]
  })
}

type Described = {
  PersistentVolumeClaimSpec: 'volumeName' | 'volumeMode'
  PersistentVolumeClaimStatus: 'phase' | 'capacity' | 'accessModes'
}

const column = <T extends keyof Described>(
  name: string,
  type: T,
  field: Described[T],
  cell: (claim: PersistentVolumeClaim) => string,
): Column<PersistentVolumeClaim> => ({ name, type: 'string', description: () => describeField(type, field), cell })

/** Shows a cell only for a claim with a volume. */
const ofVolume = (cell: (status: PersistentVolumeClaim['status']) => string) => (claim: PersistentVolumeClaim) =>
  claim.spec.volumeName ? cell(claim.status) : ''

/** core/v1 PersistentVolumeClaims. */
export const persistentvolumeclaims = defineResource<PersistentVolumeClaim>({
  ...kindNames.persistentvolumeclaims,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults(claim) {
    claim.status.phase ||= 'Pending'
    defaultClaimSpec(claim.spec)
    roundResourcesUpToMilli(claim.status.capacity)
    roundResourcesUpToMilli(claim.status.allocatedResources)
  },
  prepareForCreate(claim) {
    claim.status = { phase: 'Pending' }
    normaliseDataSources(claim.spec)
  },
  prepareForUpdate(claim, old) {
    normaliseDataSources(claim.spec, old.spec)
  },
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  warnings(claim) {
    const isAnnotated = claim.metadata.annotations?.[betaStorageClass] !== undefined
    const old = `metadata.annotations[${betaStorageClass}]: deprecated since v1.8; use "storageClassName" attribute instead`
    return [...(isAnnotated ? [old] : []), ...claimSpecWarnings(claim.spec, Path.of('spec'))]
  },
  status: {
    prepare(claim, old) {
      claim.spec = old.spec
    },
    validate: validateClaimStatus,
  },
  columns: [
    nameColumn(),
    column('Status', 'PersistentVolumeClaimStatus', 'phase', phaseOf),
    column('Volume', 'PersistentVolumeClaimSpec', 'volumeName', (claim) => claim.spec.volumeName ?? ''),
    column(
      'Capacity',
      'PersistentVolumeClaimStatus',
      'capacity',
      ofVolume(({ capacity }) => capacity?.['storage'] ?? '0'),
    ),
    column(
      'Access Modes',
      'PersistentVolumeClaimStatus',
      'accessModes',
      ofVolume(({ accessModes }) => accessModesText(accessModes)),
    ),
    { name: 'StorageClass', type: 'string', description: 'StorageClass of the pvc', cell: storageClassOf },
    {
      name: 'VolumeAttributesClass',
      type: 'string',
      description: 'VolumeAttributesClass of the pvc',
      cell: (claim) => claim.spec.volumeAttributesClassName ?? '<unset>',
    },
    ageColumn(),
    {
      ...column('VolumeMode', 'PersistentVolumeClaimSpec', 'volumeMode', (claim) => claim.spec.volumeMode ?? '<unset>'),
      priority: 1,
    },
  ],
})

const isClaimOrSnapshot = ({ apiGroup, kind }: TypedLocalObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && !apiGroup) ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

/** Writes null for the core group, as Kubernetes does. */
const groupOf = (ref: TypedLocalObjectReference) => (ref.apiGroup ?? null) as string

/**
 * Aligns dataSource and dataSourceRef. dataSource allows only claims and snapshots, and other kinds are dropped from
 * it. If only one of the fields is set, it is copied to the other. A reference to another namespace is dropped, because
 * its feature gate is off by default. Values of the stored claim are kept.
 */
function normaliseDataSources(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): void {
  if (spec.dataSourceRef?.namespace && !old?.dataSourceRef?.namespace) delete spec.dataSourceRef
  if (spec.dataSource && !old?.dataSource && !isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource
  const { dataSource, dataSourceRef } = spec
  if (dataSource && !dataSourceRef)
    spec.dataSourceRef = { apiGroup: groupOf(dataSource), kind: dataSource.kind, name: dataSource.name }
  if (dataSourceRef && !dataSource && !dataSourceRef.namespace) {
    spec.dataSource = { apiGroup: groupOf(dataSourceRef), kind: dataSourceRef.kind, name: dataSourceRef.name }
  }
}
