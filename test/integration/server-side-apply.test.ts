import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const apply = (url: string, manager: string, config: unknown, more = '', subresource = '') => {
  const { name } = (config as { metadata: { name: string } }).metadata
  return server.send({
    method: 'PATCH', url: `${url}/${name}${subresource}?fieldManager=${manager}${more}`, headers: { 'content-type': 'application/apply-patch+yaml' },
    body: Buffer.from(JSON.stringify(config)),
  })
}
const map = (name: string, data?: Record<string, string>, metadata = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...(data ? { data } : {}) })
const deployment = (name: string, image: string, replicas?: number) => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { ...(replicas === undefined ? {} : { replicas }), selector: { matchLabels: labels }, template } }
}
type Entry = { manager: string; operation: string; subresource?: string; fieldsV1: object; time: string; apiVersion: string }
const entriesOf = (reply: { body: { metadata: { managedFields?: Entry[] } } }) =>
  (reply.body.metadata.managedFields ?? []).map(({ manager, operation, subresource = '', fieldsV1 }) => [manager, operation, subresource, fieldsV1])

describe('managers of every write', () => {
  it('are recorded by create, update and patch under the user agent or the parameter', async () => {
    const made = await server.send({ method: 'POST', url: configMaps, headers: { 'content-type': 'application/json', 'user-agent': 'tool/1.0 (x)' }, body: Buffer.from(JSON.stringify(map('a', { k: '1' }))) })
    expect(entriesOf(made)).toEqual([['tool', 'Update', '', { 'f:data': { '.': {}, 'f:k': {} } }]])
    expect(made.body.metadata.managedFields[0]).toMatchObject({ apiVersion: 'v1', fieldsType: 'FieldsV1', time: expect.stringMatching(/Z$/) })
    const patched = await server.patch(`${configMaps}/a?fieldManager=other`, { data: { l: '1' } })
    expect(entriesOf(patched).slice(-2).sort()).toEqual([['other', 'Update', '', { 'f:data': { 'f:l': {} } }], ['tool', 'Update', '', { 'f:data': { '.': {}, 'f:k': {} } }]])
  })

  it('do not own what admission and the server add', async () => {
    const { body } = await server.create(`${pods}?fieldManager=me`, pod('a'))
    const [{ fieldsV1 }] = body.metadata.managedFields
    expect(Object.keys(fieldsV1['f:spec']['f:containers'])).toEqual(['k:{"name":"main"}'])
    expect(fieldsV1['f:metadata']).toBeUndefined()
    expect(fieldsV1['f:status']).toBeUndefined()
    expect(fieldsV1['f:spec']['f:tolerations']).toBeUndefined()
  })

  it('name the subresource of a status', async () => {
    await server.create(`${pods}?fieldManager=me`, pod('a'))
    const reply = await server.patch(`${pods}/a/status?fieldManager=kubelet`, { status: { phase: 'Running' } })
    expect(entriesOf(reply).find(([manager]) => manager === 'kubelet')).toEqual(['kubelet', 'Update', 'status', { 'f:status': { 'f:phase': {} } }])
  })

  it('stay as they are where an update changes nothing', async () => {
    const { body } = await server.create(configMaps, configMap('a', { k: '1' }))
    const { body: again } = await server.update(`${configMaps}/a?fieldManager=other`, configMap('a', { k: '1' }))
    expect(again).toEqual(body)
  })

  it.each([[[]], [[{}]]])('are forgotten by %j', async (managedFields) => {
    const { body } = await server.create(configMaps, configMap('a', { k: '1' }))
    const reply = await server.update(`${configMaps}/a`, { ...body, metadata: { ...body.metadata, managedFields } })
    expect(reply.body.metadata.managedFields).toBeUndefined()
    expect((await apply(configMaps, 'one', map('a', { k: '2' }))).body.message).toBe('Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k')
  })
})

