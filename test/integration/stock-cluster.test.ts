import { describe, expect, it, onTestFinished } from 'vitest'
import { type ResourceType, clonesets, daemonsets, deployments, isNotFound, statefulsets } from '../../src/client/index.ts'
import { VirtualClock, settled, startCluster } from '../../src/cluster/testing.ts'
import { cloneSetDefinition } from './stock/definitions.ts'
import { daemonSet, deployment, statefulSet } from './stock/workloads.ts'

async function start() {
  const cluster = await startCluster({ stock: true, clock: new VirtualClock() })
  onTestFinished(() => cluster.stop())
  return cluster
}

describe('startCluster({ stock: true })', () => {
  it('has none of our fields: they are dropped from writes, and refused where fields are validated', async () => {
    const { client } = await start()
    const set = { ...statefulSet('s'), spec: { ...statefulSet('s').spec, progressDeadlineSeconds: 60 } }
    const made = await client.create(statefulsets, set as never)
    expect(made.spec).not.toHaveProperty('progressDeadlineSeconds')
    const strictly = client.transport.send({
      method: 'POST', path: '/apis/apps/v1/namespaces/default/statefulsets', query: { fieldValidation: 'Strict' },
      body: { ...set, metadata: { ...set.metadata, name: 't' } },
    })
    await expect(strictly).rejects.toThrow('unknown field "spec.progressDeadlineSeconds"')
  })

  const kinds: [string, ResourceType, object][] = [
    ['StatefulSet', statefulsets, statefulSet('w')],
    ['DaemonSet', daemonsets, daemonSet('w')],
    ['Deployment', deployments, deployment('w')],
  ]
  it.each(kinds)('refuses an apply of our fields to the conditions of a %s, and takes Kubernetes\' own', async (kind, type, object) => {
    const { client } = await start()
    await client.create(type, object as never)
    const condition = { type: 'Available', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' }
    const apply = (more: object) =>
      client.patch(
        type, 'default', 'w',
        { apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, status: { conditions: [{ ...condition, ...more }] } } as never,
        { type: 'apply', subresource: 'status', fieldManager: 'f' },
      )
    await expect(apply({ progress: { revision: 'x' } })).rejects.toThrow('.status.conditions[type="Available"].progress: field not declared in schema')
    expect((await apply({}) as any).status.conditions).toMatchObject([condition])
  })

  it('tells nothing of our fields in OpenAPI', async () => {
    const { client } = await start()
    const text = JSON.stringify(await client.transport.send({ method: 'GET', path: '/openapi/v3/apis/apps/v1' }))
    expect(text).toContain('io.k8s.api.apps.v1.StatefulSetSpec')
    expect(text).not.toMatch(/ProgressMark|updateRevision" *: *\{[^}]*this status was written for|Stock/)
    const { components } = JSON.parse(text)
    expect(components.schemas['io.k8s.api.apps.v1.StatefulSetSpec'].properties).not.toHaveProperty('progressDeadlineSeconds')
    expect(components.schemas['io.k8s.api.apps.v1.DeploymentSpec'].properties).toHaveProperty('progressDeadlineSeconds')
  })

  it('has no CloneSets until somebody brings the kind', async () => {
    const { client } = await start()
    expect(isNotFound(await client.list(clonesets, 'default').catch((e: unknown) => e))).toBe(true)
    await client.transport.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: cloneSetDefinition })
    await settled()
    expect((await client.list(clonesets, 'default')).items).toEqual([])
  })
})
