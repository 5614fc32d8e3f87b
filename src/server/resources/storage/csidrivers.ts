import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { CSIDriver, CSIDriverSpec, StorageV1TokenRequest } from '../../../api/generated/types.ts'
import { addInt64 } from '../../../api/numbers/int64.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, notSupported } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'

const specPath = Path.of('spec')
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Ephemeral', 'Persistent']
const shortestTokenSeconds = 600
const longestTokenSeconds = 2 ** 32

function validateTokenRequests(requests: readonly StorageV1TokenRequest[] | undefined, path: Path): FieldError[] {
  const audiences = new Set<string>()
  return (requests ?? []).flatMap((request, i) => {
    const audience = request.audience ?? ''
    if (audiences.has(audience)) return [duplicate(path.index(i).child('audience'), audience)]
    audiences.add(audience)
    const seconds = request.expirationSeconds
    if (seconds === undefined) return []
    const at = path.index(i).child('expirationSeconds')
    if (seconds < shortestTokenSeconds) return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
    return seconds > longestTokenSeconds
      ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []
  })
}

function validateSpec(spec: CSIDriverSpec): FieldError[] {
  const errors: FieldError[] = []
  const {
    fsGroupPolicy,
    volumeLifecycleModes: modes,
    nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets: inSecrets,
  } = spec
  if (fsGroupPolicy !== undefined && !fsGroupPolicies.includes(fsGroupPolicy)) {
    errors.push(notSupported(specPath.child('fsGroupPolicy'), fsGroupPolicy, fsGroupPolicies))
  }
  errors.push(...validateTokenRequests(spec.tokenRequests, specPath.child('tokenRequests')))
  for (const mode of modes ?? []) {
    if (!lifecycleModes.includes(mode))
      errors.push(notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes))
  }
  if (period !== undefined && period < 10) {
    errors.push(
      invalid(
        specPath.child('nodeAllocatableUpdatePeriodSeconds'),
        period,
        'must be greater than or equal to 10 seconds',
      ),
    )
  }
  if (inSecrets !== undefined && !spec.tokenRequests?.length) {
    const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    errors.push(invalid(specPath.child('serviceAccountTokenInSecrets'), inSecrets, why))
  }
  return errors
}

const affectMountedVolumes = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'] as const

/** Restores the line breaks of an indented structure, which the schema's text has lost. */
const withLineBreaks = (text: string) =>
  text
    .replace(/ {20,}/g, (spaces) => `\n${spaces.slice(1)}`)
    .replace('"false"  "csi', '"false"\n\n"csi')
    .replace(
      /\{ {3}"<audience>": \{ {5}(.*?), {5}(.*?), {3}\}, {3}\.\.\. \}/,
      '{\n  "<audience>": {\n    $1,\n    $2,\n  },\n  ...\n}',
    )

const column = (
  name: string,
  type: 'string' | 'boolean',
  field: string,
  cell: (spec: CSIDriverSpec) => string | boolean,
): Column<CSIDriver> => ({
  name,
  type,
  description: () => withLineBreaks(describeField('CSIDriverSpec', field)),
  cell: (driver) => cell(driver.spec),
})

export const csidrivers = defineResource<CSIDriver>({
  ...kindNames.csidrivers,
  nameRule: subdomainName,
  allowUnconditionalUpdate: false,
  deleteAnswersObject: true,
  defaults(driver) {
    const spec = driver.spec
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
    if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent']
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
  },
  prepareForCreate(driver) {
    delete driver.spec.preventPodSchedulingIfMissing // behind a gate that is off by default
  },
  prepareForUpdate(driver, old) {
    if (old.spec.preventPodSchedulingIfMissing === undefined) delete driver.spec.preventPodSchedulingIfMissing
    // The generation starts at 0 and is absent until the first change.
    if (affectMountedVolumes.some((field) => !semanticEqual(driver.spec[field], old.spec[field]))) {
      driver.metadata.generation = addInt64(old.metadata.generation ?? 0, 1)
    }
  },
  validate: (driver) => validateSpec(driver.spec),
  validateUpdate: (driver, old) => [
    ...validateSpec(driver.spec),
    ...validateImmutableField(driver.spec.attachRequired, old.spec.attachRequired, specPath.child('attachedRequired')),
    ...validateImmutableField(
      driver.spec.volumeLifecycleModes,
      old.spec.volumeLifecycleModes,
      specPath.child('volumeLifecycleModes'),
    ),
  ],
  warnings({ spec }) {
    if (!spec.tokenRequests?.length || spec.serviceAccountTokenInSecrets !== undefined) return []
    return [
      'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
    ]
  },
  columns: [
    nameColumn(),
    column('AttachRequired', 'boolean', 'attachRequired', (spec) => spec.attachRequired ?? true),
    column('PodInfoOnMount', 'boolean', 'podInfoOnMount', (spec) => spec.podInfoOnMount ?? false),
    column('StorageCapacity', 'boolean', 'storageCapacity', (spec) => spec.storageCapacity ?? false),
    column(
      'TokenRequests',
      'string',
      'tokenRequests',
      (spec) => spec.tokenRequests?.map((r) => r.audience).join(',') ?? '<unset>',
    ),
    column('RequiresRepublish', 'boolean', 'requiresRepublish', (spec) => spec.requiresRepublish ?? false),
    column('Modes', 'string', 'volumeLifecycleModes', (spec) => spec.volumeLifecycleModes?.join(',') || '<none>'),
    ageColumn(),
  ],
})
