import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { base64, sampleRequest } from '../../src/api/x509/sample-request.ts'
import type { ApiRequest } from '../../src/client/index.ts'
import { InProcessTransport } from '../../src/cluster/parts/in-process-transport.ts'
import { stages } from '../../src/server/write/stages.ts'
import { TestServer, configMap, configMaps, pod, pods } from './server.ts'

let server: TestServer
/** The stages that each write has passed, in order, by a name such as `UPDATE deployments/scale`. */
let visits: Map<string, string[]>
let made = 0

beforeAll(async () => {
  server = await TestServer.start()
  server.api.parts.onStage = (stage, { request: { target, subresource }, change }) => {
    const of = `${change.operation} ${target.resource.plural}${subresource ? `/${subresource}` : ''}`
    visits.set(of, [...(visits.get(of) ?? []), stage])
  }
})
afterAll(() => server.close())
beforeEach(() => {
  visits = new Map()
  made++
})

const json = 'application/json'
const patchTypes = { merge: 'application/merge-patch+json', json: 'application/json-patch+json', strategic: 'application/strategic-merge-patch+json' }

type Send = (request: Pick<ApiRequest, 'method' | 'path' | 'body' | 'contentType'>) => Promise<unknown>

/** The two doors: a socket's, and a caller's in the same process. */
const doors: [string, Send][] = [
  ['over HTTP', async ({ method, path, body, contentType = json }) => {
    const reply = await server.send({ method, url: path, headers: { 'content-type': contentType }, ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }) })
    expect([reply.code, reply.text]).toEqual([expect.toSatisfy((code: number) => code < 300), reply.text])
    return reply.body
  }],
  ['in the process', ({ path: url, ...request }) => {
    const [path = '', query = ''] = url.split('?')
    const transport = new InProcessTransport(server.api, { name: 'ann', groups: ['system:masters'] })
    return transport.send({ ...request, path, query: Object.fromEntries(new URLSearchParams(query)) })
  }],
]

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const deployment = (name: string) => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector: { matchLabels: labels }, template } }
}
const lease = (name: string) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec: {} })
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

interface Row {
  what: string
  /** The write whose stages are counted. */
  expected: string
  /** An object that must exist before. */
  given?: { path: string; object: { metadata: { name: string } } }
  send(name: string): Parameters<Send>[0]
}

const put = (path: string, body: object) => ({ method: 'PUT' as const, path, body })
const patch = (path: string, body: unknown, contentType = patchTypes.merge) => ({ method: 'PATCH' as const, path, body, contentType })
const labelled = { metadata: { labels: { a: 'b' } } }
const aMap = { path: configMaps, object: configMap('x') }
const aDeployment = { path: deployments, object: deployment('x') }
const aPod = { path: pods, object: pod('x') }
const aNamespace = { path: '/api/v1/namespaces', object: namespace('x') }

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const signing = { request: base64(sampleRequest().request), signerName: 'example.com/signer', usages: ['client auth'] }
const aRequest = { path: requests, object: { metadata: { name: 'x' }, spec: signing } }

