import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../src/server/auth/certificates.ts'
import { callInProcess, listen, watchInProcess } from '../../src/server/index.ts'
import { settle, TestServer, until } from './server.ts'
import { WebhookServer } from './webhook-server.ts'

const services = '/apis/apiregistration.k8s.io/v1/apiservices'
const name = 'v1.fish.example.com'
const root = '/apis/fish.example.com/v1'

let server: TestServer
let other: WebhookServer

const cod = { apiVersion: 'fish.example.com/v1', kind: 'Cod', metadata: { name: 'a', namespace: 'default' } }
const resources = [
  { name: 'cods', singularName: 'cod', namespaced: true, kind: 'Cod', verbs: ['get', 'list', 'watch'], shortNames: ['co'] },
  { name: 'cods/status', singularName: '', namespaced: true, kind: 'Cod', verbs: ['get'] },
]

const authority = createAuthority(Date.now())
const proxyClient = issueClientCertificate(authority, { commonName: 'front-proxy-client' }, Date.now())

/** This server on a socket: streams need one. */
async function openDoor() {
  const serving = issueServerCertificate(authority, ['127.0.0.1'], Date.now())
  const listener = await listen({ address: '127.0.0.1', port: 0, serving, clientAuthorities: [], handle: (exchange) => server.api.handle(exchange) })
  return {
    request: (method: string, path: string, headers: Record<string, string> = {}) =>
      httpsRequest({ host: '127.0.0.1', port: listener.port, method, path, ca: authority.certificate, headers: { authorization: 'Bearer sesame', ...headers }, agent: false }),
    close: () => listener.close(0),
  }
}

/** The other API server. */
function fishServer(body: unknown, request: IncomingMessage): unknown {
  const { url = '', method, headers } = request
  if (url === root) return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'fish.example.com/v1', resources }
  if (url.startsWith('/openapi/v3')) return { openapi: '3.0.0', paths: {} }
  return { ...cod, asked: { url, method, body, user: headers['x-remote-user'], groups: headers['x-remote-group'], token: headers.authorization ?? null, proxy: (request.socket as TLSSocket).getPeerCertificate().subject?.CN } }
}

const apiService = (spec: object = {}) => ({
  apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name },
  spec: {
    group: 'fish.example.com', version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10,
    service: { namespace: 'default', name: 'hook' }, caBundle: other.caBundle, ...spec,
  },
})

async function makeService(port = other.port): Promise<void> {
  await server.create('/api/v1/namespaces/default/services', {
    apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec: { ports: [{ port: 443, name: 'https' }] },
  })
  await makeEndpoints(port)
}

const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const makeEndpoints = (port = other.port) =>
  server.create(slices, {
    apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'hook', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4', ports: [{ name: 'https', port }], endpoints: [{ addresses: [other.address], conditions: { ready: true } }],
  })

const stored = (of = name) => server.api.parts.access.get<any>('apiregistration.k8s.io', 'apiservices', '', of)
const condition = () => stored().status.conditions?.find((c: any) => c.type === 'Available')
async function said(reason: string): Promise<string> {
  await until(`Available says ${reason}`, () => condition()?.reason === reason).catch((e: unknown) => {
    throw new Error(`${String(e)}: ${JSON.stringify(condition())}`)
  })
  const { status, message } = condition()
  return `${status}: ${message}`
}

beforeEach(async () => {
  server = await TestServer.start({ proxyClient })
  other = await WebhookServer.start(fishServer, '127.77.0.1')
})
afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
  await other.close()
})

