import type { Environment } from '../environment.ts'
import { kubernetesEnvironment } from '../kubernetes.ts'
import { authorizerType, resourceCheckType } from '../libraries/authorizer.ts'
import {
  type CelType,
  type Field,
  boolType,
  dynType,
  intType,
  listType,
  mapType,
  objectType,
  stringType,
  timestampType,
} from '../types.ts'

const kindType = objectType('kubernetes.GroupVersionKind', { group: stringType, version: stringType, kind: stringType })
const resourceType = objectType('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
})
const userInfoType = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
})

/** The type of `request`: an AdmissionRequest without its uid and its objects, which are variables of their own. */
export const admissionRequestType = objectType('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
})

const namespaceConditionType = objectType('kubernetes.NamespaceCondition', {
  status: stringType,
  type: stringType,
  lastTransitionTime: timestampType,
  message: stringType,
  reason: stringType,
})
const namespaceMetadataType = objectType('kubernetes.NamespaceMetadata', {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  labels: mapType(stringType, stringType),
  annotations: mapType(stringType, stringType),
  UID: stringType,
  creationTimestamp: timestampType,
  deletionGracePeriodSeconds: intType,
  deletionTimestamp: timestampType,
  generation: intType,
  resourceVersion: stringType,
  finalizers: listType(stringType),
})

/** The type of `namespaceObject`. managedFields and ownerReferences are left out, as in Kubernetes. */
export const admissionNamespaceType = objectType('kubernetes.Namespace', {
  metadata: namespaceMetadataType,
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(stringType) }),
  status: objectType('kubernetes.NamespaceStatus', {
    conditions: listType(namespaceConditionType),
    phase: stringType,
  }),
})

interface AdmissionVariables {
  hasParams?: boolean
  hasAuthorizer?: boolean
  /** The type of `object` and `oldObject`; `dyn` if undefined. */
  object?: CelType
  params?: CelType
}

/** The environment of match conditions and policies. */
export function admissionEnvironment(
  { hasParams, hasAuthorizer, object = dynType, params = dynType }: AdmissionVariables,
  base: Environment = kubernetesEnvironment,
): Environment {
  return base.extend({
    object,
    oldObject: object,
    namespaceObject: admissionNamespaceType,
    request: admissionRequestType,
    ...(hasParams ? { params } : {}),
    ...(hasAuthorizer ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType } : {}),
  })
}

/**
 * Adds `variables` to an environment. `fields` may grow later: an expression may use the fields that exist when it is
 * compiled.
 */
export const withVariables = (environment: Environment, fields: Map<string, Field>): Environment =>
  environment.extend({ variables: { kind: 'object', name: 'kubernetes.variables', fields } })

/**
 * The type of a variable as other expressions see it: scalars, and lists and maps of scalars, keep their type. Any
 * other type becomes `dyn`.
 */
export function variableType(type: CelType | undefined): CelType {
  switch (type?.kind) {
    case 'bool':
    case 'bytes':
    case 'double':
    case 'duration':
    case 'int':
    case 'null':
    case 'string':
    case 'timestamp':
    case 'uint':
      return { kind: type.kind }
    case 'list':
      return listType(variableType(type.element))
    case 'map':
      return mapType(variableType(type.key), variableType(type.value))
    default:
      return dynType
  }
}
