import { describe, expect, it } from 'vitest'
import type { TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

const alpha = '/apis/apps.kruise.io/v1alpha1/namespaces/default/clonesets'
const beta = '/apis/apps.kruise.io/v1beta1/namespaces/default/clonesets'
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const spec = { replicas: 5, selector: { matchLabels: labels }, template }
const set = (more: object = {}, name = 'web') => ({ metadata: { name }, spec: { ...spec, ...more } })

let server: TestServer
useTestServer((started) => {
  server = started
})

describe('clonesets of both versions', () => {
  it('are the same objects, each shown in its own words', async () => {
    const made = await server.create(alpha, set({ updateStrategy: { type: 'InPlaceIfPossible', partition: '80%', paused: true } }))
    expect(made.code).toBe(201)
    const { body } = await server.get(`${beta}/web`)
    expect(body).toMatchObject({
      apiVersion: 'apps.kruise.io/v1beta1',
      kind: 'CloneSet',
      metadata: { uid: made.body.metadata.uid, resourceVersion: made.body.metadata.resourceVersion, generation: 1 },
      spec: {
        scaleStrategy: { enablePVCReuse: true },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { podUpdatePolicy: 'InPlaceIfPossible', partition: '80%', paused: true } },
      },
    })
    expect((await server.get(beta)).body.items[0].spec).toEqual(body.spec)
    expect(await server.metric('apiserver_storage_objects', { resource: 'clonesets.apps.kruise.io' })).toBe(1)
  })

  it('are seen by watchers of either, whoever writes them', async () => {
    const [a, b] = [await server.watch(alpha), await server.watch(beta)]
    expect((await server.create(beta, set({ updateStrategy: { rollingUpdate: { partition: 3 } } }))).code).toBe(201)
    const [[seenAlpha], [seenBeta]] = [await a.take(), await b.take()]
    expect(seenAlpha!.object).toMatchObject({ apiVersion: 'apps.kruise.io/v1alpha1', spec: { updateStrategy: { type: 'ReCreate', partition: 3 } } })
    expect(seenBeta!.object).toMatchObject({ apiVersion: 'apps.kruise.io/v1beta1', spec: { updateStrategy: { rollingUpdate: { partition: 3 } } } })
  })

  it('change their generation with what is wanted, and not with the words for it', async () => {
    await server.create(alpha, set())
    const shown = (await server.get(`${beta}/web`)).body
    expect((await server.update(`${beta}/web`, { ...shown, metadata: { ...shown.metadata, labels } })).body.metadata.generation).toBe(1)
    expect((await server.patch(`${beta}/web`, { spec: { updateStrategy: { partition: 0, type: 'ReCreate' } } })).body.metadata.generation).toBe(1)
    expect((await server.patch(`${beta}/web`, { spec: { updateStrategy: { partition: '50%' } } })).body.metadata.generation).toBe(2)
    expect((await server.get(`${alpha}/web`)).body.spec.updateStrategy).toEqual({ type: 'ReCreate', partition: '50%', maxUnavailable: '20%', maxSurge: 0 })
  })

  it('conflict across versions as within one', async () => {
    await server.create(alpha, set())
    const stale = (await server.get(`${beta}/web`)).body
    await server.patch(`${alpha}/web`, { spec: { replicas: 6 } })
    expect((await server.update(`${beta}/web`, { ...stale, spec: { ...stale.spec, replicas: 7 } })).code).toBe(409)
  })

  it.each([
    ['v1alpha1', alpha, 'spec.updateStrategy.partition'],
    ['v1beta1', beta, 'spec.updateStrategy.rollingUpdate.partition'],
  ])('name the field of their own version in refusals: %s', async (_, url, field) => {
    const { code, body } = await server.create(url, set({ updateStrategy: { partition: -1 } }))
    expect([code, body.details.causes[0].field]).toEqual([422, field])
  })

  it('take no fields that there are not, where asked to be strict', async () => {
    const { code, body } = await server.create(`${alpha}?fieldValidation=Strict`, set({ updateStrategy: { rollingUpdate: {} } }))
    expect([code, body.message]).toEqual([400, expect.stringContaining('unknown field "spec.updateStrategy.rollingUpdate"')])
  })
})

