import { kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../../api/generated/types.ts'
import { type FieldError, forbidden, notSupported, required } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'
import { PolicyExpressions } from './expression-rules.ts'
import {
  defaultMatchResources,
  failurePolicies,
  reinvocationPolicies,
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

/** The field of a mutation that belongs to its patchType. */
const members = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

function validateMutation(mutation: Mutation, expressions: PolicyExpressions, path: Path): FieldError[] {
  const { patchType } = mutation
  const typePath = path.child('patchType')
  if (patchType === '') return [required(typePath)]
  if (!Object.hasOwn(members, patchType)) return [notSupported(typePath, patchType, Object.keys(members))]
  const own = members[patchType as keyof typeof members]
  const other = own === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const patch = mutation[own]
  return [
    ...(patch ? [] : [required(path.child(own), `must be specified if patchType is ${patchType}`)]),
    ...(mutation[other] ? [forbidden(path.child(other), `must not be specified if patchType is ${patchType}`)] : []),
    ...(patch ? expressions.mutation(patch.expression ?? '', patchType, path.child(own, 'expression')) : []),
  ]
}

/** Stored conditions are not validated again. */
const isSameMatching = (spec: MutatingAdmissionPolicySpec, old: MutatingAdmissionPolicySpec | undefined): boolean =>
  old !== undefined && deepEqual(spec.paramKind, old.paramKind) && deepEqual(spec.matchConditions, old.matchConditions)

function validate({ spec }: MutatingAdmissionPolicy, old?: MutatingAdmissionPolicy): FieldError[] {
  const { paramKind, mutations = [] } = spec
  const isSame = isSameMatching(spec, old?.spec)
  const mutationsPath = specPath.child('mutations')
  const reinvocationPath = specPath.child('reinvocationPolicy')
  const hasParams = paramKind !== undefined
  const expressions = new PolicyExpressions(spec.variables, hasParams)
  return [
    ...validateRequiredChoice(spec.failurePolicy, failurePolicies, specPath.child('failurePolicy')),
    ...(paramKind ? validateParamKind(paramKind, specPath.child('paramKind')) : []),
    ...validateConstraints(spec.matchConstraints),
    ...(isSame ? [] : validateMatchConditions(spec.matchConditions, specPath.child('matchConditions'), hasParams)),
    ...validateVariables(spec.variables, expressions),
    ...(mutations.length ? [] : [required(mutationsPath, 'mutations must contain at least one item')]),
    ...mutations.flatMap((mutation, i) => validateMutation(mutation, expressions, mutationsPath.index(i))),
    ...validateRequiredChoice(spec.reinvocationPolicy, reinvocationPolicies, reinvocationPath),
  ]
}

export const mutatingadmissionpolicies = defineResource<MutatingAdmissionPolicy>({
  ...kindNames.mutatingadmissionpolicies,
  ...policyRules,
  toldStorageVersion: 'v1beta1',
  defaults({ spec }) {
    spec.failurePolicy ??= 'Fail'
    defaultMatchResources(spec.matchConstraints)
  },
  validate: (policy) => validate(policy),
  validateUpdate: (policy, old) => validate(policy, old),
  columns: policyColumns(
    'Mutations',
    'Mutation indicates the number of mutations rules defined in this configuration',
    ({ spec }) => spec.mutations?.length ?? 0,
  ),
})

const validatePolicyBinding = ({ spec }: MutatingAdmissionPolicyBinding): FieldError[] => validateBinding(spec)

export const mutatingadmissionpolicybindings = defineResource<MutatingAdmissionPolicyBinding>({
  ...kindNames.mutatingadmissionpolicybindings,
  ...policyRules,
  toldStorageVersion: 'v1beta1',
  defaults: ({ spec }) => defaultMatchResources(spec.matchResources),
  validate: validatePolicyBinding,
  validateUpdate: validatePolicyBinding,
  columns: bindingColumns,
})
