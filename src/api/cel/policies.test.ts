// The library as admission policies and settings of authentication use it: variables of their own, and an authorizer.
import { describe, expect, it } from 'vitest'
import {
  type AuthorizationQuestion,
  LazyObject,
  type Value,
  authorizerType,
  authorizerValue,
  boolType,
  compile,
  dynType,
  intType,
  jsonPatch,
  kubernetesEnvironment,
  kubernetesLibraries,
  Environment,
  listType,
  mapType,
  objectType,
  resourceCheckType,
  resourceCheckValue,
  stringType,
  toJson,
  toValue,
  untyped,
} from './index.ts'

const requestType = objectType('kubernetes.AdmissionRequest', {
  operation: stringType,
  name: stringType,
  dryRun: boolType,
})
const policies = kubernetesEnvironment.extend({
  object: dynType,
  oldObject: dynType,
  params: dynType,
  namespaceObject: dynType,
  request: requestType,
  variables: objectType('kubernetes.variables', { images: listType(stringType), costly: intType }),
  authorizer: authorizerType,
  'authorizer.requestResource': resourceCheckType,
})

const deployment = {
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { replicas: 3, template: { spec: { containers: [{ image: 'a:1' }, { image: 'b:2' }] } } },
}

function run(expression: string, more: Record<string, Value> = {}): unknown {
  const { program, error } = compile(expression, policies)
  if (!program) return error.message
  const variables = {
    object: untyped(deployment),
    oldObject: null,
    params: untyped({ maxReplicas: 5 }),
    request: toValue(requestType, { operation: 'CREATE', name: 'web' }),
    ...more,
  }
  const result = program.evaluate(variables)
  return result.error === undefined ? toJson(result.value) : { error: result.error }
}

describe('a policy', () => {
  it.each([
    ['compares the object with parameters', 'object.spec.replicas <= params.maxReplicas', true],
    ['knows that there is no old object', 'oldObject == null', true],
    ['sees the request', "request.operation == 'CREATE' && !has(request.dryRun)", true],
    ['goes through data without a schema', "object.spec.template.spec.containers.all(c, c.image.contains(':'))", true],
    ['tells what is missing', 'object.spec.nope == 1', { error: 'no such key: nope' }],
    ['reads labels by a key', "object.metadata.?labels['app'].orValue('')", 'web'],
    ['does not compare what has no order', "object.spec.replicas < 'x'", { error: 'no such overload' }],
  ])('%s: %s', (_, expression, result) => {
    expect(run(expression)).toEqual(result)
  })

  it('computes a variable when it is first used, and once', () => {
    let count = 0
    const variables = new LazyObject({ images: () => ['a:1'], costly: () => ++count })
    expect(run('variables.images.size() == 1 || variables.costly == 9', { variables })).toBe(true)
    expect(count).toBe(0)
    expect(run('variables.costly + variables.costly', { variables })).toBe(2)
    expect(run('variables.nope', { variables })).toMatch(/undefined field 'nope'/)
  })
})

describe('the authorizer', () => {
  const asked: AuthorizationQuestion[] = []
  const authorize = (question: AuthorizationQuestion) => {
    asked.push(question)
    return question.verb === 'get' ? { isAllowed: true, reason: 'as you like' } : { isAllowed: false, error: 'no idea' }
  }
  const given = {
    authorizer: authorizerValue(authorize),
    'authorizer.requestResource': resourceCheckValue(authorize, {
      group: 'apps',
      resource: 'deployments',
      name: 'web',
    }),
  }

  it.each([
    [
      "authorizer.group('').resource('pods').namespace('default').subresource('log').labelSelector('a=b').check('get').allowed()",
      true,
      { group: '', resource: 'pods', namespace: 'default', subresource: 'log', labelSelector: 'a=b', verb: 'get' },
    ],
    ["authorizer.path('/healthz').check('get').reason()", 'as you like', { path: '/healthz', verb: 'get' }],
    [
      "authorizer.requestResource.check('delete').error()",
      'no idea',
      { group: 'apps', resource: 'deployments', name: 'web', verb: 'delete' },
    ],
    [
      "authorizer.serviceAccount('default', 'bot').group('apps').resource('deployments').check('list').errored()",
      true,
      { serviceAccount: { namespace: 'default', name: 'bot' }, group: 'apps', resource: 'deployments', verb: 'list' },
    ],
  ])('%s', (expression, result, question) => {
    expect(run(expression, given)).toEqual(result)
    expect(asked.at(-1)).toEqual(question)
  })

  it('refuses what names no account or resource', () => {
    expect(run("authorizer.serviceAccount('Not!', 'bot').path('/').check('get').allowed()", given)).toEqual({
      error: 'Invalid service account namespace',
    })
    expect(run("authorizer.group('').resource(' ').check('get').allowed()", given)).toEqual({
      error: 'resource must not be empty',
    })
  })

  it('is asked twice at most', () => {
    const check = "authorizer.path('/').check('get').allowed()"
    expect(run(`${check} && ${check}`, given)).toBe(true)
    expect(run(`${check} && ${check} && ${check}`, given)).toEqual({
      error: 'operation cancelled: actual cost limit exceeded',
    })
  })
})

describe('other environments', () => {
  it('make objects, for policies that change things', () => {
    const spec = objectType('Object.spec', { replicas: intType })
    const root = objectType('Object', { spec })
    const mutations = Environment.of({
      libraries: [...kubernetesLibraries, jsonPatch],
      messages: { Object: root, 'Object.spec': spec },
    })
    const { program } = compile('Object{spec: Object.spec{replicas: 3}}', mutations)
    const result = program!.evaluate({})
    expect(result.value !== undefined && toJson(result.value)).toEqual({ spec: { replicas: 3 } })
    expect(compile("Object{spec: Object.spec{replicas: 'x'}}", mutations).error?.message).toContain(
      "expected type of field 'replicas' is 'int' but provided type is 'string'",
    )
    expect(compile("jsonpatch.escapeKey('a/b~c')", mutations).program!.evaluate({}).value).toBe('a~1b~0c')
  })

  it('map claims of a token', () => {
    const claims = kubernetesEnvironment.extend({ claims: mapType(stringType, dynType) })
    const { program } = compile("claims.email_verified ? claims.email : claims.?sub.orValue('')", claims)
    const value = toValue(mapType(stringType, dynType), { email_verified: true, email: 'a@b.c' })
    expect(program!.evaluate({ claims: value }).value).toBe('a@b.c')
  })
})
