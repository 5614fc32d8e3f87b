import { describe, expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { subdomainName } from '../../../src/api/validation/names.ts'
import { defineResource } from '../../../src/server/registry/resource.ts'
import { TransportError, clusterroles, configmaps, namespaces, ownerReference, resourceType, secrets } from '../../../src/client/index.ts'
import { SeededRandom } from '../../../src/cluster/testing.ts'
import { ControllerManager } from '../../../src/controllers/index.ts'
import { defineGarbageCollector, garbageCollector } from '../../../src/controllers/garbage-collector/controller.ts'
import { RecordedTransport } from '../kit/recorded-transport.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [garbageCollector] })

/** A ConfigMap with owners; what it is made of matters to nobody. */
async function make(s: Scene, name: string, owners: OwnerReference[] = [], namespace = 'default') {
  return s.client.create(configmaps, { metadata: { name, namespace, ...(owners.length ? { ownerReferences: owners } : {}) } })
}

const refTo = (owner: Awaited<ReturnType<typeof make>>, blocks = true): OwnerReference => ownerReference(owner, { blockOwnerDeletion: blocks })

async function names(s: Scene, namespace = 'default'): Promise<string[]> {
  return (await s.client.list(configmaps, namespace)).items.map((c) => c.metadata.name!).filter((name) => name !== 'kube-root-ca.crt')
}

const finalizer = 'example.com/wait'
const release = (s: Scene, name: string) => s.client.patch(configmaps, 'default', name, { metadata: { finalizers: null } }, { type: 'merge' })

describe('the garbage collector, in the background', () => {
  it('deletes dependents, and theirs, when the owner is gone', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    const child = await make(s, 'child', [refTo(owner)])
    await make(s, 'grandchild', [refTo(child)])
    await make(s, 'stranger')
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Background' })
    await s.pass(1000)
    expect(await names(s)).toEqual(['stranger'])
    expect(s.wire.counts()).toEqual({ 'DELETE configmaps': 2 })
  })

  it('keeps what another owner keeps, and takes the lost one from it', async () => {
    const s = await start()
    const [a, b] = [await make(s, 'a'), await make(s, 'b')]
    await make(s, 'child', [refTo(a), refTo(b)])
    await s.client.delete(configmaps, 'default', 'a')
    await s.pass(1000)
    expect((await s.client.get(configmaps, 'default', 'child')).metadata.ownerReferences?.map((r) => r.name)).toEqual(['b'])
    await s.client.delete(configmaps, 'default', 'b')
    await s.pass(1000)
    expect(await names(s)).toEqual([])
  })

  it('deletes what refers to an owner that never was, or to another one of its name', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await make(s, 'never', [{ ...refTo(owner), name: 'nobody', uid: 'no-such-uid' }])
    await make(s, 'namesake', [{ ...refTo(owner), uid: 'another-uid' }])
    await make(s, 'true', [refTo(owner)])
    await s.pass(2000)
    expect(await names(s)).toEqual(['owner', 'true'])
  })

  it('keeps what refers to a kind that the server does not have', async () => {
    const s = await start()
    await make(s, 'child', [{ apiVersion: 'example.com/v1', kind: 'Boat', name: 'argo', uid: 'x' }])
    await s.pass(60_000)
    expect(await names(s)).toEqual(['child'])
    expect(s.wire.writes).toEqual([])
  })

  it('collects what was left when it was not there', async () => {
    const s = await Scene.start({ controllers: [] })
    const [gone, left] = [await make(s, 'gone'), await make(s, 'left')]
    await make(s, 'of-gone', [refTo(gone)])
    await make(s, 'of-left', [refTo(left)])
    await s.client.delete(configmaps, 'default', 'gone')
    const manager = new ControllerManager({ transport: s.cluster.transport, controllers: [garbageCollector], clock: s.clock, random: new SeededRandom(1) })
    await manager.start()
    await s.pass(2000)
    expect(await names(s)).toEqual(['left', 'of-left'])
    const stopped = manager.stop()
    await s.pass(5000)
    await stopped
  })

  it('goes by the server where its cache is behind', async () => {
    const s = await start()
    await s.pass(1000)
    s.wire.delaysMs.set('secrets', 60_000)
    const owner = await s.client.create(secrets, { metadata: { name: 'owner', namespace: 'default' } })
    await make(s, 'child', [ownerReference(owner, {})])
    await s.pass(10_000)
    expect(await names(s)).toEqual(['child'])
    await s.client.delete(secrets, 'default', 'owner')
    await s.pass(30_000) // its cache has seen neither its coming nor its going
    expect(await names(s)).toEqual([])
  })

  it('does not delete what was given another owner at the last moment', async () => {
    const s = await start()
    const [a, b] = [await make(s, 'a'), await make(s, 'b')]
    await make(s, 'child', [refTo(a)])
    await s.pass(1000)
    s.wire.delaysMs.set('configmaps', 1000)
    await s.client.delete(configmaps, 'default', 'a')
    await s.pass(500)
    await s.client.patch(configmaps, 'default', 'child', { metadata: { ownerReferences: [refTo(b)] } }, { type: 'merge' })
    await s.pass(5000)
    expect(await names(s)).toEqual(['b', 'child'])
  })

  it('tries again after an error', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await make(s, 'child', [refTo(owner)])
    let left = 2
    s.wire.intercept = (_request, send) => (left-- > 0 ? Promise.reject(new TransportError('read ECONNRESET', false)) : send())
    await s.client.delete(configmaps, 'default', 'owner')
    await s.pass(5000)
    expect(await names(s)).toEqual([])
  })
})

