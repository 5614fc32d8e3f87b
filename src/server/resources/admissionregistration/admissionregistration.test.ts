import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { mutatingadmissionpolicies, mutatingadmissionpolicybindings } from './mutating-policies.ts'
import { validatingadmissionpolicies, validatingadmissionpolicybindings } from './validating-policies.ts'
import { mutatingwebhookconfigurations, validatingwebhookconfigurations } from './webhook-configurations.ts'

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }
const service = { namespace: 'ns', name: 'svc' }
const hook = {
  name: 'a.example.com',
  clientConfig: { service },
  rules: [rule],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const withRule = (change: object) => ({ rules: [{ ...rule, ...change }] })
const withService = (change: object) => ({ clientConfig: { service: { ...service, ...change } } })
const withUrl = (url: string) => ({ clientConfig: { url } })

/** Texts as they are, patterns as expectations. */
const expected = (refusals: readonly (string | RegExp)[]) =>
  refusals.map((r) => (typeof r === 'string' ? r : (expect.stringMatching(r) as string)))

const validating = new DecodedTrial(validatingwebhookconfigurations)
const mutating = new DecodedTrial(mutatingwebhookconfigurations)

describe('a webhook configuration', () => {
  it('is filled in', () => {
    const filled = {
      failurePolicy: 'Fail', matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10,
      rules: [{ ...rule, scope: '*' }], clientConfig: { service: { ...service, port: 443 } },
    }
    expect(validating.created({ webhooks: [hook] }).webhooks).toEqual([{ ...hook, ...filled }])
    expect(mutating.created({ webhooks: [hook] }).webhooks).toEqual([
      { ...hook, ...filled, reinvocationPolicy: 'Never' },
    ])
  })

  it.each<[string, object, (string | RegExp)[]]>([
    ['the usual', {}, []],
    ['a URL', withUrl('https://example.com:8443/check'), []],
    ['no name', { name: '' }, ['name: Required value']],
    [
      'a short name',
      { name: 'a.b' },
      ['name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    ],
    [
      'no side effects said',
      { sideEffects: undefined },
      ['sideEffects: Required value: must specify one of None, NoneOnDryRun'],
    ],
    [
      'side effects',
      { sideEffects: 'Some' },
      ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      'no versions',
      { admissionReviewVersions: [] },
      ['admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
    ],
    [
      'unknown versions',
      { admissionReviewVersions: ['v2'] },
      [/^admissionReviewVersions: Invalid value: \["v2"\]: must include at least one of v1, v1beta1$/],
    ],
    [
      'a version twice',
      { admissionReviewVersions: ['v1', 'v1'] },
      ['admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ],
    [
      'a long timeout',
      { timeoutSeconds: 31 },
      ['timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
    [
      'an unknown failure policy',
      { failurePolicy: 'X' },
      ['failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'],
    ],
    [
      'an unknown match policy',
      { matchPolicy: 'X' },
      ['matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"'],
    ],
    [
      'a bad selector',
      { objectSelector: { matchLabels: { 'a b': 'c' } } },
      [/^objectSelector\.matchLabels: Invalid value: "a b"/],
    ],
    [
      'neither URL nor service',
      { clientConfig: {} },
      ['clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'both',
      { clientConfig: { service, url: 'https://x' } },
      ['clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'HTTP',
      withUrl('http://example.com'),
      [/^clientConfig\.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired/],
    ],
    ['no host', withUrl('https://'), [/^clientConfig\.url: Invalid value: "": host must be specified; desired/]],
    [
      'a user in the URL',
      withUrl('https://ann:x@h/p'),
      ['clientConfig.url: Invalid value: "ann:x": user information is not permitted in the URL'],
    ],
    [
      'a query',
      withUrl('https://h/p?a=b'),
      ['clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL'],
    ],
    [
      'a fragment',
      withUrl('https://h/p#x'),
      ['clientConfig.url: Invalid value: "x": fragments are not permitted in the URL'],
    ],
    [
      'a service without a name',
      withService({ name: '' }),
      ['clientConfig.service.name: Required value: service name is required'],
    ],
    [
      'a bad port',
      withService({ port: 0 }),
      [/^clientConfig\.service\.port: Invalid value: 0: port is not valid: must be between/],
    ],
    [
      'a path that does not begin',
      withService({ path: 'x' }),
      [/^clientConfig\.service\.path: Invalid value: "x": must start with a '\/'$/, /segment\[0\] may not be empty/],
    ],
    [
      'a path with a gap',
      withService({ path: '/a//b' }),
      ['clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
    ],
    ['no operations', withRule({ operations: [] }), ['rules[0].operations: Required value']],
    [
      'an unknown operation',
      withRule({ operations: ['READ'] }),
      [/^rules\[0\]\.operations\[0\]: Unsupported value: "READ": supported values: "\*", "CONNECT"/],
    ],
    [
      'all operations and one',
      withRule({ operations: ['*', 'CREATE'] }),
      [/^rules\[0\]\.operations: .*: if '\*' is present, must not specify other operations$/],
    ],
    ['no groups, versions and resources', { rules: [{ operations: ['*'] }] }, [
      'rules[0].apiGroups: Required value', 'rules[0].apiVersions: Required value', 'rules[0].resources: Required value',
    ]],
    [
      'an unknown scope',
      withRule({ scope: 'X' }),
      ['rules[0].scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"'],
    ],
    [
      'all subresources and one',
      withRule({ resources: ['pods/*', 'pods/log'] }),
      [/resources\[1\]: Invalid value: "pods\/log": if 'pods\/\*' is present, must not specify pods\/log$/],
    ],
    [
      'a subresource of all and of one',
      withRule({ resources: ['*/scale', 'a/scale'] }),
      [/if '\*\/scale' is present, must not specify a\/scale$/],
    ],
    [
      'everything and something',
      withRule({ resources: ['*/*', 'a'] }),
      [/if '\*\/\*' is present, must not specify other resources$/],
    ],
    [
      'all resources and one',
      withRule({ resources: ['*', 'a'] }),
      [/if '\*' is present, must not specify other resources without subresources$/],
    ],
    ['all resources and a subresource', withRule({ resources: ['*', 'a/b'] }), []],
    [
      'a condition without an expression',
      { matchConditions: [{ name: 'a', expression: ' ' }] },
      ['matchConditions[0].expression: Required value'],
    ],
    [
      'a condition twice',
      { matchConditions: [{ name: 'a', expression: 'true' }, { name: 'a', expression: 'true' }] },
      ['matchConditions[1].name: Duplicate value: "a"'],
    ],
  ])('says of %s', (_, change, refusals) => {
    const below = expected(refusals.map(
      (r) => (typeof r === 'string' ? `webhooks[0].${r}` : new RegExp(r.source.replace(
        /^\^/,
        String.raw`^webhooks\[0\]\.`,
      ))),
    ))
    expect(validating.refusals({ webhooks: [{ ...hook, ...change }] })).toEqual(below)
  })

  it('has each name once', () => {
    expect(validating.refusals({ webhooks: [hook, hook] })).toEqual([
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ])
  })

  it('may go on to break rules that are newer than it', () => {
    const old = { ...validating.created({ webhooks: [hook, hook] }) }
    expect(validating.updateRefusals(old, { webhooks: [hook, hook] })).toEqual([])
    old.webhooks = [{ ...hook, sideEffects: 'Some' }]
    expect(validating.updateRefusals(old, { webhooks: [{ ...hook, sideEffects: 'Unknown' }] })).toEqual([])
  })

  it('has a known way to be called again, if it changes anything', () => {
    expect(mutating.refusals({ webhooks: [{ ...hook, reinvocationPolicy: 'X' }] })).toEqual([
      'webhooks[0].reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"',
    ])
  })

  it('is shown with the number of its webhooks', () => {
    expect(validating.cells(validating.created({ webhooks: [hook, hook] }))).toMatchObject({ Webhooks: 2 })
  })
})

const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] }
const policies = new DecodedTrial(validatingadmissionpolicies)
const annotation = (key: string, valueExpression = "'x'") => ({ key, valueExpression })

describe('a validating admission policy', () => {
  it('is filled in', () => {
    expect(policies.created({ spec }).spec).toEqual({
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule, scope: '*' }],
      },
      validations: [{ expression: 'true' }],
    })
  })

  it.each<[string, object, (string | RegExp)[]]>([
    ['the usual', {}, []],
    ['no constraints', { matchConstraints: undefined }, ['spec.matchConstraints: Required value']],
    ['no rules', { matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      'a name twice',
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['a', 'a'] }] } },
      [/resourceNames\[1\]: Duplicate value: "a"$/],
    ],
    ['nothing to judge by', { validations: [] }, [
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
    ]],
    [
      'no expression',
      { validations: [{ expression: ' ' }] },
      ['spec.validations[0].expression: Required value: expression is not specified'],
    ],
    [
      'a blank message',
      { validations: [{ expression: 'true', message: ' ' }] },
      [/message: Invalid value: " ": message must be non-empty if specified$/],
    ],
    [
      'a message of two lines',
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      [/message: .*: message must not contain line breaks$/],
    ],
    [
      'an unknown reason',
      { validations: [{ expression: 'true', reason: 'Why' }] },
      [/reason: Unsupported value: "Why": supported values: "Forbidden"/],
    ],
    [
      'parameters of no kind',
      { paramKind: {} },
      ['spec.paramKind.apiVersion: Required value', 'spec.paramKind.kind: Required value'],
    ],
    [
      'parameters of a bad version',
      { paramKind: { apiVersion: 'a/b/c', kind: 'K' } },
      [/unexpected GroupVersion string: a\/b\/c$/],
    ],
    ['parameters without a version', { paramKind: { apiVersion: 'a.b/', kind: 'K' } }, [/version must be specified$/]],
    [
      'a variable without a name',
      { variables: [{ name: '', expression: '1' }] },
      ['spec.variables[0].name: Required value: name is not specified'],
    ],
    [
      'a variable with a word as its name',
      { variables: [{ name: 'if', expression: '1' }] },
      [/name is not a valid CEL identifier$/],
    ],
    ['annotations', { auditAnnotations: [annotation('a')] }, []],
    [
      'an annotation twice',
      { auditAnnotations: [annotation('a'), annotation('a')] },
      ['spec.auditAnnotations[1].key: Duplicate value: "a"'],
    ],
    [
      'an annotation of nothing',
      { auditAnnotations: [annotation('a', '')] },
      [/valueExpression: Required value: valueExpression is not specified$/],
    ],
    [
      'a bad key',
      { auditAnnotations: [annotation('-')] },
      [/^spec\.auditAnnotations\[0\]\.key: Invalid value: "x\/-"/],
    ],
  ])('says of %s', (_, change, refusals) => {
    expect(policies.refusals({ spec: { ...spec, ...change } })).toEqual(expected(refusals))
  })

  it('has a status of type checks and conditions', () => {
    const old = policies.created({ spec, status: {} })
    expect(policies.statusRefusals(
      old,
      { typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }] } },
    )).toEqual([
      'status.typeChecking.expressionWarnings[0].warning: Required value',
      'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
    ])
  })

  it('is shown with the number of its rules and the kind of its parameters', () => {
    expect(policies.cells(policies.created({ spec }))).toMatchObject({ Validations: 1, ParamKind: '<unset>' })
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    expect(policies.cells(
      policies.created({ spec: { ...spec, paramKind } }),
    )).toMatchObject({ ParamKind: 'v1/ConfigMap' })
  })
})

