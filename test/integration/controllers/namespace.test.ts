import { describe, expect, it } from 'vitest'
import type { Namespace } from '../../../src/api/generated/types.ts'
import { configmaps, deployments, isNotFound, namespaces, pods, services } from '../../../src/client/index.ts'
import { internalError } from '../../../src/api/errors.ts'
import { namespaceController } from '../../../src/controllers/namespace/controller.ts'
import { Scene } from '../kit/scene.ts'

async function start(): Promise<Scene> {
  const s = await Scene.start({ controllers: [namespaceController] })
  await s.client.create(namespaces, { metadata: { name: 'rowers' } })
  return s
}

const metadata = (name: string, more = {}) => ({ name, namespace: 'rowers', ...more })
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] } }
const deleteIt = (s: Scene) => s.client.delete(namespaces, '', 'rowers')
const live = (s: Scene) => s.client.get(namespaces, '', 'rowers')

const isGone = (s: Scene) =>
  live(s).then(
    () => false,
    (e: unknown) => isNotFound(e),
  )

const said = ({ status }: Namespace) => Object.fromEntries((status?.conditions ?? []).map((c) => [c.type.replace('Namespace', ''), `${c.status} ${c.reason}: ${c.message}`]))

describe('a namespace that is deleted', () => {
  it('takes along all that is in it', async () => {
    const s = await start()
    await s.client.create(configmaps, { metadata: metadata('map') })
    await s.client.create(pods, { metadata: metadata('pod'), spec: template.spec })
    await s.client.create(services, { metadata: metadata('service'), spec: { ports: [{ port: 80, targetPort: 80 }] } })
    await s.client.create(deployments, { metadata: metadata('web'), spec: { selector: { matchLabels: { app: 'x' } }, template } })
    await deleteIt(s)
    await s.pass(3000)
    expect(await isGone(s)).toBe(true)
    expect((await s.client.list(configmaps, 'rowers')).items).toEqual([])
    expect((await s.client.list(deployments, 'rowers')).items).toEqual([])
    expect(await s.client.get(namespaces, '', 'default')).toBeDefined()
  })

  it('waits for its pods to end, and says so, and only then takes away what they may use', async () => {
    const s = await start()
    await s.client.create(configmaps, { metadata: metadata('map') })
    await s.client.create(pods, { metadata: metadata('pod'), spec: { ...template.spec, nodeName: 'n', terminationGracePeriodSeconds: 30 } })
    await deleteIt(s)
    await s.pass(10_000)
    expect(said(await live(s))).toEqual({
      DeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
      DeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
      DeletionContentFailure: 'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      ContentRemaining: 'True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances',
      FinalizersRemaining: 'False ContentRemoved: All content successfully removed',
    })
    expect(await s.client.get(configmaps, 'rowers', 'map')).toBeDefined()
    await s.client.delete(pods, 'rowers', 'pod', { gracePeriodSeconds: 0 })
    await s.pass(400) // long before the next look that was planned
    expect(await isGone(s)).toBe(true)
  })

  it('waits for finalizers, and names them', async () => {
    const s = await start()
    for (const name of ['a', 'b']) await s.client.create(configmaps, { metadata: metadata(name, { finalizers: ['example.com/wait'] }) })
    await deleteIt(s)
    await s.pass(5000)
    expect(said(await live(s))).toMatchObject({
      ContentRemaining: 'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
      FinalizersRemaining: 'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/wait in 2 resource instances',
    })
    const writes = s.wire.writes.length
    await s.pass(60_000)
    expect(s.wire.writes.length).toBe(writes) // it looks, and has nothing new to say
    for (const name of ['a', 'b']) await s.client.patch(configmaps, 'rowers', name, { metadata: { finalizers: null } }, { type: 'merge' })
    await s.pass(9000)
    expect(await isGone(s)).toBe(true)
  })

  it('says why something cannot be deleted, and tries again', async () => {
    const s = await start()
    await s.client.create(configmaps, { metadata: metadata('map') })
    s.wire.intercept = (request, send) => (request.path.endsWith('/configmaps') ? Promise.reject(internalError('no disk')) : send())
    await deleteIt(s)
    await s.pass(5000)
    expect(said(await live(s))).toMatchObject({
      DeletionContentFailure: 'True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: Internal error occurred: no disk',
    })
    s.wire.intercept = undefined
    await s.pass(60_000)
    expect(await isGone(s)).toBe(true)
  })

  it('is kept while nobody can say which kinds there are', async () => {
    const s = await start()
    s.wire.interceptRead = (request, send) => (request.path === '/apis' ? Promise.reject(internalError('no idea')) : send())
    await deleteIt(s)
    await s.pass(5000)
    expect(said(await live(s))).toMatchObject({ DeletionDiscoveryFailure: 'True DiscoveryFailed: Internal error occurred: no idea' })
    s.wire.interceptRead = undefined
    await s.pass(60_000)
    expect(await isGone(s)).toBe(true)
  })

  it('has other finalizers of its own, which are not ours to take off', async () => {
    const s = await Scene.start({ controllers: [namespaceController] })
    await s.client.create(namespaces, { metadata: { name: 'rowers' }, spec: { finalizers: ['example.com/mine'] } })
    await deleteIt(s)
    await s.pass(5000)
    expect((await live(s)).spec?.finalizers).toEqual(['example.com/mine'])
    const writes = s.wire.writes.length
    await s.pass(120_000)
    expect(s.wire.writes.length).toBe(writes)
  })
})

describe('namespaces that stay', () => {
  it('cost nothing', async () => {
    const s = await start()
    const reads: string[] = []
    s.wire.interceptRead = (request, send) => {
      reads.push(request.path)
      return send()
    }
    await s.pass(10 * 60_000)
    expect([s.wire.writes, reads]).toEqual([[], []])
  })
})
