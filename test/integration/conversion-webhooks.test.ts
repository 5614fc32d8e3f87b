import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Line, TestServer, type TestWatch, settle, until } from './server.ts'
import { WebhookServer } from './webhook-server.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const group = 'example.com'
const url = (version: string, rest = '') => `/apis/${group}/${version}/namespaces/default/boats${rest}`

let server: TestServer
let hook: WebhookServer

/** v1 has `spec.host` and `spec.port`, v2 has `spec.address`. */
function converted(object: any, to: string): any {
  const { spec = {}, ...rest } = object
  const target = { ...rest, apiVersion: to }
  if (to.endsWith('/v2')) {
    const { host = '', port = 0, ...more } = spec
    return { ...target, spec: { ...more, address: `${host}:${port}` } }
  }
  const { address = ':0', ...more } = spec
  const [host, port] = address.split(':')
  return { ...target, spec: { ...more, host, port: Number(port) } }
}

const answerTo = ({ request }: any, objects: unknown[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview',
  response: { uid: request.uid, result: { status: 'Success' }, convertedObjects: objects },
})
const honest = (body: any) => answerTo(body, body.request.objects.map((o: any) => converted(o, body.request.desiredAPIVersion)))

const properties: Record<string, object> = {
  v1: { host: { type: 'string' }, port: { type: 'integer' }, sails: { type: 'integer' } },
  v2: { address: { type: 'string' }, sails: { type: 'integer' }, mood: { type: 'string', default: 'calm' } },
}
const version = (name: string, storage: boolean, more: object = {}) => ({
  name, served: true, storage, ...more,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: properties[name] }, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.sails', statusReplicasPath: '.status.sails' } },
  additionalPrinterColumns: [{ name: 'Where', type: 'string', jsonPath: name === 'v1' ? '.spec.host' : '.spec.address' }],
  selectableFields: [{ jsonPath: name === 'v1' ? '.spec.host' : '.spec.address' }],
})
const definition = (storage: 'v1' | 'v2', more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `boats.${group}` },
  spec: {
    group, scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat', listKind: 'Fleet', ...more },
    versions: [version('v1', storage === 'v1', { deprecated: true }), version('v2', storage === 'v2')],
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: hook.clientConfig } },
  },
})
const v1 = (name: string, spec: object = { host: 'quay', port: 7 }) => ({ apiVersion: `${group}/v1`, kind: 'Boat', metadata: { name }, spec })
const v2 = (name: string, spec: object = { address: 'quay:7' }) => ({ apiVersion: `${group}/v2`, kind: 'Boat', metadata: { name }, spec })

async function define(storage: 'v1' | 'v2'): Promise<void> {
  const made = await server.create(definitions, definition(storage))
  expect([made.code, made.body.message]).toEqual([201, undefined])
  await settle()
}

/** The next lines of a watch, once so many have come. */
async function lines(watch: TestWatch, count: number): Promise<Line[]> {
  const found: Line[] = []
  await until(`${count} lines of a watch`, async () => found.push(...(await watch.take())) >= count)
  return found
}

beforeEach(async () => {
  server = await TestServer.start()
  hook = await WebhookServer.start(honest)
})
afterEach(async () => {
  await server.close()
  await hook.close()
})

