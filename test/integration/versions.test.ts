import { describe, expect, it } from 'vitest'
import type { TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

describe('events of both groups', () => {
  const core = '/api/v1/namespaces/default/events'
  const grouped = '/apis/events.k8s.io/v1/namespaces/default/events'
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' }

  it('are the same objects, each shown in its own words', async () => {
    const made = await server.create(core, { metadata: { name: 'e' }, involvedObject, reason: 'Started', message: 'it runs', type: 'Normal', source: { component: 'kubelet' }, count: 3 })
    expect(made.code).toBe(201)
    const { body } = await server.get(`${grouped}/e`)
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { uid: made.body.metadata.uid, resourceVersion: made.body.metadata.resourceVersion },
      regarding: involvedObject,
      reason: 'Started',
      note: 'it runs',
      deprecatedSource: { component: 'kubelet' },
      deprecatedCount: 3,
    })
    expect(body.involvedObject).toBeUndefined()
    expect((await server.get(grouped)).body.items).toHaveLength(1)
  })

  it('are seen by watchers of either, whoever writes them', async () => {
    const [a, b] = [await server.watch(core), await server.watch(grouped)]
    const made = await server.create(grouped, {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/c',
      reportingInstance: 'c-1',
      action: 'Act',
      reason: 'Because',
      type: 'Normal',
      regarding: involvedObject,
      note: 'hello',
    })
    expect(made.code).toBe(201)
    const [[seenCore], [seenGrouped]] = [await a.take(), await b.take()]
    expect(seenCore!.object).toMatchObject({ apiVersion: 'v1', message: 'hello', involvedObject })
    expect(seenGrouped!.object).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'hello', regarding: involvedObject })
    expect(await server.metric('apiserver_storage_objects', { resource: 'events' })).toBe(1)
  })

  it('are gone from both when deleted in one', async () => {
    await server.create(core, { metadata: { name: 'e' }, involvedObject })
    expect((await server.delete(`${grouped}/e`)).code).toBe(200)
    expect((await server.get(`${core}/e`)).code).toBe(404)
  })
})

describe('autoscalers of both versions', () => {
  const v1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  const v2 = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers'
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }

  it('are the same objects: what v1 says of CPU is a metric in v2', async () => {
    const made = await server.create(v1, { metadata: { name: 'h' }, spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 70 } })
    expect(made.code).toBe(201)
    const { body } = await server.get(`${v2}/h`)
    expect(body.apiVersion).toBe('autoscaling/v2')
    expect(body.spec.metrics).toEqual([{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }])
    expect([body.metadata.uid, body.metadata.resourceVersion]).toEqual([made.body.metadata.uid, made.body.metadata.resourceVersion])
  })

  it('lose nothing of v2 when v1 writes them', async () => {
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    ]
    const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } }
    expect((await server.create(v2, { metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 5, metrics, behavior } })).code).toBe(201)
    const old = await server.get(`${v1}/h`)
    expect(old.body.spec.targetCPUUtilizationPercentage).toBe(60)
    expect((await server.update(`${v1}/h`, { ...old.body, spec: { ...old.body.spec, maxReplicas: 9 } })).code).toBe(200)
    const { body } = await server.get(`${v2}/h`)
    expect(body.spec.maxReplicas).toBe(9)
    expect(body.spec.metrics.map((m: { resource: { name: string } }) => m.resource.name).sort()).toEqual(['cpu', 'memory'])
    expect(body.spec.behavior.scaleDown.stabilizationWindowSeconds).toBe(60)
  })

  it('conflict across versions as within one', async () => {
    await server.create(v2, { metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 5 } })
    const stale = (await server.get(`${v1}/h`)).body
    await server.patch(`${v2}/h`, { spec: { maxReplicas: 6 } })
    expect((await server.update(`${v1}/h`, { ...stale, spec: { ...stale.spec, maxReplicas: 7 } })).code).toBe(409)
  })
})
