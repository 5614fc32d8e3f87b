import { type Server, createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { systemRandom } from '../../base/random.ts'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../auth/certificates.ts'
import { type Listener, listen } from '../http/listener/listener.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { ProxyDoor } from './proxy-door.ts'
import { parseProxyPath } from './proxy-path.ts'

const now = Date.now()
const authority = createAuthority(now)
const serving = issueServerCertificate(authority, ['127.0.0.1'], now)
const client = issueClientCertificate(authority, { commonName: 'ann' }, now)
/** A loopback address as pods of the process runtime have it. */
const podIp = '127.77.0.5'

let backend: Server
let listener: Listener
let port: number
let stored: Map<string, unknown>
let door: ProxyDoor

const put = (group: string, plural: string, name: string, object: object) => stored.set(`${group}/${plural}/${name}`, object)
const objects: ObjectReader = {
  get: (group, plural, _namespace, name) => stored.get(`${group}/${plural}/${name}`) as never,
  list: <T extends KubeObject>(group: string, plural: string) => [...stored].filter(([key]) => key.startsWith(`${group}/${plural}/`)).map(([, object]) => object as T),
}

beforeEach(async () => {
  stored = new Map()
  backend = createServer((request, response) => {
    if (request.url === '/redirect') return void response.writeHead(302, { location: '/elsewhere?x=1' }).end()
    if (request.url === '/away') return void response.writeHead(302, { location: 'https://example.com/x' }).end()
    if (request.url === '/odd') return void response.writeHead(418, { 'set-cookie': ['a=1', 'b=2'], 'access-control-allow-origin': '*', 'cache-control': 'max-age=5' }).end('teapot')
    let length = 0
    request.on('data', (piece: Buffer) => (length += piece.length))
    request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, length })))
  })
  backend.on('upgrade', (request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello `)
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => backend.listen(0, podIp, resolve))
  port = (backend.address() as AddressInfo).port
  put('', 'pods', 'web', { metadata: { name: 'web' }, spec: { containers: [{ name: 'c', ports: [{ containerPort: port }] }] }, status: { podIP: podIp, podIPs: [{ ip: podIp }] } })
  door = new ProxyDoor({ objects, random: systemRandom, identity: undefined })
  listener = await listen({
    address: '127.0.0.1', port: 0, serving, clientAuthorities: [authority.certificate],
    async handle(exchange) {
      try {
        await door.serve(exchange, parseProxyPath(exchange.url.replace(/\?.*/s, ''))!, { 'audit-id': 'x', 'cache-control': 'no-cache, private' })
      } catch (e) {
        const { code = 500, message } = e as { code?: number; message: string }
        exchange.respond(code, {}, { length: Buffer.byteLength(message), pieces: [Buffer.from(message)] })
      }
    },
  })
})

afterEach(async () => {
  door.end()
  await listener.close(0)
  backend.closeAllConnections()
  await new Promise((resolve) => backend.close(resolve))
})

interface Got {
  code: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

const tls = { ca: authority.certificate, cert: client.certificate, key: client.key }

function http1(path: string, method = 'GET', body?: Buffer, headers: Record<string, string> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: '127.0.0.1', port: listener.port, path, method, headers, agent: false, ...tls }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve({ code: response.statusCode!, headers: response.headers, text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

function http2(path: string, method = 'GET', body?: Buffer, headers: Record<string, string> = {}): Promise<Got> {
  const session = connectHttp2(`https://127.0.0.1:${listener.port}`, tls)
  return new Promise<Got>((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: !body })
    const got: Got = { code: 0, headers: {}, text: '' }
    stream.on('response', (answer) => Object.assign(got, { code: Number(answer[':status']), headers: answer }))
    stream.on('data', (piece: Buffer) => (got.text += piece.toString()))
    stream.on('error', reject)
    stream.on('close', () => resolve(got))
    if (body) stream.end(body)
  }).finally(() => session.destroy())
}

const root = '/api/v1/namespaces/default/pods/web/proxy'

describe.each([['HTTP/1.1', http1], ['HTTP/2', http2]])('pods/proxy over %s', (_protocol, send) => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('hands over %s with its path and query as they were sent', async (method) => {
    const { code, text } = await send(`${root}/a//b%2Fc/?q=%20&r`, method)
    expect([code, JSON.parse(text)]).toMatchObject([200, { method, url: '/a//b%2Fc/?q=%20&r' }])
  })

  it('hands over a HEAD', async () => {
    expect(await send(`${root}/x`, 'HEAD')).toMatchObject({ code: 200, text: '' })
  })

  it('hands over a body of any length', async () => {
    const { text } = await send(`${root}/up`, 'POST', Buffer.alloc(8 << 20))
    expect(JSON.parse(text).length).toBe(8 << 20)
  })

  it('tells where the request came to, and not who sent it', async () => {
    const { text } = await send(`${root}/x?y`, 'GET', undefined, { authorization: 'Bearer secret', 'impersonate-user': 'bob', 'x-own': '1', te: 'trailers' })
    const { headers } = JSON.parse(text)
    expect(headers).toMatchObject({ 'x-own': '1', 'x-forwarded-proto': 'https', 'x-forwarded-uri': `${root}/x`, 'x-forwarded-host': `127.0.0.1:${listener.port}` })
    for (const name of ['authorization', 'impersonate-user', 'te']) expect(headers[name]).toBeUndefined()
  })

  it('hands back code, headers and body, without leave for other sites', async () => {
    const { code, headers, text } = await send(`${root}/odd`)
    expect([code, text]).toEqual([418, 'teapot'])
    expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'cache-control': 'max-age=5', 'audit-id': 'x' })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it.each([['/redirect', `${root}/elsewhere?x=1`], ['/away', 'https://example.com/x']])('a redirect of %s leads to %s', async (path, location) => {
    expect((await send(`${root}${path}`)).headers['location']).toBe(location)
  })

  it('redirects to the path with a slash at its end', async () => {
    expect(await send(`${root}?a=b`)).toMatchObject({ code: 301, headers: { location: `${root}/?a=b` } })
    expect((await send(root, 'POST')).code).toBe(200)
  })

  it('says in Kubernetes\' words that nobody answers', async () => {
    const { code, text } = await send('/api/v1/namespaces/default/pods/web:1/proxy/')
    expect([code, text]).toEqual([503, `error trying to reach service: dial tcp ${podIp}:1: connect: connection refused`])
  })
})