describe('the garbage collector, in the foreground', () => {
  it('lets the owner go last, and no dependent waits for another', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await s.client.create(configmaps, { metadata: { name: 'slow', namespace: 'default', ownerReferences: [refTo(owner)], finalizers: [finalizer] } })
    await make(s, 'quick', [refTo(owner)])
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Foreground' })
    await s.pass(2000)
    expect(await names(s)).toEqual(['owner', 'slow'])
    await release(s, 'slow')
    await s.pass(1000)
    expect(await names(s)).toEqual([])
  })

  it('does not wait for dependents that do not block', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await s.client.create(configmaps, { metadata: { name: 'slow', namespace: 'default', ownerReferences: [refTo(owner, false)], finalizers: [finalizer] } })
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Foreground' })
    await s.pass(2000)
    expect(await names(s)).toEqual(['slow'])
    await release(s, 'slow')
    expect(await names(s)).toEqual([])
  })

  it('goes down to the last generation', async () => {
    const s = await start()
    const a = await make(s, 'a')
    const b = await make(s, 'b', [refTo(a)])
    await s.client.create(configmaps, { metadata: { name: 'c', namespace: 'default', ownerReferences: [refTo(b)], finalizers: [finalizer] } })
    await s.client.delete(configmaps, 'default', 'a', { propagationPolicy: 'Foreground' })
    await s.pass(2000)
    expect(await names(s)).toEqual(['a', 'b', 'c'])
    await release(s, 'c')
    await s.pass(1000)
    expect(await names(s)).toEqual([])
  })

  it('leaves what another owner keeps', async () => {
    const s = await start()
    const [a, b] = [await make(s, 'a'), await make(s, 'b')]
    await make(s, 'child', [refTo(a), refTo(b)])
    await s.client.delete(configmaps, 'default', 'a', { propagationPolicy: 'Foreground' })
    await s.pass(2000)
    expect(await names(s)).toEqual(['b', 'child'])
  })

  it.each([['one of them', ['a']], ['both', ['a', 'b']]])('ends a circle when %s is deleted', async (_who, deleted) => {
    const s = await start()
    const a = await make(s, 'a')
    const b = await make(s, 'b', [refTo(a)])
    await s.client.patch(configmaps, 'default', 'a', { metadata: { ownerReferences: [refTo(b), refTo(a)] } }, { type: 'merge' })
    await s.pass(1000)
    for (const name of deleted) await s.client.delete(configmaps, 'default', name, { propagationPolicy: 'Foreground' })
    await s.pass(2000)
    expect(await names(s)).toEqual([])
  })
})