describe('an APIService of another server', () => {
  it('is available once the service, its endpoints and discovery are', async () => {
    const made = await server.create(services, apiService())
    expect([made.code, made.body.status]).toEqual([201, {}])
    expect(await said('ServiceNotFound')).toBe('False: service/hook in "default" is not present')
    await server.create('/api/v1/namespaces/default/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec: { ports: [{ port: 80 }] } })
    expect(await said('ServicePortError')).toBe('False: service/hook in "default" is not listening on port 443')
    await server.patch('/api/v1/namespaces/default/services/hook', { spec: { ports: [{ port: 443, name: 'https' }] } })
    expect(await said('EndpointsNotFound')).toBe('False: cannot find endpoints for service/hook in "default"')
    await makeEndpoints()
    expect(await said('Passed')).toBe('True: all checks passed')
    await server.patch(`${slices}/hook`, { endpoints: [{ addresses: [other.address], conditions: { ready: false } }] })
    expect(await said('MissingEndpoints')).toBe('False: endpoints for service/hook in "default" have no addresses with port name "https"')
  })

  it('is asked again now and then', async () => {
    await makeService()
    await server.create(services, apiService())
    await said('Passed')
    other.answer = (_body, _request, response) => void response.writeHead(500).end()
    const url = `https://${other.address}:${other.port}${root}`
    await server.clock.advance(30_000)
    expect(await said('FailedDiscoveryCheck')).toBe(`False: failing or missing response from ${url}: bad status from ${url}: 500`)
    other.answer = fishServer
    await settle()
    await server.clock.advance(1000)
    expect(await said('Passed')).toBe('True: all checks passed')
  })

  it.each<[string, unknown, string]>([
    ['no list of resources', { kind: 'APIResourceList', resources: 5 }, 'json: cannot unmarshal number into Go struct field APIResourceList.resources of type []v1.APIResource'],
    ['a resource without words', { kind: 'APIResourceList', resources: [{ name: 5 }] }, 'json: cannot unmarshal number into Go struct field APIResource.resources.name of type string'],
    ['too much', 'x'.repeat(17 * 1024 * 1024), 'http: response body too large'],
  ])('is not available if it answers %s', async (_what, answer, why) => {
    other.answer = () => answer
    await makeService()
    await server.create(services, apiService())
    const url = `https://${other.address}:${other.port}${root}`
    expect(await said('FailedDiscoveryCheck')).toBe(`False: failing or missing response from ${url}: ${why}`)
  })

  it('is not believed with a wrong certificate', async () => {
    await makeService()
    await server.create(services, apiService({ caBundle: undefined }))
    const url = `https://${other.address}:${other.port}${root}`
    expect(await said('FailedDiscoveryCheck')).toBe(`False: failing or missing response from ${url}: tls: failed to verify certificate: x509: certificate signed by unknown authority`)
    await server.patch(`${services}/${name}`, { spec: { insecureSkipTLSVerify: true } })
    expect(await said('Passed')).toBe('True: all checks passed')
  })
})

describe('requests for another server', () => {
  beforeEach(async () => {
    await makeService()
    await server.create(services, apiService())
    await said('Passed')
  })

  it('are passed on in the name of their user, and nothing of this server is', async () => {
    const { code, body } = await server.send({ user: null, method: 'POST', url: `${root}/namespaces/default/cods?dryRun=All`, headers: { authorization: 'Bearer sesame', 'content-type': 'application/json', 'x-remote-user': 'root' }, body: Buffer.from('{"a":1}') })
    expect([code, body.asked]).toEqual([200, { url: `${root}/namespaces/default/cods?dryRun=All`, method: 'POST', body: { a: 1 }, user: 'token-user', token: null, proxy: 'front-proxy-client' }])
  })

  it('show answers as they come, and end with their client', async () => {
    let closed = false
    other.answer = (_body, request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`${JSON.stringify({ type: 'ADDED', object: cod })}\n`)
      request.socket.once('close', () => (closed = true))
    }
    const door = await openDoor()
    const watch = door.request('GET', `${root}/cods?watch=true`)
    watch.end()
    const [response] = (await once(watch, 'response')) as [IncomingMessage]
    const [line] = (await once(response, 'data')) as [Buffer]
    expect(JSON.parse(line.toString())).toEqual({ type: 'ADDED', object: cod })
    watch.on('error', () => {}).destroy()
    await until('the other side is told', () => closed)
    await door.close()
  })

  it('pass on a change of the protocol, as exec needs it', async () => {
    other.onUpgrade((request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${request.headers.upgrade}\r\n\r\n`)
      socket.on('data', (data: Buffer) => socket.write(`${request.headers['x-remote-user'] as string} says ${data.toString()}`))
    })
    const door = await openDoor()
    const request = door.request('GET', `${root}/namespaces/default/cods/a/exec`, { connection: 'Upgrade', upgrade: 'parrot' })
    request.end()
    const [response, socket] = (await once(request, 'upgrade')) as [IncomingMessage, Duplex]
    expect(response.headers.upgrade).toBe('parrot')
    socket.write('hello')
    const [said] = (await once(socket, 'data')) as [Buffer]
    expect(said.toString()).toBe('token-user says hello')
    socket.destroy()
    await door.close()
  })

  it('reach it from within the process, too', async () => {
    const user = { name: 'inside', groups: [] }
    const got: any = await callInProcess(server.api, { method: 'GET', path: `${root}/namespaces/default/cods/a`, user })
    expect(got.asked).toMatchObject({ user: 'inside', method: 'GET' })
    other.answer = (_body, _request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify({ type: 'ADDED', object: cod })}\n`)
    }
    const seen: unknown[] = []
    await new Promise<void>((resolve) => {
      watchInProcess(server.api, { method: 'GET', path: `${root}/cods`, user }, {
        opened: () => seen.push('opened'), event: (type, { kind }) => seen.push([type, kind]), closed: (error) => resolve(void seen.push(error)),
      })
    })
    expect(seen).toEqual(['opened', ['ADDED', 'Cod'], undefined])
    other.answer = (_body, _request, response) => void response.writeHead(404).end(JSON.stringify({ kind: 'Status', reason: 'NotFound', message: 'no fish', code: 404 }))
    await expect(callInProcess(server.api, { method: 'GET', path: `${root}/cods/b`, user })).rejects.toMatchObject({ code: 404, reason: 'NotFound', message: 'no fish' })
  })

  it('are for the authorizer of this server first', async () => {
    const refusing = await TestServer.start({ store: server.store, authorization: [{ type: 'RBAC' }] })
    const { code, body } = await refusing.send({ method: 'GET', url: `${root}/cods`, user: { commonName: 'nobody', organizations: [] } })
    expect([code, body.message]).toEqual([403, 'cods.fish.example.com is forbidden: User "nobody" cannot list resource "cods" in API group "fish.example.com" at the cluster scope'])
    refusing.api.close()
  })

  it('are refused while it is away, and so is what it does not answer', async () => {
    await server.delete(`${slices}/hook`)
    await said('EndpointsNotFound')
    const { code, text } = await server.get(`${root}/cods`)
    expect([code, text]).toEqual([503, 'service unavailable\n'])
  })

  it('are told of in discovery', async () => {
    expect((await server.get(root)).body.resources).toEqual(resources)
    const groups = (await server.get('/apis')).body.groups
    expect(groups.find((g: any) => g.name === 'fish.example.com')).toEqual({
      name: 'fish.example.com', versions: [{ groupVersion: 'fish.example.com/v1', version: 'v1' }], preferredVersion: { groupVersion: 'fish.example.com/v1', version: 'v1' },
    })
    expect((await server.get('/apis/fish.example.com')).body.preferredVersion.version).toBe('v1')
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const aggregated = async () => (await server.get('/apis', { accept })).body.items.find((g: any) => g.metadata.name === 'fish.example.com').versions[0]
    expect(await aggregated()).toMatchObject({ version: 'v1', freshness: 'Current', resources: [{ resource: 'cods', scope: 'Namespaced', shortNames: ['co'], subresources: [{ subresource: 'status' }] }] })
    const { paths } = (await server.get('/openapi/v3')).body
    const { serverRelativeURL } = paths['apis/fish.example.com/v1']
    expect((await server.get(serverRelativeURL)).body.openapi).toBe('3.0.0')
    await server.delete(`${slices}/hook`)
    await said('EndpointsNotFound')
    expect(await aggregated()).toMatchObject({ freshness: 'Stale' })
    await server.delete(`${services}/${name}`)
    expect((await server.get(root)).code).toBe(404)
  })
})

