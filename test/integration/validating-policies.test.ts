import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods, settle } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const group = '/apis/admissionregistration.k8s.io/v1'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const onConfigMaps = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }] }

/** Makes a policy and a binding of the same name. */
async function bind(name: string, spec: object, binding: object = {}): Promise<void> {
  const policy = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name }, spec: { matchConstraints: onConfigMaps, ...spec } }
  const made = await server.create(`${group}/validatingadmissionpolicies`, policy)
  expect(made.body.message).toBeUndefined()
  await bindTo(name, name, binding)
}

async function bindTo(policyName: string, name: string, binding: object): Promise<void> {
  const spec = { policyName, validationActions: ['Deny'], ...binding }
  const made = await server.create(`${group}/validatingadmissionpolicybindings`, { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec })
  expect(made.body.message).toBeUndefined()
}

const validation = (expression: string, more: object = {}) => ({ validations: [{ expression, ...more }] })
const create = (name = 'a', data: Record<string, string> = {}, labels?: Record<string, string>) => server.create(configMaps, configMap(name, data, labels))

describe('a bound policy', () => {
  it('refuses in the words of Kubernetes', async () => {
    await bind('short', validation("size(object.metadata.name) < 3", { message: ' names are short ' }))
    const reply = await create('long')
    const why = "ValidatingAdmissionPolicy 'short' with binding 'short' denied request: names are short"
    expect(reply.body).toEqual({
      kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure',
      message: `configmaps "long" is forbidden: ${why}`,
      reason: 'Invalid', code: 422,
      details: { name: 'long', kind: 'configmaps', causes: [{ message: why }] },
    })
    expect((await create('ok')).code).toBe(201)
  })

  it.each([
    ['Forbidden', 403], ['Invalid', 422], ['RequestEntityTooLarge', 413],
  ])('refuses for the reason %s with %i', async (reason, code) => {
    await bind('p', validation('false', { reason }))
    expect((await create()).body).toMatchObject({ reason, code })
  })

  it.each([
    ['the expression, without a message', { expression: ' 1 == 2 ' }, 'failed expression: 1 == 2'],
    ['its message', { expression: 'false', message: 'no' }, 'no'],
    ['what its messageExpression makes', { expression: 'false', message: 'no', messageExpression: "'not ' + object.metadata.name" }, 'not a'],
    ['its message, where the messageExpression fails', { expression: 'false', message: 'no', messageExpression: 'string(object.nope)' }, 'no'],
    ['its message, where the messageExpression is empty', { expression: 'false', message: 'no', messageExpression: "' '" }, 'no'],
    ['its message, where the messageExpression has two lines', { expression: 'false', message: 'no', messageExpression: "'a\\nb'" }, 'no'],
  ])('says %s', async (_, given, message) => {
    await bind('p', { validations: [given] })
    expect((await create()).body.details.causes).toEqual([{ message: `ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ${message}` }])
  })

  it('holds from the request after it is made until it is gone, without a restart', async () => {
    await bind('p', validation('false'))
    expect((await create()).code).toBe(422)
    await server.delete(`${group}/validatingadmissionpolicybindings/p`)
    expect((await create('a')).code).toBe(201)
    await bindTo('p', 'q', {})
    expect((await create('b')).code).toBe(422)
    await server.patch(`${group}/validatingadmissionpolicies/p`, { spec: { validations: [{ expression: 'true' }] } })
    expect((await create('b')).code).toBe(201)
    await server.delete(`${group}/validatingadmissionpolicies/p`)
    expect((await create('c')).code).toBe(201)
  })

  it('warns where its binding says Warn, and lets the request pass', async () => {
    await bind('p', validation('false', { message: 'no' }), { validationActions: ['Warn'] })
    const reply = await create()
    expect(reply.code).toBe(201)
    expect(reply.warnings).toEqual([`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no"`])
  })

  it('is asked in the order of names, and the first refusal counts', async () => {
    await bind('b', validation('false', { message: 'b' }))
    await bind('a', validation('false', { message: 'a' }))
    expect((await create()).body.message).toContain("ValidatingAdmissionPolicy 'a' with binding 'a'")
  })

  it('never judges policies and bindings', async () => {
    const all = { resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }] }
    await bind('p', { matchConstraints: all, ...validation('false') })
    expect((await create()).code).toBe(422)
    expect((await server.delete(`${group}/validatingadmissionpolicybindings/p`)).code).toBe(200)
    expect((await create()).code).toBe(201)
  })
})