describe('versions that a webhook converts', () => {
  it('are written in one version and shown in every', async () => {
    await define('v1')
    const made = await server.create(url('v2'), v2('a'))
    expect(made.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { address: 'quay:7', mood: 'calm' } })
    expect((await server.get(url('v1', '/a'))).body).toMatchObject({ apiVersion: `${group}/v1`, spec: { host: 'quay', port: 7 } })
    const put = await server.update(url('v2', '/a'), { ...made.body, spec: { address: 'sea:9' } })
    expect([put.code, put.body.metadata.generation]).toEqual([200, 2])
    expect((await server.patch(url('v1', '/a'), { spec: { port: 10 } })).body.spec).toEqual({ host: 'sea', port: 10 })
    expect((await server.get(url('v2', '/a'))).body.spec).toEqual({ address: 'sea:10', mood: 'calm' })
    const stored = (await server.store.range('/registry/')).items.find(({ key }) => key.endsWith('/boats/default/a'))
    expect(JSON.parse(stored!.value.toString())).toMatchObject({ apiVersion: `${group}/v1`, spec: { host: 'sea', port: 10 } })
    expect(server.errors).toEqual([])
  })

  it('are listed with one call, under the kind of the definition', async () => {
    await define('v1')
    for (const name of ['a', 'b', 'c']) await server.create(url('v1'), v1(name))
    expect(hook.calls).toHaveLength(0)
    const { body } = await server.get(url('v2'))
    expect([body.kind, body.apiVersion, body.items.map((i: any) => i.spec.address)]).toEqual(['Fleet', `${group}/v2`, ['quay:7', 'quay:7', 'quay:7']])
    expect(hook.calls.map(({ body: { request } }) => request.objects.length)).toEqual([3])
    await server.get(url('v2'))
    await server.get(url('v2', '/b'))
    expect(hook.calls).toHaveLength(1)
    const table = await server.get(url('v2'), { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    expect(table.body.rows.map(({ cells }: any) => cells[1])).toEqual(['quay:7', 'quay:7', 'quay:7'])
  })

  it('are selected by the fields of the version that is asked for', async () => {
    await define('v1')
    await server.create(url('v1'), v1('a'))
    await server.create(url('v1'), v1('b', { host: 'sea', port: 1 }))
    const { body } = await server.get(url('v2', `?fieldSelector=${encodeURIComponent('spec.address=sea:1')}`))
    expect(body.items.map((i: any) => i.metadata.name)).toEqual(['b'])
  })

  it('are watched in order, each object converted once for all watchers', async () => {
    await define('v1')
    await server.create(url('v1'), v1('a'))
    const first = await server.watch(url('v2'))
    const second = await server.watch(url('v2'))
    await lines(first, 1)
    await lines(second, 1)
    expect(hook.calls).toHaveLength(1)
    await server.create(url('v1'), v1('b'))
    await server.patch(url('v1', '/b'), { spec: { port: 8 } })
    await server.delete(url('v1', '/b'))
    const seen = await lines(first, 3)
    const told = seen.map(({ type, object }) => [type, object.apiVersion, object.metadata.name, object.spec.address])
    expect(told).toEqual([
      ['ADDED', `${group}/v2`, 'b', 'quay:7'],
      ['MODIFIED', `${group}/v2`, 'b', 'quay:8'], ['DELETED', `${group}/v2`, 'b', 'quay:8'],
    ])
    expect(await lines(second, 3)).toEqual(seen)
    expect(hook.calls).toHaveLength(3)
  })

  it('are watched by a selector: objects come into sight and leave it', async () => {
    await define('v1')
    const watch = await server.watch(url('v2', `?fieldSelector=${encodeURIComponent('spec.address=sea:1')}`))
    await server.create(url('v1'), v1('a'))
    await server.patch(url('v1', '/a'), { spec: { host: 'sea', port: 1 } })
    await server.patch(url('v1', '/a'), { spec: { port: 2 } })
    expect((await lines(watch, 2)).map(({ type, object }) => [type, object.spec.address])).toEqual([['ADDED', 'sea:1'], ['DELETED', 'sea:1']])
  })

  it('apply, have a status and a scale in any version', async () => {
    await define('v1')
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const body = Buffer.from(JSON.stringify(v2('a', { address: 'quay:7', sails: 2 })))
    const applied = await server.send({ method: 'PATCH', url: url('v2', '/a?fieldManager=me'), headers, body })
    expect([applied.code, applied.body.metadata.managedFields[0].apiVersion]).toEqual([201, `${group}/v2`])
    const again = await server.send({ method: 'PATCH', url: url('v2', '/a?fieldManager=me'), headers, body })
    expect([again.code, again.body.metadata.resourceVersion]).toEqual([200, applied.body.metadata.resourceVersion])
    expect((await server.patch(url('v2', '/a/scale'), { spec: { replicas: 5 } })).body.spec.replicas).toBe(5)
    expect((await server.patch(url('v2', '/a/status'), { status: { sails: 4 } })).body.status).toEqual({ sails: 4 })
    expect((await server.get(url('v2', '/a/scale'))).body.status.replicas).toBe(4)
    expect((await server.get(url('v1', '/a'))).body).toMatchObject({ spec: { host: 'quay', port: 7, sails: 5 }, status: { sails: 4 } })
  })

  it('stay readable when the storage version changes, and are rewritten by their next write', async () => {
    await define('v1')
    await server.create(url('v1'), v1('old'))
    const crd = await server.get(`${definitions}/boats.${group}`)
    const changed = await server.update(`${definitions}/boats.${group}`, { ...crd.body, spec: definition('v2').spec })
    expect(changed.code).toBe(200)
    await settle()
    expect((await server.get(`${definitions}/boats.${group}`)).body.status.storedVersions).toEqual(['v1', 'v2'])
    await server.create(url('v2'), v2('new', { address: 'sea:1' }))
    hook.calls.length = 0
    expect((await server.get(url('v1', '/old'))).body.spec).toEqual({ host: 'quay', port: 7 })
    expect(hook.calls).toHaveLength(0)
    expect((await server.get(url('v2'))).body.items.map((i: any) => i.spec.address)).toEqual(['sea:1', 'quay:7'])
    const restarted = await server.restart()
    server = restarted
    await settle()
    expect((await server.get(url('v2'))).body.items.map((i: any) => i.spec.address)).toEqual(['sea:1', 'quay:7'])
    await server.patch(url('v2', '/old'), { metadata: { labels: { a: 'b' } } })
    hook.calls.length = 0
    expect((await server.get(url('v2', '/old'))).body.metadata.labels).toEqual({ a: 'b' })
    expect(hook.calls).toHaveLength(0)
    const versions = (await server.store.range('/registry/')).items.filter(({ key }) => key.includes('/boats/')).map(({ value }) => JSON.parse(value.toString()).apiVersion)
    expect(versions).toEqual([`${group}/v2`, `${group}/v2`])
  })

  it('can be deleted in the version in which they are stored while the webhook is away', async () => {
    await define('v1')
    await server.create(url('v1'), v1('a'))
    const { url: away } = hook
    await hook.close()
    const failed = await server.get(url('v2', '/a'))
    expect([failed.code, failed.body.message]).toEqual([
      500, `conversion webhook for ${group}/v1, Kind=Boat failed: Post "${away}": dial tcp ${new URL(away).host}: connect: connection refused`,
    ])
    expect((await server.delete(url('v1', '/a'))).code).toBe(200)
  })

  it('are shown to admission webhooks in the version that their rules name', async () => {
    await define('v1')
    const judge = await WebhookServer.start(({ request }) => {
      const patch = [{ op: 'replace', path: '/spec/address', value: `${request.object.spec.address}0` }]
      const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
      return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
    })
    const rules = [{ operations: ['CREATE'], apiGroups: [group], apiVersions: ['v2'], resources: ['boats'] }]
    await server.create('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata: { name: 'm' },
      webhooks: [{ name: 'm.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], rules, clientConfig: judge.clientConfig }],
    })
    const made = await server.create(url('v1'), v1('a'))
    expect([made.code, made.body.spec]).toEqual([201, { host: 'quay', port: 70 }])
    expect(judge.calls[0]!.body.request).toMatchObject({ kind: { version: 'v2' }, requestKind: { version: 'v1' }, object: { apiVersion: `${group}/v2`, spec: { address: 'quay:7' } } })
    await judge.close()
  })

  it('warn of a deprecated version', async () => {
    await define('v1')
    expect((await server.get(url('v1'))).warnings).toEqual([`299 - "${group}/v1 Boat is deprecated; use ${group}/v2 Boat"`])
    expect((await server.get(url('v2'))).warnings).toEqual([])
  })
})

describe('what a conversion webhook may not answer', () => {
  const broken = (change: (object: any) => any) => (body: any) =>
    answerTo(body, body.request.objects.map((o: any) => change(converted(o, body.request.desiredAPIVersion))))
  const about = `conversion webhook for ${group}/v1, Kind=Boat`
  const metadata = (change: object) => broken((o) => ({ ...o, metadata: { ...o.metadata, ...change } }))

  it.each<[string, (body: any) => unknown, string]>([
    ['another name', metadata({ name: 'b' }), 'returned invalid object: must have the same name: a != b'],
    ['another namespace', metadata({ namespace: 'b' }), 'returned invalid object: must have the same namespace: default != b'],
    ['a wrong version', broken((o) => ({ ...o, apiVersion: 'x/v1' })), `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received x/v1)`],
    ['a wrong kind', broken((o) => ({ ...o, kind: 'Ship' })), 'returned invalid object at index 0: invalid kind (expected Boat, received Ship)'],
    ['a wrong label', metadata({ labels: { a: 1 } }), 'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object'],
    ['a number for its uid', (body) => ({ ...answerTo(body, []), response: { uid: 5 } }), 'failed: json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type types.UID'],
    ['a text for the objects', (body) => ({ ...answerTo(body, []), response: { uid: body.request.uid, convertedObjects: 'x' } }), 'failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension'],
    ['a text for an object', (body) => answerTo(body, ['x' as never]), `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received )`],
    ['too few objects', (body) => answerTo(body, []), 'returned 0 objects, expected 1'],
    ['a failure', ({ request }) => ({ ...answerTo({ request }, []), response: { uid: request.uid, result: { status: 'Failed', message: 'no idea' } } }), 'failed: no idea'],
    ['a failure without words', ({ request }) => ({ ...answerTo({ request }, []), response: { uid: request.uid } }), "failed: response.result.status was '', not 'Success'"],
    ['nothing', () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }), 'failed: no response provided'],
    ['a review of something else', () => ({ apiVersion: 'v1', kind: 'Pod' }), 'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got v1, Kind=Pod'],
    ['no JSON', () => 'oops', "failed: couldn't get version/kind; json parse error: invalid character 'o' looking for beginning of value"],
  ])('%s', async (_name, answer, message) => {
    await define('v1')
    await server.create(url('v1'), v1('a'))
    hook.answer = answer
    const { code, body } = await server.get(url('v2', '/a'))
    expect([code, body.message]).toEqual([500, `${about} ${message}`])
    // A failure is not remembered.
    hook.answer = honest
    expect((await server.get(url('v2', '/a'))).code).toBe(200)
  })

  it('keeps all metadata but labels and annotations', async () => {
    await define('v1')
    const made = await server.create(url('v1'), v1('a'))
    hook.answer = metadata({ finalizers: ['x/y'], generation: 9, labels: { from: 'hook' } })
    const { body } = await server.get(url('v2', '/a'))
    expect(body.metadata).toEqual({ ...made.body.metadata, labels: { from: 'hook' } })
  })

  it('ends a watch whose objects cannot be converted', async () => {
    await define('v1')
    const watch = await server.watch(url('v2'))
    hook.answer = () => 'oops'
    await server.create(url('v1'), v1('a'))
    expect((await lines(watch, 1)).map(({ type, object }) => [type, object.code])).toEqual([['ERROR', 500]])
  })
})

