import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import type { ObjectReader } from '../../src/server/objects/objects.ts'
import { WebhookClient } from '../../src/server/webhooks/client.ts'
import { SeededRandom } from '../seeded-random.ts'
import { WebhookServer } from './webhook-server.ts'

const review = { apiVersion: 'example.com/v1', kind: 'Review' }
const clock = new VirtualClock()

let hook: WebhookServer
let client: WebhookClient
/** Objects by plural and name. */
let stored: Record<string, object>

const objects: ObjectReader = {
  get: <T extends KubeObject>(_group: string, plural: string, _namespace: string, name: string) => stored[`${plural}/${name}`] as T | undefined,
  list: <T extends KubeObject>(_group: string, plural: string) =>
    Object.entries(stored).filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object as T),
}

beforeEach(async () => {
  stored = {}
  hook = await WebhookServer.start((body) => ({ ...body, answered: true }))
  client = new WebhookClient({ objects, clock, random: new SeededRandom(1) })
})
afterEach(async () => {
  client.close()
  await hook.close()
})

const call = (config: object = hook.clientConfig) => client.call(config, review, { timeoutMs: 10_000, tellsTimeout: true })
const failure = (config?: object): Promise<string> => call(config).then(() => 'no failure', (e: Error) => e.message)

function serve(spec: object, port = hook.port): void {
  stored['services/hook'] = { metadata: { name: 'hook' }, spec: { ports: [{ port: 443, name: 'https' }], ...spec } }
  stored['endpointslices/hook'] = {
    metadata: { labels: { 'kubernetes.io/service-name': 'hook' } },
    ports: [{ name: 'https', port }],
    endpoints: [{ addresses: ['127.0.0.2'], conditions: { ready: false } }, { addresses: ['127.0.0.1'], conditions: { ready: true } }],
  }
}
const byService = (more: object = {}) => ({ service: { namespace: 'default', name: 'hook', path: '/in', ...more }, caBundle: hook.caBundle })

describe('WebhookClient', () => {
  it('posts JSON to a URL and reads the answer, on one connection', async () => {
    let connections = new Set<unknown>()
    hook.answer = (body, request) => {
      connections.add(request.socket)
      return { ...body, agent: request.headers['content-type'] }
    }
    expect(await call()).toEqual({ ...review, agent: 'application/json' })
    await call()
    expect(connections.size).toBe(1)
    expect(hook.calls[0]).toEqual({ path: '/?timeout=10s', body: review })
  })

  it('finds a ready endpoint of a service, whose certificate names the service', async () => {
    serve({})
    expect(await call(byService())).toMatchObject({ answered: true })
    expect(hook.calls[0]!.path).toBe('/in?timeout=10s')
  })

  it('asks again on a new connection where the kept one is closed', async () => {
    await call()
    let isFirst = true
    hook.answer = (body, request) => {
      if (!isFirst) return { ...body, again: true }
      isFirst = false
      request.socket.destroy()
      return undefined
    }
    expect(await call()).toMatchObject({ again: true })
  })

  it.each([
    ['of a service that is not there', {}, () => byService(), 'service "hook" not found'],
    ['of a port that the service has not', { ports: [] }, () => byService(), 'no service port 443 found for service "hook"'],
  ])('says %s what is missing', async (_name, spec, config, why) => {
    if ('ports' in spec) serve(spec)
    expect(await failure(config())).toBe(`Post "https://hook.default.svc:443/in?timeout=10s": ${why}`)
  })

  it('says that a service has no endpoints', async () => {
    serve({})
    delete stored['endpointslices/hook']
    expect(await failure(byService())).toBe('Post "https://hook.default.svc:443/in?timeout=10s": no endpoints available for service "hook"')
  })

  it('says that nobody listens', async () => {
    const config = hook.clientConfig
    const { port } = hook
    await hook.close()
    expect(await failure(config)).toBe(`Post "https://127.0.0.1:${port}/?timeout=10s": dial tcp 127.0.0.1:${port}: connect: connection refused`)
  })

  it('refuses a certificate of an unknown authority, and one for another name', async () => {
    expect(await failure({ url: hook.url })).toBe(`Post "${hook.url}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`)
    serve({})
    stored['services/other'] = stored['services/hook']!
    stored['endpointslices/other'] = { ...stored['endpointslices/hook'], metadata: { labels: { 'kubernetes.io/service-name': 'other' } } }
    expect(await failure(byService({ name: 'other' }))).toBe(
      'Post "https://other.default.svc:443/in?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for 127.0.0.1, hook.default.svc, not other.default.svc',
    )
  })

  it('ends a call when its time is up', async () => {
    hook.answer = () => new Promise(() => {})
    const failed = failure()
    while (hook.calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(10_000)
    expect(await failed).toBe(`Post "${hook.url}?timeout=10s": context deadline exceeded`)
  })

  it('says that the other side speaks no TLS', async () => {
    const plain = createServer((_request, response) => response.end('{}'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}/`
    expect(await failure({ url })).toBe(`Post "${url}?timeout=10s": http: server gave HTTP response to HTTPS client`)
    await new Promise((resolve) => plain.close(resolve))
  })

  it.each([
    [500, 'boom', 'an error on the server ("boom") has prevented the request from succeeding'],
    [404, 'nothing here', 'the server could not find the requested resource'],
    [302, '', 'the server responded with the status code 302 but did not return more information'],
    [409, '{"kind":"Status","message":"it was me"}', 'it was me'],
    [200, 'no json', "couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')"],
    [200, '{}', "Object 'Kind' is missing in '{}'"],
    [200, '{"kind":"Review"}', `Object 'apiVersion' is missing in '{"kind":"Review"}'`],
  ])('words an answer of %i %j as client-go does', async (code, text, message) => {
    hook.answer = (_body, _request, response) => {
      response.writeHead(code, { 'content-type': 'application/json', location: '/elsewhere' }).end(text)
    }
    expect(await failure()).toBe(message)
    expect(hook.calls).toHaveLength(1)
  })
})