const bindings = new DecodedTrial(validatingadmissionpolicybindings)
const bound = { policyName: 'p', validationActions: ['Deny'] }

describe('a binding of a policy', () => {
  it.each<[string, object, (string | RegExp)[]]>([
    ['the usual', {}, []],
    ['no policy', { policyName: '' }, ['spec.policyName: Required value']],
    ['a bad name', { policyName: 'A' }, [/^spec\.policyName: Invalid value: "A": a lowercase RFC 1123 subdomain/]],
    [
      'no action',
      { validationActions: [] },
      ['spec.validationActions: Required value: at least one validation action is required'],
    ],
    [
      'an unknown action',
      { validationActions: ['Sigh'] },
      ['spec.validationActions[0]: Unsupported value: "Sigh": supported values: "Audit", "Deny", "Warn"'],
    ],
    [
      'an action twice',
      { validationActions: ['Deny', 'Deny'] },
      ['spec.validationActions[1]: Duplicate value: "Deny"'],
    ],
    ['a refusal with a warning', { validationActions: ['Deny', 'Warn'] }, [/must not contain both Deny and Warn \(/]],
    [
      'a bad selector',
      { matchResources: { namespaceSelector: { matchLabels: { 'a b': '' } } } },
      [/^spec\.matchResouces\.namespaceSelector\.matchLabels: /],
    ],
    [
      'no parameters after all',
      { paramRef: { parameterNotFoundAction: 'Deny' } },
      ['spec.paramRef: Required value: one of name or selector must be specified'],
    ],
    [
      'no answer to missing ones',
      { paramRef: { name: 'a' } },
      ['spec.paramRef.parameterNotFoundAction: Required value'],
    ],
    [
      'an unknown answer',
      { paramRef: { name: 'a', parameterNotFoundAction: 'X' } },
      [/Unsupported value: "X": supported values: "Deny", "Allow"$/],
    ],
    ['parameters by name and selector', { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Allow' } }, [
      'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
      'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
    ]],
  ])('says of %s', (_, change, refusals) => {
    expect(bindings.refusals({ spec: { ...bound, ...change } })).toEqual(expected(refusals))
  })

  it.each<[object | undefined, string]>([
    [undefined, '<unset>'],
    [{ name: 'a' }, '*/a'],
    [{ name: 'a', namespace: 'ns' }, 'ns/a'],
    [
      { selector: { matchLabels: { b: 'c' } } },
      '&LabelSelector{MatchLabels:map[string]string{b: c,},MatchExpressions:[]LabelSelectorRequirement{},}',
    ],
  ])('is shown with the parameters %s', (paramRef, text) => {
    expect(bindings.cells(
      bindings.created({ spec: { ...bound, ...(paramRef ? { paramRef } : {}) } }),
    )).toMatchObject({ PolicyName: 'p', ParamRef: text })
  })

  it('that changes something needs no actions', () => {
    const trial = new DecodedTrial(mutatingadmissionpolicybindings)
    expect(trial.refusals({ spec: { policyName: 'p' } })).toEqual([])
  })
})

const change = {
  matchConstraints: { resourceRules: [rule] },
  reinvocationPolicy: 'Never',
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } }],
}
const changing = new DecodedTrial(mutatingadmissionpolicies)