describe('the garbage collector, orphaning', () => {
  const orphans = async (s: Scene) => (await s.client.list(configmaps, 'default')).items.map((c) => [c.metadata.name, c.metadata.ownerReferences?.length ?? 0])

  it('lets go of the dependents and then of the owner', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await make(s, 'a', [refTo(owner)])
    await make(s, 'b', [refTo(owner)])
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Orphan' })
    await s.pass(2000)
    expect(await orphans(s)).toEqual([['a', 0], ['b', 0]])
  })

  it('overlooks no dependent that its cache has not seen', async () => {
    const s = await start()
    await s.pass(1000)
    s.wire.delaysMs.set('secrets', 5000)
    const owner = await make(s, 'owner')
    await s.client.create(secrets, { metadata: { name: 'late', namespace: 'default', ownerReferences: [refTo(owner)] } })
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Orphan' })
    await s.pass(20_000)
    expect((await s.client.get(secrets, 'default', 'late')).metadata.ownerReferences).toBeUndefined()
  })

  it('goes on where another collector was cut off', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await make(s, 'child', [refTo(owner)])
    s.wire.intercept = async (_request, send) => {
      s.wire.intercept = undefined
      await send()
      throw new TransportError('read ECONNRESET', false)
    }
    await s.client.delete(configmaps, 'default', 'owner', { propagationPolicy: 'Orphan' })
    await s.pass(5000)
    expect(await orphans(s)).toEqual([['child', 0]])
  })
})

describe('owners out of reach', () => {
  it('an owner in another namespace is none, and users are told', async () => {
    const s = await start()
    await s.client.create(namespaces, { metadata: { name: 'other' } })
    const owner = await make(s, 'owner', [], 'other')
    const child = await make(s, 'child', [refTo(owner)])
    await s.pass(2000)
    expect(await names(s)).toEqual([])
    expect(await names(s, 'other')).toEqual(['owner'])
    const { uid } = owner.metadata
    expect(await s.events('child')).toEqual([
      `Warning OwnerRefInvalidNamespace ×1: ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${uid}] does not exist in namespace "default"`,
    ])
    expect(child.metadata.uid).not.toBe(uid)
  })

  it('a cluster-wide object with an owner in a namespace is left alone', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await s.client.create(clusterroles, { metadata: { name: 'child', ownerReferences: [refTo(owner)] }, rules: [] })
    await s.client.delete(configmaps, 'default', 'owner')
    await s.pass(60_000)
    expect((await s.client.get(clusterroles, '', 'child')).metadata.name).toBe('child')
  })

  it('a cluster-wide owner has dependents anywhere', async () => {
    const s = await start()
    const owner = await s.client.create(clusterroles, { metadata: { name: 'owner' }, rules: [] })
    await make(s, 'child', [ownerReference(owner, {})])
    await s.pass(2000)
    expect(await names(s)).toEqual(['child'])
    await s.client.delete(clusterroles, '', 'owner')
    await s.pass(1000)
    expect(await names(s)).toEqual([])
  })
})

describe('kinds that come and go', () => {
  interface Groups {
    items: { versions: { resources: { resource: string }[] }[] }[]
  }

  /** As long as `isHidden`, the server does not tell that it has secrets. */
  function hideSecrets(wire: RecordedTransport): { isHidden: boolean } {
    const state = { isHidden: true }
    wire.interceptRead = async (request, send) => {
      const answer = await send()
      if (!state.isHidden || request.path !== '/api') return answer
      const { items } = answer as Groups
      const without = (resources: { resource: string }[]) => resources.filter((r) => r.resource !== 'secrets')
      return { items: items.map((group) => ({ ...group, versions: group.versions.map((v) => ({ ...v, resources: without(v.resources) })) })) }
    }
    return state
  }

  const secret = (s: Scene, name: string, owner: Awaited<ReturnType<typeof make>>) =>
    s.client.create(secrets, { metadata: { name, namespace: 'default', ownerReferences: [refTo(owner)] } })
  const secretsLeft = async (s: Scene) => (await s.client.list(secrets, 'default')).items.map((o) => o.metadata.name)

  it('are collected from when they are there, and left alone when they are not', async () => {
    const s = await start()
    const state = hideSecrets(s.wire)
    const owner = await make(s, 'owner')
    await s.pass(40_000) // they are gone
    await secret(s, 'child', owner)
    await s.client.delete(configmaps, 'default', 'owner')
    await s.pass(60_000)
    expect(await secretsLeft(s)).toEqual(['child'])
    state.isHidden = false
    await s.pass(40_000)
    expect(await secretsLeft(s)).toEqual([])
  })

  it('do not take along what they own when they go', async () => {
    const s = await start()
    const owner = await s.client.create(secrets, { metadata: { name: 'owner', namespace: 'default' } })
    await make(s, 'child', [ownerReference(owner, {})])
    await s.pass(1000)
    hideSecrets(s.wire)
    await s.pass(600_000)
    expect([await names(s), s.wire.writes]).toEqual([['child'], []])
  })
})

