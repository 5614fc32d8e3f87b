import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const totals = async () => (await server.get('/metrics')).text.split('\n').filter((l) => l.startsWith('apiserver_request_total{'))

describe('apiserver_request_total', () => {
  it.each([
    ['create', () => server.create(configMaps, configMap('b')), { verb: 'POST', resource: 'configmaps', scope: 'namespace', code: '201' }],
    ['get', () => server.get(`${configMaps}/a`), { verb: 'GET', resource: 'configmaps', scope: 'resource', code: '200' }],
    ['list', () => server.get(configMaps), { verb: 'LIST', resource: 'configmaps', scope: 'namespace', code: '200' }],
    ['list across namespaces', () => server.get('/api/v1/configmaps'), { verb: 'LIST', resource: 'configmaps', scope: 'cluster', code: '200' }],
    ['update', () => server.update(`${configMaps}/a`, configMap('a', { x: '1' })), { verb: 'PUT', resource: 'configmaps', scope: 'resource', code: '200' }],
    ['patch', () => server.patch(`${configMaps}/a`, {}), { verb: 'PATCH', resource: 'configmaps', scope: 'resource', code: '200' }],
    ['delete', () => server.delete(`${configMaps}/a`), { verb: 'DELETE', resource: 'configmaps', scope: 'resource', code: '200' }],
    ['deletecollection', () => server.delete(configMaps), { verb: 'DELETECOLLECTION', resource: 'configmaps', scope: 'namespace', code: '200' }],
    ['watch', () => server.watch(configMaps), { verb: 'WATCH', resource: 'configmaps', scope: 'namespace', code: '200' }],
    ['a dry run', () => server.create(`${configMaps}?dryRun=All`, configMap('b')), { verb: 'POST', dry_run: 'All', code: '201' }],
    ['a subresource', () => server.get(`${pods}/p/status`), { verb: 'GET', resource: 'pods', subresource: 'status', code: '200' }],
    ['what does not exist', () => server.get(`${configMaps}/nobody`), { verb: 'GET', resource: 'configmaps', code: '404' }],
    ['a kind of a group', () => server.get('/apis/apps/v1/deployments'), { verb: 'LIST', group: 'apps', version: 'v1', resource: 'deployments', code: '200' }],
  ])('counts %s', async (_what, act, labels) => {
    await server.create(configMaps, configMap('a'))
    await server.create(pods, pod('p'))
    const before = (await server.metric('apiserver_request_total', labels)) ?? 0
    await act()
    expect(await server.metric('apiserver_request_total', labels)).toBe(before + 1)
  })

  it('gets no more series by paths, methods and subresources that are made up', async () => {
    const tricks = (i: number) => [
      { method: 'GET', url: `/api/v1/bogus${i}` },
      { method: 'GET', url: `/apis/group${i}/v1/x` },
      { method: 'GET', url: `/apis/apps/v${i}beta/deployments` },
      { method: 'GET', url: `/bogus/${i}` },
      { method: 'GET', url: `${pods}/p/sub${i}` },
      { method: 'GET', url: `${pods}/name-${i}` },
      { method: 'GET', url: `/api/v1/namespaces/ns-${i}/pods` },
      { method: `M${i}`, url: `${pods}/p` },
      { method: 'constructor', url: `${pods}/p` },
      { method: 'GET', url: `/api/v1/nodes?dryRun=${i}` },
      { method: 'GET', url: `/livez/check${i}`, user: null },
    ]
    await totals()
    for (const sent of tricks(0)) await server.send(sent)
    const before = (await totals()).length
    for (let i = 1; i < 30; i++) for (const sent of tricks(i)) await server.send(sent)
    expect((await totals()).length).toBe(before)
  })
})

describe('pod_security_evaluations_total', () => {
  const evaluated = (decision: string, mode: string) =>
    server.metric('pod_security_evaluations_total', { decision, mode, resource: 'pod', request_operation: 'create' })

  it('counts each create of a pod once, also where the write waits for a quota', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'baseline', 'pod-security.kubernetes.io/warn': 'restricted' }
    await server.create('/api/v1/namespaces', { metadata: { name: 'held', labels } })
    await server.create('/api/v1/namespaces/held/resourcequotas', { metadata: { name: 'q' }, spec: { hard: { pods: '2' } } })
    const status = { hard: { pods: '2' }, used: { pods: '0' } }
    await server.patch('/api/v1/namespaces/held/resourcequotas/q/status', { status })
    await server.create(pods, pod('free'))
    const inHeld = '/api/v1/namespaces/held/pods'
    const asked = (name: string, host = false) => {
      const made = pod(name)
      return { ...made, metadata: { name }, spec: { ...made.spec, ...(host ? { hostNetwork: true } : {}) } }
    }
    expect((await server.create(inHeld, asked('a'))).code).toBe(201)
    expect((await server.create(inHeld, asked('b', true))).code).toBe(403)
    expect([await evaluated('allow', 'enforce'), await evaluated('deny', 'enforce'), await evaluated('deny', 'warn')])
      .toEqual([1, 1, 1])
    expect(await server.metric('pod_security_evaluations_total', { policy_level: 'privileged', decision: 'allow' })).toBe(1)
  })
})