describe('a mutating admission policy', () => {
  it.each<[string, object, (string | RegExp)[]]>([
    ['the usual', {}, []],
    ['no mutations', { mutations: [] }, ['spec.mutations: Required value: mutations must contain at least one item']],
    ['no way to be called again', { reinvocationPolicy: undefined }, ['spec.reinvocationPolicy: Required value']],
    ['a mutation of no type', { mutations: [{}] }, ['spec.mutations[0].patchType: Required value']],
    [
      'a mutation of an unknown type',
      { mutations: [{ patchType: 'X' }] },
      [/patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"$/],
    ],
    [
      'a mutation without what it does',
      { mutations: [{ patchType: 'JSONPatch' }] },
      [/jsonPatch: Required value: must be specified if patchType is JSONPatch$/],
    ],
    [
      'a mutation with both',
      {
        mutations: [
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{}]' }, applyConfiguration: { expression: 'x' } },
        ],
      },
      [/applyConfiguration: Forbidden: must not be specified if patchType is JSONPatch$/],
    ],
  ])('says of %s', (_, draft, refusals) => {
    expect(changing.refusals({ spec: { ...change, ...draft } })).toEqual(expected(refusals))
  })

  it('is shown with the number of its mutations', () => {
    expect(changing.cells(changing.created({ spec: change }))).toMatchObject({ Mutations: 1 })
  })
})

