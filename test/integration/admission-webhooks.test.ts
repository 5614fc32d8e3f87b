import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemoryExchange } from './exchange.ts'
import { TestServer, configMap, configMaps, pod, pods, settle, until } from './server.ts'
import { WebhookServer } from './webhook-server.ts'

const group = '/apis/admissionregistration.k8s.io/v1'
const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['configmaps', 'pods', 'pods/status', 'deployments', 'deployments/scale', 'namespaces'] }]

let server: TestServer
let hook: WebhookServer

/** The webhook's response to a request. */
type Judge = (request: any) => object

const allow: Judge = () => ({ allowed: true })
const patch = (...operations: object[]): Judge => () => ({
  allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const answering = (judge: Judge) => (body: any) => ({
  apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: body.request.uid, ...judge(body.request) },
})
/** Answers by the path of the webhook's URL. */
const byPath = (judges: Record<string, Judge>) => (body: any, { url }: { url?: string }) => answering(judges[url!.replace(/\?.*/, '').slice(1)]!)(body)

const webhook = (name: string, more: object = {}) => ({
  name: `${name}.example.com`, sideEffects: 'None', admissionReviewVersions: ['v1'], rules: everything,
  clientConfig: { ...hook.clientConfig, url: `${hook.url}${name}` }, ...more,
})

async function configure(kind: 'Mutating' | 'Validating', name: string, ...webhooks: object[]): Promise<void> {
  const full = `${kind}WebhookConfiguration`
  const made = await server.create(`${group}/${full.toLowerCase()}s`, { apiVersion: 'admissionregistration.k8s.io/v1', kind: full, metadata: { name }, webhooks })
  expect([made.code, made.body.message]).toEqual([201, undefined])
}
const paths = () => hook.calls.map(({ path }) => path.replace(/\?.*/, '').slice(1))

beforeEach(async () => {
  server = await TestServer.start()
  hook = await WebhookServer.start(answering(allow))
})
afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
  await hook.close()
})