describe('an apply', () => {
  it('that changes nothing writes nothing, and keeps the time', async () => {
    const first = await apply(configMaps, 'one', map('a', { k: '1' }))
    expect(first.code).toBe(201)
    const second = await apply(configMaps, 'one', map('a', { k: '1' }))
    expect([second.code, second.body]).toEqual([200, first.body])
  })

  it('conflicts with what was scaled, and leaves replicas to whoever scales', async () => {
    await apply(deployments, 'one', deployment('d', 'i', 1))
    const scaled = await server.patch(`${deployments}/d/scale?fieldManager=scaler`, { spec: { replicas: 3 } })
    expect(scaled.code).toBe(200)
    const { body } = await server.get(`${deployments}/d`)
    expect(entriesOf({ body }).find(([manager]) => manager === 'scaler')).toEqual(['scaler', 'Update', 'scale', { 'f:spec': { 'f:replicas': {} } }])
    const refused = await apply(deployments, 'one', deployment('d', 'i', 1))
    expect(refused.body.message).toBe('Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using apps/v1: .spec.replicas')
    expect((await apply(deployments, 'one', deployment('d', 'j'))).body.spec.replicas).toBe(3)
  })

  it('through scale owns the replicas of the object behind', async () => {
    await apply(deployments, 'one', deployment('d', 'i', 1))
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2 } }
    expect((await apply(deployments, 'two', scale, '', '/scale')).body.message).toBe('Apply failed with 1 conflict: conflict with "one": .spec.replicas')
    expect((await apply(deployments, 'two', scale, '&force=true', '/scale')).body.spec).toEqual({ replicas: 2 })
    const { body } = await server.get(`${deployments}/d`)
    expect(entriesOf({ body }).find(([manager]) => manager === 'two')).toEqual(['two', 'Apply', 'scale', { 'f:spec': { 'f:replicas': {} } }])
  })

  it('of kubectl takes over what it has applied on its own side, and follows it with the annotation', async () => {
    const last = JSON.stringify(map('a', { k: '1' }))
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last }
    await server.create(`${configMaps}?fieldManager=kubectl-client-side-apply`, map('a', { k: '1' }, { annotations }))
    expect((await apply(configMaps, 'another', map('a', { k: '2' }))).code).toBe(409)
    const taken = await apply(configMaps, 'kubectl', map('a', { k: '2' }))
    expect([taken.code, taken.body.data]).toEqual([200, { k: '2' }])
    expect(JSON.parse(taken.body.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'])).toEqual(map('a', { k: '2' }))
  })

  it('of kubectl removes that annotation where it would be too long', async () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(map('a', { k: '1' })), other: 'kept' }
    await server.create(`${configMaps}?fieldManager=kubectl-client-side-apply`, map('a', { k: '1' }, { annotations }))
    const { code, body } = await apply(configMaps, 'kubectl', map('a', { k: 'x'.repeat(300_000) }))
    expect([code, body.metadata.annotations]).toEqual([200, { other: 'kept' }])
  })
})

describe('an apply that says less than the one before', () => {
  it.each([
    ['the last label', { labels: { a: 'b' } }], ['the last annotation', { annotations: { a: 'b' } }],
  ])('removes %s of its object, and leaves the object there', async (_, metadata) => {
    await apply(configMaps, 'me', map('a', { k: 'v' }, metadata))
    const reply = await apply(configMaps, 'me', map('a', { k: 'v' }))
    expect([reply.code, reply.body.message, reply.body.metadata.name]).toEqual([200, undefined, 'a'])
    expect([reply.body.metadata.labels, reply.body.metadata.annotations]).toEqual([undefined, undefined])
    expect(entriesOf(reply)).toEqual([['me', 'Apply', '', { 'f:data': { 'f:k': {} } }]])
  })
})

describe('a manager who applies in another API version', () => {
  const autoscaler = (version: string, maxReplicas: number) => ({
    apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas },
  })
  const url = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`

  it('has one entry, of that version, and no conflict with itself', async () => {
    await apply(url('v1'), 'me', autoscaler('v1', 3))
    const reply = await apply(url('v2'), 'me', autoscaler('v2', 4))
    expect([reply.code, reply.body.message, reply.body.spec.maxReplicas]).toEqual([200, undefined, 4])
    expect((reply.body.metadata.managedFields as Entry[]).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([['me', 'autoscaling/v2']])
  })
})

describe('what the server says of an object itself', () => {
  it('is managed by kube-apiserver, through the status', async () => {
    const url = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await apply(url, 'me', {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'boats.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] },
    })
    const entries = async () => entriesOf(await server.get(`${url}/boats.example.com`))
    await expect.poll(async () => (await entries()).length).toBe(2)
    const conditions = ['Established', 'NamesAccepted'].map((type) => `k:{"type":"${type}"}`)
    const [, [manager, operation, subresource, fields]] = (await entries()) as any
    expect([manager, operation, subresource, Object.keys(fields['f:status']['f:conditions']).sort(), Object.keys(fields)]).toEqual(['kube-apiserver', 'Update', 'status', conditions, ['f:status']])
    expect(fields['f:status']['f:acceptedNames']).toMatchObject({ 'f:kind': {}, 'f:plural': {} })
  })

  it('is so for quotas that are charged', async () => {
    const url = '/api/v1/namespaces/default/resourcequotas'
    await server.create(`${url}?fieldManager=me`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { configmaps: '5' } } })
    await server.patch(`${url}/q/status?fieldManager=counter`, { status: { hard: { configmaps: '5' }, used: { configmaps: '0' } } })
    await server.create(configMaps, map('a'))
    const owners = entriesOf(await server.get(`${url}/q`)).map(([manager, , subresource, fields]: any) => [manager, subresource, Object.keys(fields['f:status'] ?? {})])
    expect(owners).toContainEqual(['kube-apiserver', 'status', ['f:used']])
  })
})