describe.each([['v1alpha1', alpha], ['v1beta1', beta]])('a cloneset of %s', (version, url) => {
  it('is scaled, and says which pods are counted', async () => {
    await server.create(url, set())
    const { body } = await server.patch(`${url}/web/scale`, { spec: { replicas: 2 } })
    expect(body).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { replicas: 0, selector: 'app=web' } })
    expect((await server.get(`${url}/web`)).body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 2 } })
    expect((await server.get(`${url}/web/scale`)).body.spec.replicas).toBe(2)
  })

  it('has a status that only its own door writes, and that writes nothing else', async () => {
    await server.create(url, { ...set(), status: { replicas: 7 } })
    expect((await server.get(`${url}/web`)).body.status.replicas).toBe(0)
    const conditions = [{ type: 'Progressing', status: 'True', lastUpdateTime: '2026-01-01T00:00:00Z', reason: 'CloneSetUpdated' }]
    const { body } = await server.patch(`${url}/web/status`, { spec: { replicas: 9 }, status: { replicas: 3, updateRevision: 'web-1', conditions } })
    expect(body).toMatchObject({ apiVersion: `apps.kruise.io/${version}`, metadata: { generation: 1 }, spec: { replicas: 5 }, status: { replicas: 3, conditions } })
    expect((await server.patch(`${url}/web`, { status: { replicas: 4 } })).body.status.replicas).toBe(3)
  })

  it('has only pods of its own deleted', async () => {
    const { uid } = (await server.create(url, set())).body.metadata
    const pods = '/api/v1/namespaces/default/pods'
    const ownerReferences = [{ apiVersion: `apps.kruise.io/${version}`, kind: 'CloneSet', name: 'web', uid, controller: true }]
    await server.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
    expect((await server.create(pods, { metadata: { name: 'web-1', labels, ownerReferences }, spec: template.spec })).code).toBe(201)
    expect((await server.create(pods, { metadata: { name: 'other', labels }, spec: template.spec })).code).toBe(201)
    const named = (podsToDelete: string[]) => server.patch(`${url}/web`, { spec: { scaleStrategy: { podsToDelete } } })
    expect((await named(['web-1', 'other'])).body.message).toBe(
      'CloneSet.apps.kruise.io "web" is invalid: spec.scaleStrategy.podsToDelete: Invalid value: "other": find pod other owner is not this CloneSet',
    )
    expect((await named(['web-1'])).code).toBe(200)
    await server.delete(`${pods}/web-1`, { gracePeriodSeconds: 0 })
    expect((await server.patch(`${url}/web`, { spec: { replicas: 4 } })).code).toBe(200)
    expect((await named([])).code).toBe(200)
  })
})

describe('discovery', () => {
  it('prefers v1beta1 and has both versions with scale and status', async () => {
    const group = (await server.get('/apis/apps.kruise.io')).body
    expect(group.versions.map((v: { version: string }) => v.version)).toEqual(['v1beta1', 'v1alpha1'])
    expect(group.preferredVersion.version).toBe('v1beta1')
    for (const version of ['v1alpha1', 'v1beta1']) {
      const { resources } = (await server.get(`/apis/apps.kruise.io/${version}`)).body
      expect(resources.map((r: { name: string }) => r.name)).toEqual(['clonesets', 'clonesets/scale', 'clonesets/status'])
      expect(resources[0]).toMatchObject({ kind: 'CloneSet', namespaced: true, singularName: 'cloneset', shortNames: ['clone'] })
      expect(resources[0].categories).toBeUndefined()
    }
  })

  it('describes them in OpenAPI', async () => {
    for (const version of ['v1alpha1', 'v1beta1']) {
      const { schemas } = (await server.get(`/openapi/v3/apis/apps.kruise.io/${version}`)).body.components
      const kind = schemas[`io.kruise.apps.${version}.CloneSet`]
      expect(kind['x-kubernetes-group-version-kind']).toEqual([{ group: 'apps.kruise.io', kind: 'CloneSet', version }])
    }
  })
})
