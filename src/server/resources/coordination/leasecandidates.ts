import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { V1beta1LeaseCandidate as LeaseCandidate } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { type NameRule, isConfigMapKey, isQualifiedName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const path = Path.of('spec')
const oldestEmulation = 'OldestEmulationVersion'
const versionPattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

const nameRule: NameRule = (name) => isConfigMapKey(name)

/** Parses a semantic version; undefined if it is invalid. */
const numbersOf = (version: string): number[] | undefined => versionPattern.exec(version)?.slice(1, 4).map(Number)

function isOlder(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((n, i) => n !== b[i])
  return at >= 0 && a[at]! < b[at]!
}

function validateVersions(binaryVersion: string, emulationVersion: string): FieldError[] {
  const errors: FieldError[] = []
  const read = (field: string, version: string) => {
    const numbers = numbersOf(version)
    if (!numbers) errors.push(invalid(path.child(field), version, 'must be a valid semantic version'))
    return numbers
  }
  const emulation = emulationVersion ? read('emulationVersion', emulationVersion) : undefined
  if (!binaryVersion) return [...errors, required(path.child('binaryVersion'))]
  const binary = read('binaryVersion', binaryVersion)
  if (binary && emulation && isOlder(binary, emulation)) {
    errors.push(
      invalid(path.child('binaryVersion'), binaryVersion, 'must be greater than or equal to `emulationVersion`'),
    )
  }
  return errors
}

function validateStrategy(strategy: string, emulationVersion: string): FieldError[] {
  const at = path.child('strategy')
  if (strategy === '') return [required(at)]
  if (strategy === oldestEmulation) {
    const why = `must be specified when \`strategy\` is '${oldestEmulation}'`
    return emulationVersion ? [] : [required(path.child('emulationVersion'), why)]
  }
  if (!strategy.includes('/')) return [notSupported(at, strategy, [oldestEmulation])]
  return isQualifiedName(strategy).map((problem) => invalid(at, strategy, problem))
}

const validate = ({ spec }: LeaseCandidate): FieldError[] => [
  ...(spec?.leaseName ? [] : [required(path.child('leaseName'))]),
  ...validateVersions(spec?.binaryVersion ?? '', spec?.emulationVersion ?? ''),
  ...validateStrategy(spec?.strategy ?? '', spec?.emulationVersion ?? ''),
]

/** LeaseCandidates: candidates of a coordinated leader election. */
export const leasecandidates = defineResource<LeaseCandidate>({
  ...kindNames.leasecandidates,
  type: 'V1beta1LeaseCandidate',
  gate: 'CoordinatedLeaderElection',
  nameRule,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (candidate, old) => [
    ...validate(candidate),
    ...validateImmutableField(candidate.spec?.leaseName, old.spec?.leaseName, path.child('leaseName')),
  ],
  selectableFields: { 'spec.leaseName': ({ spec }) => spec?.leaseName ?? '' },
  columns: [
    nameColumn(),
    {
      name: 'LeaseName',
      type: 'string',
      description: () => describeField('V1beta1LeaseCandidateSpec', 'leaseName'),
      cell: ({ spec }) => spec?.leaseName ?? '',
    },
    { name: 'BinaryVersion', type: 'string', description: '', cell: ({ spec }) => spec?.binaryVersion ?? '' },
    { name: 'EmulationVersion', type: 'string', description: '', cell: ({ spec }) => spec?.emulationVersion ?? '' },
    ageColumn(),
  ],
})