describe('expressions of a policy', () => {
  it.each([
    ['object and request of a create', "oldObject == null && object.data.k == 'v' && request.operation == 'CREATE' && request.kind.kind == 'ConfigMap'", true],
    ['the resource of a request', "request.resource == request.requestResource && request.resource.resource == 'configmaps' && request.name == 'a'", true],
    ['the options of a request', "request.options.kind == 'CreateOptions' && request.options.fieldManager == 'me'", true],
    ['the user', "'system:masters' in request.userInfo.groups", true],
    ['the namespace', "namespaceObject.metadata.name == 'default' && namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'", true],
    ['the authorizer', "authorizer.group('').resource('pods').namespace('default').check('create').allowed()", true],
    ['what the user may do with the very object', "authorizer.requestResource.check('delete').allowed()", true],
    ['the type of an object', "object.apiVersion == 'v1' && object.kind == 'ConfigMap'", true],
    ['nothing that is not there', '!has(object.binaryData) && !has(request.subResource)', true],
  ])('see %s', async (_, expression, isFine) => {
    await bind('p', validation(expression))
    const reply = await server.create(`${configMaps}?fieldManager=me`, configMap('a', { k: 'v' }))
    expect([reply.code, reply.body.message]).toEqual([isFine ? 201 : 422, isFine ? undefined : expect.anything()])
  })

  it('use variables, each made of those before it, computed once and only if they are used', async () => {
    await bind('p', {
      variables: [
        { name: 'size', expression: 'has(object.data) ? size(object.data) : 0' },
        { name: 'isLarge', expression: 'variables.size > 1' },
        { name: 'broken', expression: 'object.nope.never' },
      ],
      validations: [
        { expression: '!variables.isLarge', messageExpression: "'has ' + string(variables.size)" },
        { expression: "variables.size == 0 || variables.broken == 'x'" },
      ],
    })
    expect((await create('a')).code).toBe(201)
    expect((await create('b', { k: 'v', l: 'v' })).body.message).toContain('denied request: has 2')
    expect((await create('b', { k: 'v' })).body.message).toContain(
      `denied request: expression 'variables.size == 0 || variables.broken == 'x'' resulted in error: composited variable "broken" fails to evaluate: no such key: nope`,
    )
  })

  it('are not evaluated where a match condition is false', async () => {
    const matchConditions = [{ name: 'only-large', expression: 'size(object.data) > 1' }]
    await bind('p', { matchConditions, ...validation('false') })
    expect((await create('a', { k: 'v' })).code).toBe(201)
    expect((await create('b', { k: 'v', l: 'v' })).code).toBe(422)
    expect((await create('c')).body.message).toContain("expression 'size(object.data) > 1' resulted in error: no such key: data")
  })

  it.each([
    ['Fail', 422], ['Ignore', 201],
  ])('that fail are judged by the failure policy %s', async (failurePolicy, code) => {
    await bind('p', { failurePolicy, ...validation('object.nope == 1') })
    const reply = await create()
    expect(reply.code).toBe(code)
    if (code === 422) expect(reply.body.message).toContain("denied request: expression 'object.nope == 1' resulted in error: no such key: nope")
  })

  it('share a budget', async () => {
    const list = `[${Array.from({ length: 250 }, (_, i) => i).join(', ')}]`
    const costly = `${list}.all(a, ${list}.all(b, a + b >= 0))`
    await bind('p', { validations: Array.from({ length: 40 }, () => ({ expression: costly })) })
    expect((await create()).body.message).toContain('denied request: validation failed due to running out of cost budget, no further validation rules will be run')
  })

  it('see old and new objects of updates, deletes and subresources', async () => {
    const rules = (operations: string[], resources: string[]) => ({ resourceRules: [{ apiGroups: ['', 'apps', 'policy', 'autoscaling'], apiVersions: ['*'], operations, resources }] })
    await server.create(configMaps, configMap('a', { k: '1' }))
    await bind('grow', { matchConstraints: rules(['UPDATE'], ['configmaps']), ...validation('int(object.data.k) > int(oldObject.data.k)') })
    expect((await server.patch(`${configMaps}/a`, { data: { k: '2' } })).code).toBe(200)
    expect((await server.patch(`${configMaps}/a`, { data: { k: '1' } })).code).toBe(422)
    await bind('stay', { matchConstraints: rules(['DELETE'], ['configmaps']), ...validation("object == null && oldObject.data.k != '2' && request.options.kind == 'DeleteOptions'", { reason: 'Forbidden' }) })
    expect((await server.delete(`${configMaps}/a`)).code).toBe(403)
    expect((await server.delete(configMaps)).code).toBe(403)

    const labels = { app: 'w' }
    await server.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' }, spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } } })
    await bind('scale', { matchConstraints: rules(['UPDATE'], ['deployments/scale']), ...validation("object.kind == 'Scale' && request.kind.group == 'autoscaling' && object.spec.replicas <= 3") })
    expect((await server.patch(`${deployments}/w/scale`, { spec: { replicas: 3 } })).code).toBe(200)
    expect((await server.patch(`${deployments}/w/scale`, { spec: { replicas: 4 } })).code).toBe(422)
    expect((await server.patch(`${deployments}/w`, { spec: { replicas: 4 } })).code).toBe(200)

    await server.create(pods, pod('x'))
    await bind('keep', { matchConstraints: rules(['CREATE'], ['pods/eviction']), ...validation("request.kind.kind != 'Eviction' || object.metadata.name != 'x'") })
    const evicted = await server.create(`${pods}/x/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'x' } })
    expect(evicted.body.message).toContain(`pods "x" is forbidden: ValidatingAdmissionPolicy 'keep'`)
    await bind('status', { matchConstraints: rules(['UPDATE'], ['pods/status']), ...validation("object.status.phase != 'Running'") })
    expect((await server.patch(`${pods}/x/status`, { status: { phase: 'Running' } })).code).toBe(422)
  })
})

describe('parameters', () => {
  const limits = (name: string, max: string, labels?: Record<string, string>) => server.create(configMaps, configMap(name, { max }, labels))
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const onPods = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }] }
  const spec = { paramKind, matchConstraints: onPods, ...validation("params == null || size(object.metadata.name) <= int(params.data.max)", { messageExpression: "'at most ' + params.data.max" }) }
  const createPod = async (name: string) => (await server.create(pods, pod(name))).body.details?.causes[0].message.replace(/^.*denied request: /, '') ?? 'created'

  it('are taken by name, in the namespace of the request or another', async () => {
    await limits('limits', '3')
    await bind('p', spec, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
    expect(await createPod('abc')).toBe('created')
    expect(await createPod('abcd')).toBe('at most 3')
    await server.patch(`${configMaps}/limits`, { data: { max: '4' } })
    expect(await createPod('abcd')).toBe('created')
    await bindTo('p', 'q', { paramRef: { name: 'limits', namespace: 'kube-system', parameterNotFoundAction: 'Deny' } })
    expect(await createPod('a')).toBe('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction')
  })

  it('are taken by labels, and each of them counts', async () => {
    await limits('l1', '3', { limits: 'yes' })
    await limits('l2', '5', { limits: 'yes' })
    await limits('l3', '1', { limits: 'no' })
    await bind('p', spec, { paramRef: { selector: { matchLabels: { limits: 'yes' } }, parameterNotFoundAction: 'Deny' } })
    expect(await createPod('abc')).toBe('created')
    expect(await createPod('abcd')).toBe('at most 3')
  })

  it('may be missing', async () => {
    await bind('p', { ...spec, ...validation('false') }, { paramRef: { name: 'limits', parameterNotFoundAction: 'Allow' } })
    expect(await createPod('abcd')).toBe('created')
  })

  it('are null where the binding names none', async () => {
    await bind('p', spec, {})
    expect(await createPod('abcd')).toBe('created')
  })

  it('must be of a kind that is served', async () => {
    await bind('p', { ...spec, paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' } }, { paramRef: { name: 'l', parameterNotFoundAction: 'Deny' } })
    const reply = await server.create(pods, pod('a'))
    expect(reply.body.details.causes[0].message).toBe("ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Limit'")
  })

  it('have no namespace where their kind has none', async () => {
    const onNamespaces = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['namespaces'] }] }
    await bind('p', { ...spec, paramKind: { apiVersion: 'v1', kind: 'Node' } }, { paramRef: { name: 'n', namespace: 'default', parameterNotFoundAction: 'Deny' } })
    expect(await createPod('a')).toContain('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
    await bind('q', { ...spec, matchConstraints: onNamespaces }, { paramRef: { selector: {}, parameterNotFoundAction: 'Deny' } })
    const { body } = await server.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
    expect(body.message).toContain('no params found for policy binding')
  })
})

describe('bindings', () => {
  it('narrow what a policy is about', async () => {
    await bind('p', validation('false'), { matchResources: { objectSelector: { matchLabels: { strict: 'yes' } } } })
    expect((await create('a')).code).toBe(201)
    expect((await create('b', {}, { strict: 'yes' })).code).toBe(422)
    await server.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'shop' } } })
    await bindTo('p', 'q', { matchResources: { namespaceSelector: { matchLabels: { team: 'shop' } } } })
    expect((await server.create('/api/v1/namespaces/shop/configmaps', configMap('a'))).body.message).toContain("with binding 'q'")
    expect((await create('c')).code).toBe(201)
  })
})

describe('metrics', () => {
  it('count refusals and warnings by policy and binding', async () => {
    await bind('p', validation('false'))
    await bindTo('p', 'warns', { validationActions: ['Warn', 'Audit'] })
    await create()
    const name = 'apiserver_validating_admission_policy_check_total'
    expect(await server.metric(name, { policy: 'p', policy_binding: 'p', enforcement_action: 'deny', error_type: 'no_error' })).toBe(1)
    expect(await server.metric(name, { policy_binding: 'warns', enforcement_action: 'warn' })).toBe(1)
    expect(await server.metric(name, { policy_binding: 'warns', enforcement_action: 'audit' })).toBe(1)
  })
})

describe('connections', () => {
  const onConnect = (resources: string[]) => ({ resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources }] })

  it('are judged before they are opened', async () => {
    await server.create(pods, pod('a'))
    await bind('p', { matchConstraints: onConnect(['pods/exec', 'pods/proxy']), ...validation("object.kind == 'PodProxyOptions' ? object.path != '/secret' : !('sh' in object.command) || has(object.tty)") })
    const refused = await server.get(`${pods}/a/exec?command=sh&stdin=true`)
    expect(refused.body.message).toMatch(/^pods "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression/)
    expect((await server.get(`${pods}/a/exec?command=sh&tty=true`)).body.message).toBe('pod a does not have a host assigned')
    expect((await server.get(`${pods}/a/portforward?ports=80`)).body.message).toBe('pod a does not have a host assigned')
    expect((await server.get(`${pods}/a:80/proxy/secret`)).body.message).toContain("ValidatingAdmissionPolicy 'p'")
    expect((await server.get(`${pods}/a:80/proxy/open`)).body.message).not.toContain('ValidatingAdmissionPolicy')
  })
})

describe('type checking', () => {
  const onDeployments = { resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments', 'replicasets'] }] }
  const checked = async () => {
    server.clock.advance(1000)
    await settle()
  }
  const warnings = async (spec: object) => {
    await bind('p', { matchConstraints: onDeployments, ...spec })
    await checked()
    const { body } = await server.get(`${group}/validatingadmissionpolicies/p`)
    expect(body.status.observedGeneration).toBe(body.metadata.generation)
    return body.status.typeChecking
  }

  it('warns of what the kinds do not have', async () => {
    expect(await warnings({ validations: [{ expression: 'object.spec.strategy.type == "x"' }, { expression: 'object.spec.replicas > "1"', messageExpression: 'string(object.metadata.nme)' }] })).toEqual({
      expressionWarnings: [
        { fieldRef: 'spec.validations[0].expression', warning: "apps/v1, Kind=ReplicaSet: ERROR: <input>:1:12: undefined field 'strategy'\n | object.spec.strategy.type == \"x\"\n | ...........^\n" },
        { fieldRef: 'spec.validations[1].expression', warning: expect.stringMatching(/^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '\(int, string\)'\n.*\n.*\n\napps\/v1, Kind=ReplicaSet: ERROR/) },
        { fieldRef: 'spec.validations[1].messageExpression', warning: expect.stringContaining("undefined field 'nme'") },
      ],
    })
  })

  it.each([
    ['what they have', { validations: [{ expression: "object.spec.template.spec.containers.all(c, c.image.startsWith('x') && has(c.resources.limits)) && object.metadata.labels['a'] == 'b' && object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')" }] }],
    ['variables and parameters', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, variables: [{ name: 'max', expression: 'int(params.data["max"])' }], validations: [{ expression: 'object.spec.replicas <= variables.max' }] }],
    ['wildcards', { matchConstraints: { resourceRules: [{ apiGroups: ['*'], apiVersions: ['v1'], operations: ['*'], resources: ['deployments'] }] }, validations: [{ expression: 'object.nope == 1' }] }],
  ])('says nothing of %s', async (_, spec) => {
    expect(await warnings(spec)).toEqual({})
  })

  it('knows custom kinds, and checks again when the policy changes', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'boats.x.io' },
      spec: { group: 'x.io', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { seats: { type: 'integer' } } } } }] },
    }
    await server.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    const onBoats = { resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['*'], resources: ['boats'] }] }
    expect(await warnings({ matchConstraints: onBoats, ...validation("object.seats == 'x' || object.metadata.uid == ''") })).toMatchObject({ expressionWarnings: [{ fieldRef: 'spec.validations[0].expression' }] })
    await server.patch(`${group}/validatingadmissionpolicies/p`, { spec: { validations: [{ expression: 'object.seats > 1' }] } })
    await checked()
    const { body } = await server.get(`${group}/validatingadmissionpolicies/p`)
    expect([body.status.observedGeneration, body.status.typeChecking]).toEqual([2, {}])
  })
})