describe('kinds that come and go while it runs', () => {
  const widgets = resourceType<KubeObject>({ group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true })
  const kind = defineResource({ ...widgets, type: 'ConfigMap', nameRule: subdomainName, validate: () => [], validateUpdate: () => [] })

  it('are collected within a second, and held on to no longer', async () => {
    const s = await start()
    await s.pass(5000)
    const remove = await s.cluster.server.serve([kind])
    const owner = await s.client.create(widgets, { metadata: { name: 'owner', namespace: 'default' } })
    await make(s, 'child', [ownerReference(owner, {})])
    await s.client.create(widgets, { metadata: { name: 'w', namespace: 'default', ownerReferences: [refTo(await make(s, 'keeper'))] } })
    await s.pass(1000)
    await s.client.delete(widgets, 'default', 'owner')
    await s.client.delete(configmaps, 'default', 'keeper')
    await s.pass(1000)
    expect([await names(s), (await s.client.list(widgets, 'default')).items]).toEqual([[], []])
    remove()
    await s.pass(120_000)
    expect(s.warnings.length).toBeLessThanOrEqual(1) // its watch ends before it is known to be gone
  })
})

describe('an idle collector', () => {
  it('writes nothing, and asks for nothing but which kinds there are', async () => {
    const s = await start()
    const owner = await make(s, 'owner')
    await make(s, 'child', [refTo(owner)])
    await s.pass(30_000)
    const reads = new Map<string, number>()
    s.wire.interceptRead = (request, send) => {
      reads.set(request.path, (reads.get(request.path) ?? 0) + 1)
      return send()
    }
    await s.pass(10 * 60_000)
    expect(s.wire.writes).toEqual([])
    expect([...reads.keys()].sort()).toEqual(['/api', '/apis'])
    expect(s.warnings).toEqual([])
  })

  it('is not ready before it knows the kinds', async () => {
    const s = await Scene.start({ controllers: [] })
    const wire = new RecordedTransport(s.cluster.transport, s.clock)
    wire.interceptRead = (request, send) => (request.path === '/apis' ? Promise.reject(new TransportError('read ECONNRESET', false)) : send())
    const manager = new ControllerManager({ transport: wire, controllers: [garbageCollector], clock: s.clock, random: new SeededRandom(1) })
    let isReady = false
    const started = manager.start().then(() => (isReady = true))
    await s.pass(10_000)
    expect([isReady, manager.problems()]).toEqual([false, ['the garbage collector has not completed discovery yet']])
    wire.interceptRead = undefined
    await s.pass(2000)
    await started
    expect(manager.problems()).toEqual([])
    const stopped = manager.stop()
    await s.pass(5000)
    await stopped
  })

  it('follows only what it is to', async () => {
    const s = await Scene.start({ controllers: [defineGarbageCollector({ isCollected: (type) => type.plural === 'configmaps' })] })
    const owner = await make(s, 'owner')
    await make(s, 'child', [refTo(owner)])
    await s.client.create(secrets, { metadata: { name: 'child', namespace: 'default', ownerReferences: [refTo(owner)] } })
    await s.client.delete(configmaps, 'default', 'owner')
    await s.pass(2000)
    expect(await names(s)).toEqual([])
    expect((await s.client.list(secrets, 'default')).items).toHaveLength(1)
  })
})
