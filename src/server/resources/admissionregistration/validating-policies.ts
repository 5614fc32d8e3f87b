import { kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
  Validation,
} from '../../../api/generated/types.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName } from '../../../api/validation/names.ts'
import { repeatedPlaces } from '../../../api/validation/field-checks.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'
import { keepAllButStatus } from '../kept-metadata.ts'
import { validateConditions } from '../policy/condition-rules.ts'
import { PolicyExpressions } from './expression-rules.ts'
import {
  defaultMatchResources,
  failurePolicies,
  validateChoice,
  validateMatchConditions,
  validateRequiredChoice,
} from './match-rules.ts'
import {
  bindingColumns,
  policyColumns,
  policyRules,
  specPath,
  validateBinding,
  validateConstraints,
  validateParamKind,
  validateVariables,
} from './policy-rules.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const maxAuditAnnotations = 20
const maxExpressionBytes = 5 * 1024
const neither = ['validations', 'auditAnnotations'].map((name) =>
  required(specPath.child(name), 'validations or auditAnnotations must contain at least one item'),
)

function validateMessage(message: string, path: Path): FieldError[] {
  if (message !== '' && message.trim() === '') return [invalid(path, message, 'message must be non-empty if specified')]
  return /[\n\r]/.test(message.trim()) ? [invalid(path, message, 'message must not contain line breaks')] : []
}

function validateValidation(validation: Validation, expressions: PolicyExpressions, path: Path): FieldError[] {
  const { expression, message = '', messageExpression = '', reason } = validation
  return [
    ...expressions.validation(expression, path.child('expression')),
    ...expressions.message(messageExpression, path.child('messageExpression')),
    ...validateMessage(message, path.child('message')),
    ...validateChoice(reason, reasons, path.child('reason')),
  ]
}

function validateAnnotation(
  { key, valueExpression }: AuditAnnotation,
  policy: string,
  expressions: PolicyExpressions,
  path: Path,
): FieldError[] {
  const expressionPath = path.child('valueExpression')
  const size = byteLength(valueExpression.trim())
  const name = `${policy}/${key}`
  const tooLong = `must not exceed ${maxExpressionBytes} bytes in length`
  return [
    ...isQualifiedName(name).map((problem) => invalid(path.child('key'), name, problem)),
    ...(size === 0 ? [required(expressionPath, 'valueExpression is not specified')] : []),
    ...(size > maxExpressionBytes ? [required(expressionPath, tooLong)] : []),
    ...(size > 0 && size <= maxExpressionBytes ? expressions.annotation(valueExpression.trim(), expressionPath) : []),
  ]
}

function validateAnnotations(
  annotations: readonly AuditAnnotation[],
  policy: string,
  expressions: PolicyExpressions,
): FieldError[] {
  const path = specPath.child('auditAnnotations')
  const repeated = repeatedPlaces(annotations.map(({ key }) => key))
  const isTooMany = annotations.length > maxAuditAnnotations
  return [
    ...(isTooMany
      ? [invalid(path, annotations, `must not have more than ${maxAuditAnnotations} auditAnnotations`)]
      : []),
    ...annotations.flatMap((annotation, i) => [
      ...validateAnnotation(annotation, policy, expressions, path.index(i)),
      ...(repeated.has(i) ? [duplicate(path.index(i).child('key'), annotation.key)] : []),
    ]),
  ]
}

function validate({ metadata, spec }: ValidatingAdmissionPolicy, old?: ValidatingAdmissionPolicy): FieldError[] {
  const { paramKind, validations = [], auditAnnotations = [] } = spec
  const isSame = isSameMatching(spec, old?.spec)
  const isNeither = validations.length + auditAnnotations.length === 0
  const hasParams = paramKind !== undefined
  const expressions = new PolicyExpressions(spec.variables, hasParams)
  return [
    ...validateRequiredChoice(spec.failurePolicy, failurePolicies, specPath.child('failurePolicy')),
    ...(paramKind ? validateParamKind(paramKind, specPath.child('paramKind')) : []),
    ...validateConstraints(spec.matchConstraints),
    ...(isSame ? [] : validateMatchConditions(spec.matchConditions, specPath.child('matchConditions'), hasParams)),
    ...validateVariables(spec.variables, expressions),
    ...(isNeither ? neither : []),
    ...validations.flatMap((one, i) => validateValidation(one, expressions, specPath.child('validations').index(i))),
    ...validateAnnotations(auditAnnotations, metadata.name ?? '', expressions),
  ]
}

/** Stored conditions are not validated again. */
const isSameMatching = (spec: ValidatingAdmissionPolicySpec, old: ValidatingAdmissionPolicySpec | undefined): boolean =>
  old !== undefined && deepEqual(spec.paramKind, old.paramKind) && deepEqual(spec.matchConditions, old.matchConditions)

function validateStatus({ typeChecking, conditions }: ValidatingAdmissionPolicyStatus): FieldError[] {
  const path = Path.of('status')
  const warnings = path.child('typeChecking', 'expressionWarnings')
  return [
    ...(typeChecking?.expressionWarnings ?? []).flatMap(({ warning, fieldRef }, i) => [
      ...(warning === '' ? [required(warnings.index(i).child('warning'))] : []),
      ...(fieldRef.trim() === '' ? [required(warnings.index(i).child('fieldRef'))] : []),
    ]),
    ...validateConditions(conditions, path.child('conditions')),
  ]
}

export const validatingadmissionpolicies = defineResource<ValidatingAdmissionPolicy>({
  ...kindNames.validatingadmissionpolicies,
  ...policyRules,
  defaults({ spec }) {
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate: (policy) => validate(policy),
  validateUpdate: (policy, old) => validate(policy, old),
  status: { prepare: keepAllButStatus, validate: ({ status }) => validateStatus(status) },
  columns: policyColumns(
    'Validations',
    'Validations indicates the number of validation rules defined in this configuration',
    ({ spec }) => spec.validations?.length ?? 0,
  ),
})

const actions = ['Audit', 'Deny', 'Warn']
const bothMessage =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and ' +
  'headers serves no purpose)'

function validateActions(listed: readonly string[], path: Path): FieldError[] {
  const isBoth = listed.includes('Deny') && listed.includes('Warn')
  const repeated = repeatedPlaces(listed)
  return [
    ...listed.flatMap((action, i) => [
      ...(actions.includes(action) ? [] : [notSupported(path.index(i), action, actions)]),
      ...(repeated.has(i) ? [duplicate(path.index(i), action)] : []),
    ]),
    ...(isBoth ? [invalid(path, listed, bothMessage)] : []),
    ...(listed.length ? [] : [required(path, 'at least one validation action is required')]),
  ]
}

const validatePolicyBinding = ({ spec }: ValidatingAdmissionPolicyBinding): FieldError[] => [
  ...validateBinding(spec),
  ...validateActions(spec.validationActions ?? [], specPath.child('validationActions')),
]

export const validatingadmissionpolicybindings = defineResource<ValidatingAdmissionPolicyBinding>({
  ...kindNames.validatingadmissionpolicybindings,
  ...policyRules,
  defaults: ({ spec }) => defaultMatchResources(spec.matchResources),
  validate: validatePolicyBinding,
  validateUpdate: validatePolicyBinding,
  columns: bindingColumns,
})
