export { admissionEnvironment, admissionNamespaceType, admissionRequestType } from './admission/environment.ts'
export {
  AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionVariable,
  type Evaluated,
  OutOfBudget,
  compileAdmission,
  compileVariables,
  matchConditionBudget,
  policyBudget,
} from './admission/expression.ts'
export {
  applyConfigurationType,
  jsonPatchListType,
  mutationEnvironment,
  patchOperations,
  typeMismatch,
} from './admission/mutation.ts'
export { compile } from './compile.ts'
export { Environment } from './environment.ts'
export { kubernetesEnvironment, kubernetesLibraries } from './kubernetes.ts'
export {
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  authorizerType,
  authorizerValue,
  jsonPatch,
  resourceCheckType,
  resourceCheckValue,
} from './libraries/authorizer.ts'
export { Interruption } from './declarations.ts'
export { compilePattern, matcherOf } from './pattern.ts'
export { Program, perCallLimit } from './run/program.ts'
export { builtInCelType, customCelType } from './schema/built-in-types.ts'
export { toJson } from './schema/to-json.ts'
export { LazyObject, toValue, untyped } from './schema/json-values.ts'
export { type JsonSchema, schemaType } from './schema/schema-types.ts'
export * from './types.ts'
export { checkSchemaRules, hasRules } from './validations/check-schema.ts'
export { RuleValidator } from './validations/validator.ts'
export { type Value, typeName as valueTypeName } from './values.ts'