describe('expressions are compiled', () => {
  const refused = (change: object) => new DecodedTrial(validatingadmissionpolicies).refusals({ spec: { ...spec, ...change } })
  const params = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }
  it.each<[string, object, (string | RegExp)[]]>([
    ['a name that there is not', { validations: [{ expression: 'nope' }] }, [
      "spec.validations[0].expression: Invalid value: \"nope\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^",
    ]],
    ['another type', { validations: [{ expression: 'object.spec.replicas' }] }, [/expression: Invalid value: "object.spec.replicas": must evaluate to bool but got dyn$/]],
    ['parameters', { ...params, validations: [{ expression: 'params.data.x == "y"' }] }, []],
    ['parameters of none', { validations: [{ expression: 'params.data.x == "y"' }] }, [/undeclared reference to 'params'/]],
    ['a message', { validations: [{ expression: 'true', messageExpression: '"a" + object.metadata.name' }] }, []],
    ['a message of another type', { validations: [{ expression: 'true', messageExpression: '1' }] }, ['spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int']],
    ['a message of the authorizer', { validations: [{ expression: 'true', messageExpression: 'authorizer.path("/").check("get").reason()' }] }, [/undeclared reference to 'authorizer'/]],
    ['variables', { variables: [{ name: 'a', expression: 'object.spec.replicas' }, { name: 'b', expression: 'variables.a > 1' }], validations: [{ expression: 'variables.b' }] }, []],
    ['a variable that comes later', { variables: [{ name: 'b', expression: 'variables.a > 1' }, { name: 'a', expression: '1' }] }, [/^spec.variables\[0\].expression: Invalid value: "variables.a > 1": compilation failed: .*undefined field 'a'/]],
    ['no variables', { validations: [{ expression: 'variables.a' }] }, [/undeclared reference to 'variables'/]],
    ['a condition', { matchConditions: [{ name: 'a', expression: ' 1 ' }] }, ['spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int']],
    ['a condition with parameters', { ...params, matchConditions: [{ name: 'a', expression: 'params.data.x == "y"' }] }, []],
    ['a condition with variables', { variables: [{ name: 'a', expression: 'true' }], matchConditions: [{ name: 'a', expression: 'variables.a' }] }, [/matchConditions\[0\].expression: .*undeclared reference to 'variables'/]],
    ['an annotation', { auditAnnotations: [{ key: 'a', valueExpression: '"by " + request.userInfo.username' }] }, []],
    ['no annotation at all', { auditAnnotations: [{ key: 'a', valueExpression: 'null' }] }, []],
    ['an annotation of another type', { auditAnnotations: [{ key: 'a', valueExpression: '1' }] }, [/valueExpression: Invalid value: "1": must evaluate to one of \[string null_type\] but got int$/]],
  ])('%s', (_, change, refusals) => {
    expect(refused(change).filter((r) => !r.includes('auditAnnotations[0].key'))).toEqual(expected(refusals))
  })

  const policy = { matchConstraints: { resourceRules: [rule] }, reinvocationPolicy: 'Never' }
  const mutation = (patchType: string, expression: string) => ({ patchType, [patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration']: { expression } })
  it.each<[string, object, (string | RegExp)[]]>([
    ['an object', mutation('ApplyConfiguration', 'Object{spec: Object.spec{replicas: 1}}'), []],
    ['another type', mutation('ApplyConfiguration', '"teapot"'), ['spec.mutations[0].applyConfiguration.expression: Invalid value: "\\"teapot\\"": must evaluate to Object but got string']],
    ['a part of an object', mutation('ApplyConfiguration', 'Object.spec{}'), [/must evaluate to Object but got Object.spec$/]],
    ['patches', mutation('JSONPatch', '[JSONPatch{op: "add", path: "/a", value: {"b": 1}}]'), []],
    ['a list of nothing', mutation('JSONPatch', '[]'), [/must evaluate to list\(JSONPatch\) but got list\(dyn\)$/]],
    ['an unknown field of a patch', mutation('JSONPatch', '[JSONPatch{nope: "add"}]'), [/undefined field 'nope'/]],
    ['another object', mutation('JSONPatch', '[Thing{}]'), [/undeclared reference to 'Thing'/]],
  ])('of a mutation: %s', (_, given, refusals) => {
    const trial = new DecodedTrial(mutatingadmissionpolicies)
    expect(trial.refusals({ spec: { ...policy, mutations: [given] } })).toEqual(expected(refusals))
  })
})
