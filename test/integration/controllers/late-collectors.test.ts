import { describe, expect, it } from 'vitest'
import type { Container } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { ApiRequest, PropagationPolicy } from '../../../src/client/index.ts'
import { configmaps, namespaces, nodes, ownerReference, pods, secrets } from '../../../src/client/index.ts'
import type { ManagedController } from '../../../src/controllers/index.ts'
import { garbageCollector } from '../../../src/controllers/garbage-collector/controller.ts'
import { namespaceController } from '../../../src/controllers/namespace/controller.ts'
import { definePodGc, podGcController } from '../../../src/controllers/pod-gc/controller.ts'
import { Scene } from '../kit/scene.ts'

const finalizer = 'example.com/wait'
const containers: Container[] = [{ name: 'main', image: 'registry.example/app:1', resources: {} }]

const run = (s: Scene, name: string, nodeName?: string, finalizers: string[] = [], namespace = 'default') =>
  s.client.create(pods, {
    metadata: { name, namespace, finalizers },
    spec: { containers, ...(nodeName ? { nodeName } : {}) },
  })
const setPhase = (s: Scene, name: string, phase: string) =>
  s.client.patch(pods, 'default', name, { status: { phase } }, { type: 'merge', subresource: 'status' })
const release = (s: Scene, name: string, namespace = 'default') =>
  s.client.patch(configmaps, namespace, name, { metadata: { finalizers: null } }, { type: 'merge' })
const addNode = (s: Scene, name: string) => s.client.create(nodes, { metadata: { name }, spec: {} })

/** The actions of users. Between two steps the latest watch can catch up. */
type Life = (s: Scene) => Promise<void>

/** An owner with children, grandchildren, a child that somebody holds and one that has another owner, too. */
const family = (policy: PropagationPolicy): Life => async (s) => {
  const owner = await s.client.create(secrets, { metadata: { name: 'owner', namespace: 'default' } })
  const other = await s.client.create(secrets, { metadata: { name: 'other', namespace: 'default' } })
  const make = (name: string, owners: KubeObject[], finalizers: string[] = []) => {
    const ownerReferences = owners.map((o) => ownerReference(o, { blockOwnerDeletion: true }))
    return s.client.create(configmaps, { metadata: { name, namespace: 'default', ownerReferences, finalizers } })
  }
  for (const name of ['a', 'b', 'c', 'd']) await make(`${name}-child`, [await make(name, [owner])])
  await make('of-both', [owner, other])
  await make('held', [owner], [finalizer])
  await s.pass(60_000)
  await s.client.delete(secrets, 'default', 'owner', { propagationPolicy: policy })
  await s.pass(60_000)
  await release(s, 'held')
  await s.pass(60_000)
  await s.client.delete(secrets, 'default', 'other')
  await s.pass(60_000)
}

const deletedNamespace: Life = async (s) => {
  await s.client.create(namespaces, { metadata: { name: 'rowers' } })
  await run(s, 'pod', 'n', [], 'rowers')
  await s.client.create(configmaps, { metadata: { name: 'map', namespace: 'rowers', finalizers: [finalizer] } })
  await s.pass(60_000)
  await s.client.delete(namespaces, '', 'rowers')
  await s.pass(20_000)
  await s.client.delete(pods, 'rowers', 'pod', { gracePeriodSeconds: 0 })
  await s.pass(60_000)
  await release(s, 'map', 'rowers')
  await s.pass(120_000)
}

/** A node goes, pods are deleted that have none, and more end than are kept. */
const lostPods: Life = async (s) => {
  await addNode(s, 'gone')
  await addNode(s, 'there')
  for (const name of ['a', 'b', 'c']) await run(s, name, 'gone', name === 'a' ? [finalizer] : [])
  await s.pass(60_000)
  await s.client.delete(nodes, '', 'gone')
  await s.pass(120_000)
  await run(s, 'unscheduled', undefined, [finalizer])
  await s.client.delete(pods, 'default', 'unscheduled')
  await s.pass(120_000)
  for (let i = 0; i < 6; i++) {
    await run(s, `finished-${i}`, 'there')
    await setPhase(s, `finished-${i}`, 'Succeeded')
    await s.pass(7000)
  }
  await s.pass(120_000)
}

const podGc = definePodGc({ terminatedPodThreshold: 2 })

interface Sent {
  /** The writes with their results. */
  writes: string[]
  requests: ApiRequest[]
}

async function sent(controller: ManagedController, life: Life, latePlural = '', delayMs = 0): Promise<Sent> {
  const s = await Scene.start({ controllers: [controller] })
  s.wire.delaysMs.set(latePlural, delayMs)
  await life(s)
  const fateOf = (error: Error | undefined) => (error ? `: ${error.message}` : '')
  const writes = s.wire.writes.map(({ request, error }) => `${request.method} ${request.path}${fateOf(error)}`)
  return { writes: writes.sort(), requests: s.wire.writes.map(({ request }) => request) }
}