it('conversions are counted by their outcome, under Kubernetes’ names', async () => {
  await define('v1')
  await server.create(url('v1'), v1('a'))
  const outcomes: [answer: typeof hook.answer | undefined, failure: string][] = [
    [honest, ''],
    [(body) => answerTo(body, []), 'conversion_webhook_partial_response_failure'],
    [(body) => answerTo(body, [{}]), 'conversion_webhook_invalid_converted_object_failure'],
    [(body) => ({ ...answerTo(body, []), kind: 'Boat' }), 'conversion_webhook_malformed_response_failure'],
    [undefined, 'conversion_webhook_call_failure'],
  ]
  for (const [i, [answer, failure_type]] of outcomes.entries()) {
    if (answer) hook.answer = answer
    else await hook.close()
    await server.patch(url('v1', '/a'), { spec: { sails: i + 1 } })
    await server.get(url('v2', '/a'))
    const result = failure_type ? 'failure' : 'success'
    expect(await server.metric('apiserver_conversion_webhook_request_total', { result, failure_type }), failure_type).toBe(1)
    expect(await server.metric('apiserver_conversion_webhook_duration_seconds_count', { result, failure_type })).toBe(1)
  }
  const labels = { crd_name: `boats.${group}`, from_version: 'v1', to_version: 'v2' }
  expect(await server.metric('apiserver_crd_conversion_webhook_duration_seconds_count', { ...labels, succeeded: 'true' })).toBe(1)
  expect(await server.metric('apiserver_crd_conversion_webhook_duration_seconds_count', { ...labels, succeeded: 'false' })).toBe(4)
})