it('other protocols pass through', async () => {
  const got = await new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connectTls({ host: '127.0.0.1', port: listener.port, ...tls, ALPNProtocols: ['http/1.1'] }, () => {
      socket.write(`GET ${root}/talk HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`)
    })
    socket.on('error', reject)
    socket.on('data', (piece) => {
      text += piece.toString()
      if (text.endsWith('hello ')) socket.write('world')
      if (!text.endsWith('world')) return
      socket.destroy()
      resolve(text)
    })
  })
  expect(got).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  expect(got).toContain('upgrade: echo')
  expect(got).toMatch(/\r\n\r\nhello world$/)
})

describe('what a path means', () => {
  const pods = '/api/v1/namespaces/default/pods'
  const services = '/api/v1/namespaces/default/services'
  const slice = (more: object = {}) => ({
    metadata: { labels: { 'kubernetes.io/service-name': 'shop' } }, ports: [{ name: 'http', port }], endpoints: [{ addresses: [podIp], targetRef: { kind: 'Pod', name: 'web' } }], ...more,
  })

  beforeEach(() => {
    put('', 'services', 'shop', { spec: { ports: [{ name: 'http', port: 80 }, { name: 'empty', port: 81 }] } })
    put('discovery.k8s.io', 'endpointslices', 'shop-1', slice())
    put('', 'services', 'old', { spec: { ports: [{ port: 80 }] } })
    put('', 'endpoints', 'old', { subsets: [{ addresses: [{ ip: podIp, targetRef: { kind: 'Pod', name: 'web' } }], ports: [{ port }] }] })
    put('', 'pods', 'nowhere', { metadata: {}, spec: {}, status: {} })
    put('', 'pods', 'here', { metadata: {}, spec: {}, status: { podIP: '127.0.0.1' } })
    put('', 'pods', 'dreamt', { metadata: {}, spec: { nodeName: 'sim' }, status: { podIP: '10.1.2.3', podIPs: [{ ip: '10.1.2.3' }] } })
    put('', 'nodes', 'sim', { status: { nodeInfo: { containerRuntimeVersion: 'simulated://1.0.0' } } })
  })

  it.each([
    [() => `${pods}/web:${port}/proxy/`, 200, undefined],
    [() => `${pods}/http:web:${port}/proxy/`, 200, undefined],
    [() => `${pods}/ftp:web:80/proxy/`, 400, 'invalid pod request "ftp:web:80"'],
    [() => `${pods}/a:b:c:d/proxy/`, 400, 'invalid pod request "a:b:c:d"'],
    [() => `${pods}/nobody/proxy/`, 404, 'pods "nobody" not found'],
    [() => `${pods}/nowhere/proxy/`, 400, 'address not allowed'],
    [() => `${pods}/here/proxy/`, 400, 'address not allowed'],
    [() => `${pods}/dreamt:8080/proxy/`, 503, 'error trying to reach service: dial tcp 10.1.2.3:8080: connect: connection refused'],
    [() => `${services}/shop:http/proxy/`, 200, undefined],
    [() => `${services}/shop:80/proxy/`, 200, undefined],
    [() => `${services}/old/proxy/`, 200, undefined],
    [() => `${services}/shop/proxy/`, 503, 'no endpoints available for service "shop"'],
    [() => `${services}/shop:81/proxy/`, 503, 'no endpoints available for service "shop:81"'],
    [() => `${services}/shop:82/proxy/`, 503, 'no service port 82 found for service "shop"'],
    [() => `${services}/nobody/proxy/`, 404, 'services "nobody" not found'],
    [() => '/api/v1/nodes/nobody/proxy/', 404, 'nodes "nobody" not found'],
    [() => '/api/v1/nodes/a:b:c/proxy/', 400, 'invalid node request "a:b:c"'],
  ])('row %#', async (path, code, message) => {
    const got = await http1(path())
    expect([got.code, message === undefined ? undefined : got.text]).toEqual([code, message])
  })

  it.each([
    ['is not ready', { endpoints: [{ addresses: [podIp], conditions: { ready: false }, targetRef: { kind: 'Pod', name: 'web' } }] }],
    ['is no pod', { endpoints: [{ addresses: [podIp] }] }],
    ['is a pod that has another address', { endpoints: [{ addresses: ['127.77.0.6'], targetRef: { kind: 'Pod', name: 'web' } }] }],
  ])('an endpoint that %s is passed over', async (_what, more) => {
    put('discovery.k8s.io', 'endpointslices', 'shop-1', slice(more))
    expect((await http1(`${services}/shop:http/proxy/`)).code).toBe(503)
  })
})