describe('a group that this server serves itself', () => {
  it('steps aside for another server, and comes back', async () => {
    const metrics = '/apis/metrics.k8s.io/v1beta1'
    other.answer = (_body, { url }) => ({ kind: url === metrics ? 'APIResourceList' : 'NodeMetricsList', apiVersion: 'v1', resources: [], mine: true })
    await makeService()
    const local = (await server.get(`${services}/v1beta1.metrics.k8s.io`)).body
    const { code } = await server.update(`${services}/v1beta1.metrics.k8s.io`, { ...local, spec: { ...local.spec, service: { namespace: 'default', name: 'hook' }, caBundle: other.caBundle } })
    expect(code).toBe(200)
    await until('the other server is available', () => stored('v1beta1.metrics.k8s.io').status.conditions?.[0]?.reason === 'Passed')
    expect((await server.get(`${metrics}/nodes`)).body.mine).toBe(true)
    await server.delete(`${services}/v1beta1.metrics.k8s.io`)
    expect((await server.get(`${metrics}/nodes`)).body.mine).toBe(undefined)
    await until('the local one is back', () => stored('v1beta1.metrics.k8s.io')?.spec.service === null || stored('v1beta1.metrics.k8s.io')?.spec.service === undefined)
  })
})

it('metrics tell which API services are not available, and how often they became so', async () => {
  await server.create(services, apiService({ service: { namespace: 'default', name: 'nobody' } }))
  const unavailable = (service: string) => server.metric('aggregator_unavailable_apiservice', { name: service })
  await until('it is judged', async () => (await server.metric('aggregator_unavailable_apiservice_total', { name, reason: 'ServiceNotFound' })) === 1)
  expect([await unavailable(name), await unavailable('v1.apps')]).toEqual([1, 0])
  await server.delete(`${services}/${name}`)
  expect(await unavailable(name)).toBeUndefined()
})
