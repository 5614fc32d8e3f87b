import { describe, expect, it } from 'vitest'
import type { Authorizer, Decision } from '../../auth/authorize.ts'
import { ExpressionInput } from './expression-input.ts'
import { MatchConditions } from './match-conditions.ts'
import { endlessTurn, inTurns } from '../../../base/turns.ts'
import { type SampleRequest, sampleRegistry, sampleRequest } from './sample-request.ts'
import { VersionedRequest } from './versioned-request.ts'

function judge(expressions: readonly string[], asked: SampleRequest = {}, failurePolicy = 'Fail', as?: string) {
  const request = sampleRequest(asked)
  const [apiVersion = '', plural = ''] = as?.split(' ') ?? []
  const target = as ? sampleRegistry.find(apiVersion, plural)! : request.origin!.target
  const input = new ExpressionInput(new VersionedRequest(request))
  const conditions = new MatchConditions(expressions.map((expression, i) => ({ name: `c${i}`, expression })), failurePolicy)
  return inTurns(endlessTurn, conditions.evaluate({ ...input.of(target), ...input.authorizer() }))
}

describe('match conditions', () => {
  it.each<[string, readonly string[], SampleRequest, boolean]>([
    ['none', [], {}, true],
    ['the object', ["object.metadata.name == 'a' && object.kind == 'Pod' && object.apiVersion == 'v1'"], {}, true],
    ['no old object', ['oldObject == null'], {}, true],
    ['the old object', ["object == null && oldObject.metadata.labels['x'] == 'y'"], { operation: 'DELETE', oldLabels: { x: 'y' } }, true],
    ['one that is false', ['true', 'false'], {}, false],
    ['one that is false after an error', ['object.spec.nope', 'object.nope == 1', 'false'], {}, false],
    ['the request', ["request.operation == 'CREATE' && request.name == 'a' && request.namespace == 'ns' && !request.dryRun && !has(request.subResource)"], {}, true],
    ['the kind of a subresource', ["request.kind.kind == 'Eviction' && request.resource.resource == 'pods' && request.subResource == 'eviction'"], { of: 'v1 pods/eviction' }, true],
    ['the user', ["'developers' in request.userInfo.groups && request.userInfo.username == 'someone'"], {}, true],
    ['the options', ["request.options.kind == 'CreateOptions'"], {}, true],
    ['the namespace of a Namespace', ["request.namespace == 'a'"], { of: 'v1 namespaces' }, true],
    ['a name that is not there yet', ['!has(request.name)'], { name: '' }, true],
  ])('see %s', (_, expressions, asked, matches) => {
    expect(judge(expressions, asked)).toEqual({ matches })
  })

  it('see the object in the version of the rule', () => {
    const asked = { of: 'x.io/v1 widgets', object: { width: 3 } }
    const expression = "object.size == 3 && object.apiVersion == 'x.io/v2' && request.kind.version == 'v2' && request.requestKind.version == 'v1'"
    expect(judge([expression], asked, 'Fail', 'x.io/v2 widgets')).toEqual({ matches: true })
  })

  it('tell of all errors where the policy is Fail, and match nothing where it is Ignore', () => {
    const expressions = ['object.nope == 1', 'object.never == 1', 'true']
    const sentence = (field: string) => `expression 'object.${field} == 1' resulted in error: no such key: ${field}`
    expect(judge(expressions)).toEqual({ matches: false, error: `[${sentence('nope')}, ${sentence('never')}]` })
    expect(judge(expressions.slice(0, 1))).toEqual({ matches: false, error: sentence('nope') })
    expect(judge(expressions, {}, 'Ignore')).toEqual({ matches: false })
  })

  it('tell what does not compile', () => {
    expect(judge(['1 + 1'])).toEqual({ matches: false, error: 'compilation error: must evaluate to bool but got int' })
    expect(judge(['nope'])).toMatchObject({ error: expect.stringMatching(/^compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope'/) })
  })

  it('share a budget', () => {
    const list = `[${Array.from({ length: 120 }, (_, i) => i).join(', ')}]`
    const costly = `${list}.all(a, ${list}.all(b, a + b >= 0))`
    expect(judge([costly])).toEqual({ matches: true })
    const error = 'validation failed due to running out of cost budget, no further validation rules will be run'
    expect(judge(Array.from({ length: 60 }, () => costly))).toEqual({ matches: false, error })
  })
})

describe('the authorizer of conditions', () => {
  const attempts: unknown[] = []
  const answering = (decide: (verb: string) => Decision | Promise<Decision>): Authorizer => ({
    authorize(user, attempt) {
      attempts.push([user.name, attempt])
      return decide(attempt.verb)
    },
  })

  it('asks at once where it can, and once for the same question', () => {
    attempts.length = 0
    const check = "authorizer.group('apps').resource('deployments').namespace('ns').check('create').allowed()"
    const authorizer = answering(() => ({ allowed: true }))
    expect(judge([check, check], { authorizer })).toEqual({ matches: true })
    expect(attempts).toEqual([
      ['someone', { verb: 'create', path: { group: 'apps', version: '*', namespace: 'ns', plural: 'deployments', subresource: '', name: '' }, selectors: {} }],
    ])
  })

  it('is about the request, and about accounts', () => {
    attempts.length = 0
    const authorizer = answering((verb) => ({ allowed: verb === 'breakglass' }))
    const account = "authorizer.serviceAccount('default', 'bot').path('/healthz').check('get').allowed()"
    expect(judge(["authorizer.requestResource.check('breakglass').allowed()", `!${account}`], { authorizer })).toEqual({ matches: true })
    expect(attempts).toEqual([
      ['someone', { verb: 'breakglass', path: { group: '', version: '*', namespace: 'ns', plural: 'pods', subresource: '', name: 'a' }, selectors: {} }],
      ['system:serviceaccount:default:bot', { verb: 'get', url: '/healthz' }],
    ])
  })

  it('is waited for where it has to ask another process', async () => {
    const authorizer = answering(async (verb) => ({ allowed: verb === 'get' }))
    const check = (verb: string) => `authorizer.path('/x').check('${verb}').allowed()`
    const waiting = judge([check('get'), `!${check('list')}`], { authorizer })
    expect(waiting).toBeInstanceOf(Promise)
    expect(await waiting).toEqual({ matches: true })
  })

  it('tells of an authorizer that cannot say', async () => {
    const authorizer = answering(() => Promise.reject(new Error('away')))
    expect(await judge(["authorizer.path('/x').check('get').errored() && authorizer.path('/x').check('get').error() == 'away'"], { authorizer })).toEqual({ matches: true })
  })
})