const rows: Row[] = [
  { what: 'create', expected: 'CREATE configmaps', send: (name) => ({ method: 'POST', path: configMaps, body: configMap(name) }) },
  { what: 'create with a generated name', expected: 'CREATE configmaps', send: (name) => ({ method: 'POST', path: configMaps, body: { metadata: { generateName: name } } }) },
  { what: 'update', expected: 'UPDATE configmaps', given: aMap, send: (name) => put(`${configMaps}/${name}`, configMap(name, { a: 'b' })) },
  { what: 'update that creates', expected: 'UPDATE leases', send: (name) => put(`/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`, lease(name)) },
  { what: 'merge patch', expected: 'UPDATE configmaps', given: aMap, send: (name) => patch(`${configMaps}/${name}`, labelled) },
  { what: 'strategic merge patch', expected: 'UPDATE configmaps', given: aMap, send: (name) => patch(`${configMaps}/${name}`, labelled, patchTypes.strategic) },
  { what: 'JSON patch', expected: 'UPDATE configmaps', given: aMap, send: (name) => patch(`${configMaps}/${name}`, [{ op: 'add', path: '/data', value: { a: 'b' } }], patchTypes.json) },
  { what: 'delete', expected: 'DELETE configmaps', given: aMap, send: (name) => ({ method: 'DELETE', path: `${configMaps}/${name}` }) },
  { what: 'delete of a collection', expected: 'DELETE configmaps', given: { path: configMaps, object: configMap('x', {}, { only: 'this' }) }, send: () => ({ method: 'DELETE', path: `${configMaps}?labelSelector=only=this` }) },
  { what: 'update of a status', expected: 'UPDATE deployments/status', given: aDeployment, send: (name) => put(`${deployments}/${name}/status`, { ...deployment(name), status: { replicas: 1 } }) },
  { what: 'patch of a status', expected: 'UPDATE deployments/status', given: aDeployment, send: (name) => patch(`${deployments}/${name}/status`, { status: { replicas: 1 } }) },
  { what: 'update of a scale', expected: 'UPDATE deployments/scale', given: aDeployment, send: (name) => put(`${deployments}/${name}/scale`, { metadata: { name, namespace: 'default' }, spec: { replicas: 3 } }) },
  { what: 'patch of a scale', expected: 'UPDATE deployments/scale', given: aDeployment, send: (name) => patch(`${deployments}/${name}/scale`, { spec: { replicas: 3 } }) },
  { what: 'binding', expected: 'CREATE pods/binding', given: aPod, send: (name) => ({ method: 'POST', path: `${pods}/${name}/binding`, body: { metadata: { name }, target: { name: 'n' } } }) },
  { what: 'binding by the collection', expected: 'CREATE bindings', given: aPod, send: (name) => ({ method: 'POST', path: '/api/v1/namespaces/default/bindings', body: { metadata: { name }, target: { name: 'n' } } }) },
  { what: 'eviction', expected: 'CREATE pods/eviction', given: aPod, send: (name) => ({ method: 'POST', path: `${pods}/${name}/eviction`, body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } } }) },
  { what: 'resizing', expected: 'UPDATE pods/resize', given: aPod, send: (name) => patch(`${pods}/${name}/resize`, {}) },
  { what: 'ephemeral containers', expected: 'UPDATE pods/ephemeralcontainers', given: aPod, send: (name) => patch(`${pods}/${name}/ephemeralcontainers`, {}) },
  { what: 'finalization', expected: 'UPDATE namespaces/finalize', given: aNamespace, send: (name) => put(`/api/v1/namespaces/${name}/finalize`, { ...namespace(name), spec: { finalizers: [] } }) },
  { what: 'approval of a certificate', expected: 'UPDATE certificatesigningrequests/approval', given: aRequest, send: (name) => patch(`${requests}/${name}/approval`, {}) },
  { what: 'token of an account', expected: 'CREATE serviceaccounts/token', given: { path: '/api/v1/namespaces/default/serviceaccounts', object: { metadata: { name: 'x' } } }, send: (name) => ({ method: 'POST', path: `/api/v1/namespaces/default/serviceaccounts/${name}/token`, body: { spec: {} } }) },
  { what: 'question', expected: 'CREATE selfsubjectreviews', send: () => ({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {} }) },
]

const allStages = stages.map(({ name }) => name)

describe.each(doors)('a write %s passes every stage once, in order', (_door, send) => {
  it.each(rows.map((row) => [row.what, row] as const))('%s', async (_what, { expected, given, send: request }) => {
    const name = `x${made}`
    if (given) {
      const created = await server.create(given.path, { ...given.object, metadata: { ...given.object.metadata, name } })
      expect(created.code).toBe(201)
    }
    visits.clear()
    await send(request(name))
    expect(visits.get(expected)).toEqual(allStages)
  })
})

it('the server\'s own writes pass every stage once, in order', async () => {
  await server.create(configMaps, configMap('own'))
  const { access, registry } = server.api.parts
  const { resource } = registry.find('v1', 'configmaps')!
  visits.clear()
  await access.update(resource, 'default', 'own', (copy) => ({ ...copy, data: { n: '1' } }))
  await access.delete(resource, 'default', 'own', {})
  expect([visits.get('UPDATE configmaps'), visits.get('DELETE configmaps')]).toEqual([allStages, allStages])
})

it('a dry run passes every stage, and writes nothing', async () => {
  const before = server.api.parts.objects.revision
  visits.clear()
  await server.create(`${configMaps}?dryRun=All`, configMap('dry'))
  expect([visits.get('CREATE configmaps'), server.api.parts.objects.revision]).toEqual([allStages, before])
})

it('no kind has a subresource to write that is not in the table', () => {
  const known = new Set(rows.map(({ expected }) => expected.split('/')[1] ?? ''))
  const found = server.api.parts.registry.all().flatMap(({ resource, actions }) => [
    ...(resource.status ? ['status'] : []),
    ...(resource.scale ? ['scale'] : []),
    ...Object.keys(resource.partialUpdates ?? {}),
    ...[...actions.values()].filter(({ bodyType }) => bodyType !== undefined).map(({ of }) => of.subresource),
  ])
  expect([...new Set(found)].filter((subresource) => !known.has(subresource))).toEqual([])
})