describe('an AdmissionReview', () => {
  it('has the object, who asks and what for', async () => {
    await configure('Validating', 'v', webhook('v'))
    await server.create(`${configMaps}?fieldManager=me`, configMap('a', { x: 'y' }))
    await server.patch(`${configMaps}/a`, { data: { x: 'z' } })
    await server.delete(`${configMaps}/a`)
    const [created, updated, deleted] = hook.calls.map(({ body }) => body)
    expect(created).toMatchObject({
      kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/), kind: { group: '', version: 'v1', kind: 'ConfigMap' }, resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' }, name: 'a', namespace: 'default', operation: 'CREATE', dryRun: false,
        userInfo: { username: 'tester', groups: ['system:masters', 'system:authenticated'] }, oldObject: null,
        object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { x: 'y' } },
        options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions', fieldManager: 'me' },
      },
    })
    expect(updated.request).toMatchObject({ operation: 'UPDATE', object: { data: { x: 'z' } }, oldObject: { data: { x: 'y' } } })
    expect(deleted.request).toMatchObject({ operation: 'DELETE', object: null, oldObject: { data: { x: 'z' } }, options: { kind: 'DeleteOptions' } })
    expect(hook.calls[0]!.path).toBe('/v?timeout=10s')
  })

  it('carries managedFields, and patches may name them', async () => {
    await configure('Validating', 'v', webhook('v'))
    await server.create(`${configMaps}?fieldManager=one`, configMap('a', { x: 'y' }))
    await server.patch(`${configMaps}/a?fieldManager=two`, { data: { z: '1' } })
    await server.delete(`${configMaps}/a`)
    const managers = (object: any) => object?.metadata.managedFields?.map(({ manager, fieldsV1 }: any) => [manager, fieldsV1])
    const one = ['one', { 'f:data': { '.': {}, 'f:x': {} } }]
    expect(hook.calls.map(({ body: { request } }) => [managers(request.object), managers(request.oldObject)])).toEqual([
      [[one], undefined], [expect.arrayContaining([one, ['two', { 'f:data': { 'f:z': {} } }]]), [one]], [undefined, expect.arrayContaining([one])],
    ])
    hook.answer = byPath({ v: allow, m: patch({ op: 'test', path: '/metadata/managedFields/0/manager', value: 'one' }, { op: 'remove', path: '/metadata/managedFields' }, add('/data/w', '1')) })
    await configure('Mutating', 'm', webhook('m'))
    const { body } = await server.create(`${configMaps}?fieldManager=one`, configMap('b', { x: 'y' }))
    expect([body.data, managers(body)]).toEqual([{ x: 'y', w: '1' }, [one]])
  })

  it('is about the Scale where the request is, and is asked in the old form where the webhook knows no other', async () => {
    hook.answer = ({ request }) => ({ apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', response: { allowed: request.object.spec.replicas < 5, status: { message: 'too many' } } })
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    await server.create('/apis/apps/v1/namespaces/default/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } })
    await configure('Validating', 'v', webhook('v', { admissionReviewVersions: ['v3', 'v1beta1'] }))
    const { code, body } = await server.patch('/apis/apps/v1/namespaces/default/deployments/d/scale', { spec: { replicas: 9 } })
    expect([code, body.message]).toEqual([400, 'admission webhook "v.example.com" denied the request: too many'])
    expect(hook.calls[0]!.body.request).toMatchObject({ kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, subResource: 'scale', object: { kind: 'Scale', spec: { replicas: 9 } } })
  })
})

describe('validating webhooks', () => {
  it.each<[string, object, number, string, string]>([
    ['without words', {}, 400, '', 'without explanation'],
    ['with a message', { message: 'no' }, 400, '', ': no'],
    ['with a reason', { reason: 'Forbidden', code: 403 }, 403, 'Forbidden', ': Forbidden'],
    ['with a code of success', { code: 200, message: 'no' }, 400, '', ': no'],
    ['with a code of its own', { code: 418, message: 'short and stout' }, 418, '', ': short and stout'],
  ])('refuse %s', async (_name, status, code, reason, text) => {
    await configure('Validating', 'v', webhook('v'))
    hook.answer = answering(() => ({ allowed: false, status }))
    const refused = await server.create(configMaps, configMap('a'))
    expect([refused.code, refused.body.reason ?? '', refused.body.message]).toEqual([code, reason, `admission webhook "v.example.com" denied the request${text.startsWith(':') ? '' : ' '}${text}`])
    expect((await server.get(`${configMaps}/a`)).code).toBe(404)
  })

  it('are asked at the same time', async () => {
    let waiting = 0
    await configure('Validating', 'v', webhook('a'), webhook('b'))
    hook.answer = async (body) => {
      waiting++
      await until('both were asked', () => waiting === 2)
      return answering(allow)(body)
    }
    expect((await server.create(configMaps, configMap('a'))).code).toBe(201)
  })

  it('warn, and say something for the audit log', async () => {
    await configure('Validating', 'v', webhook('v'))
    hook.answer = answering(() => ({ allowed: true, warnings: ['careful'], auditAnnotations: { key: 'value' } }))
    expect((await server.create(configMaps, configMap('a'))).warnings).toEqual(['299 - "careful"'])
  })

  it('see what mutating ones have made, and change nothing', async () => {
    await configure('Mutating', 'm', webhook('m'))
    await configure('Validating', 'v', webhook('v'))
    hook.answer = byPath({ m: patch(add('/data', { added: 'yes' })), v: allow })
    await server.create(configMaps, configMap('a'))
    expect(hook.calls.at(-1)!.body.request.object.data).toEqual({ added: 'yes' })
    hook.answer = byPath({ m: allow, v: patch(add('/data', {})) })
    const { code, body } = await server.create(configMaps, configMap('b'))
    expect([code, body.message]).toEqual([500, 'Internal error occurred: failed calling webhook "v.example.com": received invalid webhook response: validating webhook may not return response.patch'])
  })
})

describe('mutating webhooks', () => {
  it('change what is stored, which is read and defaulted anew', async () => {
    await configure('Mutating', 'm', webhook('m'))
    const container = { name: 'sidecar', image: 'busybox', unknownField: 1 }
    hook.answer = answering(patch(add('/spec/containers/-', container), add('/metadata/labels', { from: 'hook' })))
    const { code, body } = await server.create(pods, pod('a'))
    expect([code, body.metadata.labels]).toEqual([201, { from: 'hook' }])
    expect(body.spec.containers[1]).toEqual({ name: 'sidecar', image: 'busybox', imagePullPolicy: 'Always', resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' })
  })

  it('are asked one after the other, by the names of their configurations, each with what those before have made', async () => {
    await configure('Mutating', 'b', webhook('third', { objectSelector: { matchLabels: { first: 'was-here' } } }))
    await configure('Mutating', 'a', webhook('first'), webhook('second', { objectSelector: { matchLabels: { nobody: 'has-it' } } }))
    hook.answer = byPath({ first: patch(add('/metadata/labels', { first: 'was-here' })), third: patch(add('/data', { saw: 'it' })) })
    const { body } = await server.create(configMaps, configMap('a'))
    expect([body.metadata.labels, body.data, paths()]).toEqual([{ first: 'was-here' }, { saw: 'it' }, ['first', 'third']])
  })

  it('are asked again where a later one has changed something, if they want to', async () => {
    await configure('Mutating', 'm', webhook('again', { reinvocationPolicy: 'IfNeeded' }), webhook('once'), webhook('last', { reinvocationPolicy: 'IfNeeded' }))
    hook.answer = byPath({ again: allow, once: patch(add('/metadata/annotations', { once: 'yes' })), last: allow })
    await server.create(configMaps, configMap('a'))
    expect(paths()).toEqual(['again', 'once', 'last', 'again'])
    expect(hook.calls.at(-1)!.body.request.object.metadata.annotations).toEqual({ once: 'yes' })
  })

  it('judge what is deleted, and cannot change it', async () => {
    await server.create(configMaps, configMap('a'))
    await configure('Mutating', 'm', webhook('m'))
    hook.answer = answering(patch(add('/data', {})))
    const { code, body } = await server.delete(`${configMaps}/a`)
    expect([code, body.message]).toEqual([500, 'Internal error occurred: admission webhook "m.example.com" attempted to modify the object, which is not supported for this operation'])
    hook.answer = answering(() => ({ allowed: false, status: { message: 'it stays' } }))
    expect((await server.delete(`${configMaps}/a`)).body.message).toBe('admission webhook "m.example.com" denied the request: it stays')
  })

  it('do not change who manages which fields', async () => {
    await configure('Mutating', 'm', webhook('m'))
    const entry = { manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }
    hook.answer = answering(patch(add('/metadata/managedFields', [entry]), add('/data', { a: 'b' })))
    const { code, body } = await server.create(`${configMaps}?fieldManager=me`, configMap('a', { x: 'y' }))
    expect([code, body.data, body.metadata.managedFields.map((entry: any) => entry.manager)]).toEqual([201, { a: 'b' }, ['me']])
  })

  it.each<[string, Judge, string]>([
    ['a patch without its type', () => ({ allowed: true, patch: 'W10=' }), 'failed calling webhook "m.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType'],
    ['a type without a patch', () => ({ allowed: true, patchType: 'JSONPatch' }), 'failed calling webhook "m.example.com": received invalid webhook response: webhook returned response.patchType but not response.patch'],
    ['a patch of another type', () => ({ allowed: true, patchType: 'MergePatch', patch: Buffer.from('[{}]').toString('base64') }), 'failed calling webhook "m.example.com": unsupported patch type "MergePatch"'],
    ['a patch that is no JSON', () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('nope').toString('base64') }), 'failed calling webhook "m.example.com": received undecodable patch in webhook response: invalid character \'o\' in literal null (expecting \'u\')'],
    ['a patch of something that is not there', patch({ op: 'remove', path: '/data/x/y' }), 'remove operation does not apply: doc is missing path: "/data/x/y": missing value'],
  ])('are refused %s', async (_name, judge, message) => {
    await configure('Mutating', 'm', webhook('m'))
    hook.answer = answering(judge)
    const { code, body } = await server.create(configMaps, configMap('a'))
    expect([code, body.message]).toEqual([500, `Internal error occurred: ${message}`])
  })
})

describe('a webhook that fails', () => {
  interface Trouble {
    answer?: (body: any, request: any, response: any) => unknown
    clientConfig?: () => object
    isSlow?: boolean
    message: () => string
  }
  const call = (why: string) => `failed calling webhook "x.example.com": failed to call webhook: ${why}`
  const troubles: Record<string, Trouble> = {
    'answers 500': {
      answer: (_body, _request, response) => void response.writeHead(500).end('boom'),
      message: () => call('an error on the server ("boom") has prevented the request from succeeding'),
    },
    'answers no JSON': { answer: () => 'oops', message: () => call("couldn't get version/kind; json parse error: invalid character 'o' looking for beginning of value") },
    'answers to another question': {
      answer: () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'another', allowed: true } }),
      message: () => `failed calling webhook "x.example.com": received invalid webhook response: expected response.uid="${hook.calls.at(-1)!.body.request.uid}", got "another"`,
    },
    'answers nothing': { answer: () => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }), message: () => 'failed calling webhook "x.example.com": received invalid webhook response: webhook response was absent' },
    ...Object.fromEntries(([
      ['a text for a boolean', { allowed: 'false' }, 'cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool'],
      ['a number for a boolean', { allowed: 1 }, 'cannot unmarshal number into Go struct field AdmissionResponse.response.allowed of type bool'],
      ['a number for a uid', { uid: 5 }, 'cannot unmarshal number into Go struct field AdmissionResponse.response.uid of type types.UID'],
      ['a number for warnings', { warnings: 5 }, 'cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type []string'],
      ['a number for a warning', { warnings: ['a', 5] }, 'cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type string'],
      ['a number for a patch', { patch: 5 }, 'cannot unmarshal number into Go struct field AdmissionResponse.response.patch of type []uint8'],
      ['an object for the type of a patch', { patchType: {} }, 'cannot unmarshal object into Go struct field AdmissionResponse.response.patchType of type v1.PatchType'],
      ['a list for audit annotations', { auditAnnotations: ['a'] }, 'cannot unmarshal array into Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string'],
      ['a text for a status', { allowed: false, status: 'no' }, 'cannot unmarshal string into Go struct field AdmissionResponse.response.status of type v1.Status'],
      ['a text for a code', { allowed: false, status: { code: '403' } }, 'cannot unmarshal string into Go struct field Status.response.status.code of type int32'],
    ] as const).map(([name, response, why]): [string, Trouble] => [`answers ${name}`, {
      answer: answering(() => ({ allowed: true, ...response })), message: () => call(`json: ${why}`),
    }])),
    'is slow': { answer: () => new Promise(() => {}), isSlow: true, message: () => call(`Post "${hook.url}x?timeout=2s": context deadline exceeded`) },
    'has a wrong certificate': { clientConfig: () => ({ url: `${hook.url}x` }), message: () => call(`Post "${hook.url}x?timeout=2s": tls: failed to verify certificate: x509: certificate signed by unknown authority`) },
    'is away': { clientConfig: () => ({ url: 'https://127.0.0.1:1/x' }), message: () => call('Post "https://127.0.0.1:1/x?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused') },
    'has no service': { clientConfig: () => ({ service: { namespace: 'default', name: 'none' } }), message: () => call('Post "https://none.default.svc:443?timeout=2s": service "none" not found') },
  }
  const cases = (['Mutating', 'Validating'] as const).flatMap((kind) => Object.keys(troubles).map((name) => [kind, name] as const))

  it.each(cases)('%s, %s', async (kind, name) => {
    const { answer, clientConfig, isSlow, message } = troubles[name]!
    if (answer) hook.answer = answer
    const config = (failurePolicy: string) => webhook('x', { failurePolicy, timeoutSeconds: 2, ...(clientConfig ? { clientConfig: clientConfig() } : {}) })
    const create = async (object: object) => {
      const before = hook.calls.length
      const made = server.create(configMaps, object)
      if (isSlow) {
        await until('the webhook is asked', () => hook.calls.length > before)
        await server.clock.advance(2000)
      }
      return made
    }
    await configure(kind, 'c', config('Fail'))
    const refused = await create(configMap('a'))
    expect([refused.code, refused.body.reason, refused.body.message]).toEqual([500, 'InternalError', `Internal error occurred: ${message()}`])
    await server.delete(`${group}/${kind.toLowerCase()}webhookconfigurations/c`)
    await configure(kind, 'c', config('Ignore'))
    expect((await create(configMap('a'))).code).toBe(201)
    const type = kind === 'Mutating' ? 'admit' : 'validating'
    expect(await server.metric('apiserver_admission_webhook_fail_open_count', { name: 'x.example.com', type })).toBe(1)
    expect(await server.metric('apiserver_admission_webhook_rejection_count', { name: 'x.example.com', type, error_type: 'calling_webhook_error' })).toBe(1)
  })
})

