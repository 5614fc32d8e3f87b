export {
  type AdmissionVariables,
  admissionEnvironment,
  admissionNamespaceType,
  admissionRequestType,
} from './admission/environment.ts'
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
export { type CompileError, type Compiled, compile } from './compile.ts'
export { estimateCost, schemaSizes } from './cost/estimate.ts'
export type { Range } from './cost/ranges.ts'
export type { Library } from './declarations.ts'
export { Environment, type EnvironmentOptions } from './environment.ts'
export { kubernetesEnvironment, kubernetesLibraries } from './kubernetes.ts'
export {
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  type Authorize,
  authorizerType,
  authorizerValue,
  jsonPatch,
  resourceCheckType,
  resourceCheckValue,
} from './libraries/authorizer.ts'
export { compilePattern } from './pattern.ts'
export { type Evaluation, Program, perCallLimit } from './run/program.ts'
export { builtInCelType, customCelType } from './schema/built-in-types.ts'
export { toJson } from './schema/to-json.ts'
export { LazyObject, toValue, untyped } from './schema/json-values.ts'
export { type JsonSchema, type ValidationRule, schemaType } from './schema/schema-types.ts'
export type { Issue } from './syntax/source.ts'
export * from './types.ts'
export { checkSchemaRules } from './validations/check-schema.ts'
export {
  RuleValidator,
  type ValidationOptions,
  type ValidationResult,
  perObjectLimit,
} from './validations/validator.ts'
export { CelError, type Value, typeName as valueTypeName } from './values.ts'
