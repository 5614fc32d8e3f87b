import { labelName, subdomainName } from '../../validation/names.ts'
import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { boolType, opaqueType, stringType } from '../types.ts'
import { CelError, Opaque, type Value } from '../values.ts'

export const authorizerType = opaqueType('kubernetes.authorization.Authorizer')
const pathCheckType = opaqueType('kubernetes.authorization.PathCheck')
const groupCheckType = opaqueType('kubernetes.authorization.GroupCheck')
export const resourceCheckType = opaqueType('kubernetes.authorization.ResourceCheck')
const decisionType = opaqueType('kubernetes.authorization.Decision')

/** An authorization request. If `serviceAccount` is set, it is checked instead of the user of the request. */
export interface AuthorizationQuestion {
  verb: string
  serviceAccount?: { namespace: string; name: string }
  path?: string
  group?: string
  resource?: string
  subresource?: string
  namespace?: string
  name?: string
  fieldSelector?: string
  labelSelector?: string
}

/** The decision. `error` is set if the authorizer failed. */
export interface AuthorizationAnswer {
  isAllowed: boolean
  reason?: string
  error?: string
}

/** The server's authorizer, for the variable `authorizer`. It is synchronous. */
type Authorize = (question: AuthorizationQuestion) => AuthorizationAnswer

type Question = Omit<AuthorizationQuestion, 'verb'>

/** An authorization check that is being built. Each step returns a new value. */
class Check extends Opaque {
  readonly typeName: string
  readonly authorize: Authorize
  readonly question: Question
  constructor(type: { name: string }, authorize: Authorize, question: Question) {
    super()
    this.typeName = type.name
    this.authorize = authorize
    this.question = question
  }
  equals(other: Opaque): boolean {
    return other instanceof Check && JSON.stringify(other.question) === JSON.stringify(this.question)
  }
}

class Decision extends Opaque {
  readonly typeName = 'kubernetes.authorization.Decision'
  readonly answer: AuthorizationAnswer
  constructor(answer: AuthorizationAnswer) {
    super()
    this.answer = answer
  }
  equals(other: Opaque): boolean {
    return other instanceof Decision && JSON.stringify(other.answer) === JSON.stringify(this.answer)
  }
}

const named = (type: typeof authorizerType) => type as { name: string }

/** The value of the variable `authorizer`. */
export const authorizerValue = (authorize: Authorize): Opaque => new Check(named(authorizerType), authorize, {})

/** The value of the variable `authorizer.requestResource`: a check of the request's resource. */
export const resourceCheckValue = (authorize: Authorize, question: Question): Opaque =>
  new Check(named(resourceCheckType), authorize, question)

const next = (type: typeof authorizerType, check: Check, more: Question) =>
  new Check(named(type), check.authorize, { ...check.question, ...more })

function notEmpty(text: string, name: string): string {
  if (text.trim() === '') throw new CelError(`${name} must not be empty`)
  return text
}

function serviceAccount(check: Check, namespace: string, name: string): Check {
  if (subdomainName(name, false).length) throw new CelError('Invalid service account name')
  if (labelName(namespace, false).length) throw new CelError('Invalid service account namespace')
  return next(authorizerType, check, { serviceAccount: { namespace, name } })
}

/** Two checks in an expression are all that Kubernetes allows. */
const checkCost = () => 350_000
const selectorCost = (_: Value, __: Value, selector: string) => 10 + selector.length * 25

const check = (_: unknown, question: Check, verb: string) =>
  new Decision(question.authorize({ ...question.question, verb }))

/** Sets one attribute of a resource check. */
const part = (name: 'subresource' | 'namespace' | 'name') => [
  memberOverload(
    `resourcecheck_${name}`,
    [resourceCheckType, stringType],
    resourceCheckType,
    (_, given: Check, text: string) => next(resourceCheckType, given, { [name]: text }),
  ),
]
const selector = (name: 'fieldSelector' | 'labelSelector') => [
  memberOverload(
    `authorizer_${name.toLowerCase()}`,
    [resourceCheckType, stringType],
    resourceCheckType,
    (_, given: Check, text: string) => next(resourceCheckType, given, { [name]: text }),
    selectorCost,
  ),
]

/** Kubernetes' authorizer, for admission policies. */
export const authorizer: Library = {
  name: 'authorizer',
  functions: {
    path: [
      memberOverload('authorizer_path', [authorizerType, stringType], pathCheckType, (_, given: Check, path: string) =>
        next(pathCheckType, given, { path: notEmpty(path, 'path') }),
      ),
    ],
    group: [
      memberOverload(
        'authorizer_group',
        [authorizerType, stringType],
        groupCheckType,
        (_, given: Check, group: string) => next(groupCheckType, given, { group }),
      ),
    ],
    serviceAccount: [
      memberOverload(
        'authorizer_serviceaccount',
        [authorizerType, stringType, stringType],
        authorizerType,
        (_, given: Check, namespace: string, name: string) => serviceAccount(given, namespace, name),
      ),
    ],
    resource: [
      memberOverload(
        'groupcheck_resource',
        [groupCheckType, stringType],
        resourceCheckType,
        (_, given: Check, resource: string) =>
          next(resourceCheckType, given, { resource: notEmpty(resource, 'resource') }),
      ),
    ],
    subresource: part('subresource'),
    namespace: part('namespace'),
    name: part('name'),
    fieldSelector: selector('fieldSelector'),
    labelSelector: selector('labelSelector'),
    check: [
      memberOverload('pathcheck_check', [pathCheckType, stringType], decisionType, check, checkCost),
      memberOverload('resourcecheck_check', [resourceCheckType, stringType], decisionType, check, checkCost),
    ],
    allowed: [
      memberOverload('decision_allowed', [decisionType], boolType, (_, { answer }: Decision) => answer.isAllowed),
    ],
    reason: [
      memberOverload('decision_reason', [decisionType], stringType, (_, { answer }: Decision) => answer.reason ?? ''),
    ],
    errored: [
      memberOverload(
        'decision_errored',
        [decisionType],
        boolType,
        (_, { answer }: Decision) => answer.error !== undefined,
      ),
    ],
    error: [
      memberOverload('decision_error', [decisionType], stringType, (_, { answer }: Decision) => answer.error ?? ''),
    ],
  },
}

/** `a/b` → `a~1b`: a key as a part of a JSON pointer, for the patches of mutating policies. */
export const jsonPatch: Library = {
  name: 'jsonpatch',
  functions: {
    'jsonpatch.escapeKey': [
      globalOverload('string_jsonpatch_escapeKey_string', [stringType], stringType, (_, key: string) =>
        key.replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ],
  },
}