describe('other metrics', () => {
  it('time requests, but not watches', async () => {
    await server.get(configMaps)
    await server.watch(configMaps)
    expect(await server.metric('apiserver_request_duration_seconds_count', { verb: 'LIST', resource: 'configmaps' })).toBe(1)
    expect(await server.metric('apiserver_request_duration_seconds_count', { verb: 'WATCH' })).toBeUndefined()
  })

  it('count what is stored and watched, and know the revision', async () => {
    await server.create(configMaps, configMap('a'))
    await server.watch(configMaps)
    expect(await server.metric('apiserver_storage_objects', { resource: 'configmaps' })).toBe(1)
    expect(await server.metric('apiserver_watch_cache_watchers', { resource: 'configmaps' })).toBe(1)
    expect(await server.metric('apiserver_longrunning_requests', { verb: 'WATCH', resource: 'configmaps' })).toBe(1)
    expect(await server.metric('coxswain_store_revision')).toBe(server.store.revision)
    expect(await server.metric('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  })

  it('have nobody in flight but the one who asks', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => server.create(configMaps, configMap(`a-${i}`))))
    expect(await server.metric('apiserver_current_inflight_requests', { request_kind: 'mutating' })).toBe(0)
    expect(await server.metric('apiserver_current_inflight_requests', { request_kind: 'readOnly' })).toBe(1)
  })
})

describe('health', () => {
  it.each(['/livez', '/readyz', '/healthz', '/livez/ping', '/readyz/store'])('%s is ok, for anybody', async (url) => {
    const { code, text } = await server.send({ method: 'GET', url, user: null })
    expect([code, text]).toEqual([200, 'ok'])
  })

  it('tells its checks one by one', async () => {
    const { text } = await server.get('/readyz?verbose')
    expect(text).toMatch(/^\[\+\]ping ok\n\[\+\]store ok\n[^]*readyz check passed\n$/)
  })

  it('has no checks of other names', async () => {
    expect((await server.get('/livez/bogus')).code).toBe(404)
  })

  it('is not ready, but alive, once the server is stopping', async () => {
    server.api.beginStop()
    expect([(await server.get('/readyz')).code, (await server.get('/livez')).code]).toEqual([500, 200])
    expect((await server.get('/readyz?exclude=shutdown')).code).toBe(200)
  })
})

describe('who is not known', () => {
  it.each([
    ['a resource', configMaps],
    ['discovery', '/api'],
    ['metrics', '/metrics'],
    ['OpenAPI', '/openapi/v2'],
    ['what does not exist', '/bogus'],
  ])('may not read %s', async (_what, url) => {
    const { code, body } = await server.send({ method: 'GET', url, user: null })
    expect([code, body.reason, body.message]).toEqual([401, 'Unauthorized', 'Unauthorized'])
  })

  it('is let in with a token', async () => {
    expect((await server.send({ method: 'GET', url: configMaps, user: null, headers: { authorization: 'Bearer sesame' } })).code).toBe(200)
    expect((await server.send({ method: 'GET', url: configMaps, user: null, headers: { authorization: 'Bearer wrong' } })).code).toBe(401)
  })
})

it('a page that somebody puts there is served, and named at the root', async () => {
  expect((await server.get('/slo')).code).toBe(404)
  server.api.pages.set('/slo', () => ({ type: 'application/json', body: '{"slos":[]}' }))
  expect((await server.get('/slo')).text).toBe('{"slos":[]}')
  expect((await server.get('/')).text).toContain('"/slo"')
})

describe('admission', () => {
  it('is measured by step and by plugin, as passed or rejected', async () => {
    const measured = async (name: string, labels: Record<string, string>) => (await server.metric(`apiserver_admission_${name}_admission_duration_seconds_count`, labels)) ?? 0
    const step = (type: string, rejected: string) => measured('step', { type, operation: 'CREATE', rejected })
    const plugin = (rejected: string) => measured('controller', { name: 'NamespaceLifecycle', type: 'admit', operation: 'CREATE', rejected })
    const before = [await step('admit', 'false'), await step('validate', 'false'), await step('admit', 'true'), await plugin('false'), await plugin('true')]
    await server.create(configMaps, configMap('a'))
    await server.create(configMaps.replace('default', 'nowhere'), configMap('a'))
    const after = [await step('admit', 'false'), await step('validate', 'false'), await step('admit', 'true'), await plugin('false'), await plugin('true')]
    expect(after).toEqual(before.map((count) => count + 1))
  })
})