describe('a free controller whose watch events come late', () => {
  const seconds = [5, 30]
  const rows: [what: string, controller: ManagedController, life: Life, plurals: string[], seconds: number[]][] = [
    ['background deletion', garbageCollector, family('Background'), ['configmaps', 'secrets'], seconds],
    ['foreground deletion', garbageCollector, family('Foreground'), ['configmaps', 'secrets'], seconds],
    ['orphaning', garbageCollector, family('Orphan'), ['configmaps', 'secrets'], seconds],
    // If its deletion is seen after the pod in it has ended, there is less to do.
    ['a namespace', namespaceController, deletedNamespace, ['namespaces', 'pods'], [5]],
    ['lost pods', podGc, lostPods, ['pods', 'nodes'], seconds],
  ]
  const cases = rows.flatMap(([what, controller, life, plurals, all]) =>
    plurals.flatMap((plural) => all.map((late) => ({ what, controller, life, plural, late }))),
  )
  const sameWrites = 'makes exactly the writes it would make without delay: $what, $plural $late s late'

  it.each(cases)(sameWrites, async ({ controller, life, plural, late }) => {
    const onTime = await sent(controller, life)
    expect(onTime.writes.length).toBeGreaterThan(3)
    expect((await sent(controller, life, plural, late * 1000)).writes).toEqual(onTime.writes)
  })

  /** Collections are deleted in a namespace of which the server has just said that it is being deleted. */
  const isCollection = ({ method, path }: ApiRequest) =>
    method === 'DELETE' && path.startsWith('/api/v1/namespaces/rowers/') && path.split('/').length === 6

  it.each(rows)('names uid and version with every write: %s', async (_, controller, life) => {
    const { requests } = await sent(controller, life)
    const unnamed = requests.filter((request) => {
      type Named = { uid?: string; resourceVersion?: string }
      const body = request.body as { preconditions?: Named; metadata?: Named } | undefined
      const { uid, resourceVersion }: Named = body?.preconditions ?? body?.metadata ?? {}
      return !isCollection(request) && !(uid && resourceVersion)
    })
    expect(unnamed.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  })
})

describe('namespaces that are made anew', () => {
  it('keep what is in them, though the cache still tells of the deletion of the one before', async () => {
    const s = await Scene.start({ controllers: [namespaceController] })
    await s.client.create(namespaces, { metadata: { name: 'rowers' } })
    await s.pass(1000)
    s.wire.delaysMs.set('namespaces', 5000)
    await s.client.delete(namespaces, '', 'rowers')
    const going = await s.client.get(namespaces, '', 'rowers')
    const body = { ...going, apiVersion: 'v1', kind: 'Namespace', spec: { finalizers: [] } }
    await s.client.subresource(namespaces, '', 'rowers', 'finalize', { method: 'PUT', body })
    await s.client.create(namespaces, { metadata: { name: 'rowers' } })
    await s.client.create(configmaps, { metadata: { name: 'map', namespace: 'rowers' } })
    await s.pass(60_000)
    expect(s.wire.writes).toEqual([])
  })
})

describe('pod gc whose cache is behind', () => {
  it('does not say of a pod that it has failed which has ended well', async () => {
    const s = await Scene.start({ controllers: [podGcController] })
    await addNode(s, 'n')
    await run(s, 'pod', 'n', [finalizer])
    await s.pass(1000)
    await s.client.delete(nodes, '', 'n')
    await s.pass(38_000)
    s.wire.delaysMs.set('pods', 5000)
    await setPhase(s, 'pod', 'Succeeded')
    await s.pass(120_000)
    const { metadata, status } = await s.client.get(pods, 'default', 'pod')
    expect([status.phase, metadata.deletionTimestamp !== undefined]).toEqual(['Succeeded', true])
  })

  it('leaves pods to a node that is back in service', async () => {
    const s = await Scene.start({ controllers: [podGcController] })
    await addNode(s, 'n')
    await run(s, 'pod', 'n')
    await s.client.delete(pods, 'default', 'pod')
    const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]
    await s.client.patch(nodes, '', 'n', { spec: { taints } }, { type: 'merge' })
    await s.pass(1000)
    s.wire.delaysMs.set('nodes', 60_000)
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    await s.client.patch(nodes, '', 'n', { spec: { taints: null } }, { type: 'merge' })
    await s.client.patch(nodes, '', 'n', { status }, { type: 'strategic', subresource: 'status' })
    await s.pass(120_000)
    expect(s.wire.writes).toEqual([])
  })

  it('counts a pod once', async () => {
    const s = await Scene.start({ controllers: [podGc] })
    s.wire.delaysMs.set('pods', 30_000)
    await lostPods(s)
    expect(s.metric('pod_gc_collector_force_delete_pods_total', 'reason="terminated"')).toBe(4)
  })

  it('spares a pod that was made anew under the name of one that it removes', async () => {
    const s = await Scene.start({ controllers: [podGcController] })
    await addNode(s, 'there')
    await run(s, 'pod', 'gone')
    await s.pass(38_000)
    s.wire.delaysMs.set('pods', 60_000)
    await s.client.delete(pods, 'default', 'pod', { gracePeriodSeconds: 0 })
    const { metadata } = await run(s, 'pod', 'there')
    await s.pass(30_000)
    expect((await s.client.get(pods, 'default', 'pod')).metadata).toEqual(metadata)
  })
})
