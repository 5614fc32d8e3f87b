import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { FlowSchema, FlowSchemaSpec } from '../../../api/generated/types.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { isDns1123Subdomain, subdomainName } from '../../../api/validation/names.ts'
import { repeatedPlaces } from '../../../api/validation/field-checks.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { keepAllButStatus } from '../kept-metadata.ts'
import { mandatorySchemas } from './bootstrap-objects.ts'
import { validatePolicyRules } from './flow-rules.ts'

const specPath = Path.of('spec')
const defaultPrecedence = 1000
const maxPrecedence = 10_000

function validatePrecedence(precedence: number, name: string): FieldError[] {
  const path = specPath.child('matchingPrecedence')
  if (precedence <= 0) return [invalid(path, precedence, 'must be a positive value')]
  if (precedence > maxPrecedence) return [invalid(path, precedence, `must not be greater than ${maxPrecedence}`)]
  const isReserved = precedence === 1 && name !== 'exempt'
  return isReserved ? [invalid(path, 1, "only the schema named 'exempt' may have matchingPrecedence 1")] : []
}

function validateLevelName(name: string): FieldError[] {
  const path = specPath.child('priorityLevelConfiguration', 'name')
  if (name === '') return [required(path, 'must reference a priority level')]
  return isDns1123Subdomain(name).map((problem) => invalid(path, name, problem))
}

function validateMethod({ distinguisherMethod: method }: FlowSchemaSpec): FieldError[] {
  const supported = ['ByNamespace', 'ByUser']
  if (!method || supported.includes(method.type)) return []
  return [notSupported(specPath.child('distinguisherMethod', 'type'), { Type: method.type }, supported)]
}

/** Validates that conditions have distinct types. */
export function validateTypes(conditions: readonly { type?: string }[] | null | undefined): FieldError[] {
  const path = Path.of('status', 'conditions')
  const types = (conditions ?? []).map(({ type }) => type ?? '')
  const repeated = repeatedPlaces(types)
  return types.flatMap((type, i) => [
    ...(repeated.has(i) ? [duplicate(path.index(i).child('type'), type)] : []),
    ...(type === '' ? [required(path.index(i).child('type'), 'must not be empty')] : []),
  ])
}

function validate({ metadata, spec, status }: FlowSchema): FieldError[] {
  const name = metadata.name ?? ''
  const mandatory = mandatorySchemas.find((schema) => schema.metadata.name === name)
  const isChanged = mandatory !== undefined && !semanticEqual(spec, mandatory.spec)
  return [
    ...validatePrecedence(spec.matchingPrecedence, name),
    ...validateMethod(spec),
    ...validateLevelName(spec.priorityLevelConfiguration.name),
    ...(spec.rules ?? []).flatMap((rule, i) => validatePolicyRules(rule, specPath.child('rules').index(i))),
    ...(isChanged ? [invalid(specPath, spec, `spec of '${name}' must equal the fixed value`)] : []),
    ...validateTypes(status.conditions),
  ]
}

const specDoc = (field: string) => () => describeField('FlowSchemaSpec', field)

const columns: Column<FlowSchema>[] = [
  nameColumn(),
  {
    name: 'PriorityLevel',
    type: 'string',
    description: () => describeField('PriorityLevelConfigurationReference', 'name'),
    cell: ({ spec }) => spec.priorityLevelConfiguration.name,
  },
  {
    name: 'MatchingPrecedence',
    type: 'string',
    description: specDoc('matchingPrecedence'),
    cell: ({ spec }) => spec.matchingPrecedence,
  },
  {
    name: 'DistinguisherMethod',
    type: 'string',
    description: specDoc('distinguisherMethod'),
    cell: ({ spec }) => spec.distinguisherMethod?.type ?? '<none>',
  },
  ageColumn(),
  {
    name: 'MissingPL',
    type: 'string',
    description: 'references a broken or non-existent PriorityLevelConfiguration',
    cell: ({ status }) => status.conditions?.find((c) => c.type === 'Dangling')?.status ?? '?',
  },
]

export const flowschemas = defineResource<FlowSchema>({
  ...kindNames.flowschemas,
  nameRule: subdomainName,
  generation: true,
  allowUnconditionalUpdate: false,
  defaults({ spec }) {
    if (spec.matchingPrecedence === 0) spec.matchingPrecedence = defaultPrecedence
  },
  validate,
  validateUpdate: validate,
  status: { prepare: keepAllButStatus, validate: ({ status }) => validateTypes(status.conditions) },
  columns,
  // Tables have the order of evaluation.
  compareRows: (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence,
})