it('a webhook does not fail open for a client that has left', async () => {
  await configure('Validating', 'c', webhook('x', { failurePolicy: 'Ignore' }))
  hook.answer = () => new Promise(() => {})
  const exchange = new MemoryExchange({ method: 'POST', url: configMaps, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(configMap('a'))) })
  const handled = server.api.handle(exchange)
  await until('the webhook is asked', () => hook.calls.length === 1)
  exchange.hangUp()
  await handled
  await settle()
  expect((await server.get(`${configMaps}/a`)).code).toBe(404)
  expect(await server.metric('apiserver_admission_webhook_fail_open_count', { name: 'x.example.com' })).toBeUndefined()
})

describe('which requests webhooks are asked about', () => {
  it('those of an eviction, and not the delete that follows', async () => {
    await server.create(pods, pod('a'))
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods', 'pods/eviction'] }]
    await configure('Validating', 'v', webhook('v', { rules }))
    const evicted = await server.create(`${pods}/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } })
    expect(evicted.code).toBe(201)
    expect(hook.calls.map(({ body: { request } }) => [request.operation, request.subResource])).toEqual([['CREATE', 'eviction']])
  })

  it('dry runs only where they have no side effects', async () => {
    await configure('Validating', 'v', webhook('none'), webhook('dry', { sideEffects: 'NoneOnDryRun' }))
    expect((await server.create(`${configMaps}?dryRun=All`, configMap('a'))).code).toBe(201)
    expect(hook.calls.map(({ body }) => body.request.dryRun)).toEqual([true, true])
  })

  it('those that match conditions, by namespace and by kind', async () => {
    await configure('Validating', 'v',
      webhook('cond', { matchConditions: [{ name: 'c', expression: "object.metadata.name.startsWith('a')" }] }),
      webhook('elsewhere', { namespaceSelector: { matchLabels: { team: 'x' } } }),
      webhook('pods', { rules: [{ ...everything[0], resources: ['pods'] }] }))
    await server.create(configMaps, configMap('apple'))
    await server.create(configMaps, configMap('pear'))
    expect(paths()).toEqual(['cond'])
  })

  it('a condition that fails refuses, or lets pass, by the failure policy', async () => {
    const matchConditions = [{ name: 'c', expression: "object.metadata.labels['x'] == 'y'" }]
    await configure('Validating', 'v', webhook('v', { matchConditions }))
    const refused = await server.create(configMaps, configMap('a'))
    expect([refused.code, refused.body.message]).toEqual([403, expect.stringContaining('configmaps "a" is forbidden: ')])
    await server.delete(`${group}/validatingwebhookconfigurations/v`)
    await configure('Validating', 'v', webhook('v', { matchConditions, failurePolicy: 'Ignore' }))
    expect((await server.create(configMaps, configMap('a'))).code).toBe(201)
    expect(hook.calls).toEqual([])
  })

  it('never their own configuration, so that it can be mended', async () => {
    await configure('Validating', 'v', webhook('v', { rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }] }))
    hook.answer = answering(() => ({ allowed: false }))
    expect((await server.delete(`${group}/validatingwebhookconfigurations/v`)).code).toBe(200)
    expect(hook.calls).toEqual([])
  })

  it('an equivalent version, in the version that the rule names', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }]
    await configure('Mutating', 'm', webhook('m', { rules, matchPolicy: 'Equivalent' }))
    hook.answer = answering(patch(add('/spec/targetCPUUtilizationPercentage', 55)))
    const { code, body } = await server.create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    })
    expect(hook.calls[0]!.body.request).toMatchObject({ kind: { group: 'autoscaling', version: 'v1' }, requestKind: { version: 'v2' }, object: { apiVersion: 'autoscaling/v1' } })
    expect([code, body.apiVersion, body.spec.metrics[0].resource.target.averageUtilization]).toEqual([201, 'autoscaling/v2', 55])
  })
})

describe('a connection', () => {
  const connecting = ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/proxy', 'services/proxy', 'nodes/proxy']
  const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: connecting }]
  const rows: [url: string, kind: string, subresource: string, options: object][] = [
    [`${pods}/a/exec?command=sh&command=-c&stdin=true&container=main`, 'PodExecOptions', 'exec', { command: ['sh', '-c'], stdin: true, container: 'main' }],
    [`${pods}/a/attach?stdout=true`, 'PodAttachOptions', 'attach', { stdout: true }],
    [`${pods}/a/portforward?ports=80`, 'PodPortForwardOptions', 'portforward', { ports: [80] }],
    [`${pods}/a/proxy/x`, 'PodProxyOptions', 'proxy', { path: '/x' }],
    ['/api/v1/namespaces/default/services/s:80/proxy/x', 'ServiceProxyOptions', 'proxy', { path: '/x' }],
    ['/api/v1/nodes/n/proxy/x', 'NodeProxyOptions', 'proxy', { path: '/x' }],
  ]
  it.each(rows)('%s is told to webhooks, which may refuse it', async (url, kind, subResource, options) => {
    await server.create(pods, pod('a'))
    await configure('Validating', 'v', webhook('v', { rules }))
    await server.get(url)
    expect(hook.calls).toHaveLength(1)
    const { request } = hook.calls[0]!.body
    expect(request).toMatchObject({ operation: 'CONNECT', subResource, kind: { group: '', version: 'v1', kind }, object: { kind, apiVersion: 'v1', ...options }, oldObject: null, options: null })
    hook.answer = answering(() => ({ allowed: false, status: { message: 'nobody connects', code: 403 } }))
    const refused = await server.get(url)
    expect([refused.code, refused.body.message]).toEqual([403, 'admission webhook "v.example.com" denied the request: nobody connects'])
  })

  it('is what a mutating webhook is asked about, too, and cannot change', async () => {
    await server.create(pods, pod('a'))
    await configure('Mutating', 'm', webhook('m', { rules }))
    const open = await server.get(`${pods}/a/exec?command=sh`)
    expect([hook.calls.length, open.body.message]).toEqual([1, 'pod a does not have a host assigned'])
  })
})
