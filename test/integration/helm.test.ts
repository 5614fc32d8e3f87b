import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

// The requests that Helm 4 sends: every object of a chart is applied as manager `helm` with strict field validation.
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const jobs = '/apis/batch/v1/namespaces/default/jobs'
const releases = '/api/v1/namespaces/default/secrets'

interface Options {
  isForced?: boolean
  isDry?: boolean
}

const helm = (collection: string, object: { metadata: { name: string } }, { isForced = false, isDry = false }: Options = {}) =>
  server.send({
    method: 'PATCH',
    url: `${collection}/${object.metadata.name}?${isDry ? 'dryRun=All&' : ''}fieldManager=helm&fieldValidation=Strict&force=${isForced}`,
    headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/json', 'user-agent': 'Helm/4.0.0' },
    body: Buffer.from(JSON.stringify(object)),
  })

const owned = { labels: { 'app.kubernetes.io/managed-by': 'Helm' }, annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'default' } }
const chart = (image: string, replicas: number, env: Record<string, string> = {}) => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default', ...owned },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image, env: Object.entries(env).map(([name, value]) => ({ name, value })) }] },
    },
  },
})
const hook = (name: string) => ({
  apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'default', annotations: { 'helm.sh/hook': 'pre-upgrade', 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
})
const release = (version: number, status: string) => ({
  apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', data: { release: Buffer.from(`release ${version}`).toString('base64') },
  metadata: { name: `sh.helm.release.v1.web.v${version}`, labels: { name: 'web', owner: 'helm', status, version: String(version) } },
})
const imageOf = (body: any): string => body.spec.template.spec.containers[0].image
const managersOf = (body: any) => body.metadata.managedFields.map((entry: any) => `${entry.manager}/${entry.operation}`)

describe('helm install', () => {
  it('looks for the object, runs dry, applies it and records the release', async () => {
    expect((await server.get(`${deployments}/web`)).code).toBe(404)
    const dry = await helm(deployments, chart('i:1', 1), { isDry: true })
    expect([dry.code, imageOf(dry.body)]).toEqual([201, 'i:1'])
    expect((await server.get(`${deployments}/web`)).code).toBe(404)
    expect((await server.create(`${releases}?fieldManager=helm`, release(1, 'pending-install'))).code).toBe(201)
    const made = await helm(deployments, chart('i:1', 1))
    expect([made.code, managersOf(made.body)]).toEqual([201, ['helm/Apply']])
    expect((await server.update(`${releases}/sh.helm.release.v1.web.v1?fieldManager=helm`, release(1, 'deployed'))).code).toBe(200)
    const found = await server.get(`${releases}?labelSelector=${encodeURIComponent('name=web,owner=helm,status=deployed')}`)
    expect(found.body.items.map((secret: any) => secret.metadata.labels.version)).toEqual(['1'])
  })

  it('is refused for a field that the kind does not have, or that stands twice', async () => {
    const wrong = chart('i:1', 1)
    const { code, body } = await helm(deployments, { ...wrong, spec: { ...wrong.spec, replica: 1 } } as typeof wrong)
    expect([code, body.message]).toEqual([500, 'failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema'])
    const twice = await server.send({
      method: 'PATCH', url: `${configMaps}/a?fieldManager=helm&fieldValidation=Strict&force=false`, headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: "1"\n  k: "2"\n'),
    })
    expect([twice.code, twice.body.message]).toEqual([400, expect.stringContaining('key "k" already set in map')])
  })
})

describe('helm upgrade', () => {
  const edit = (image: string) =>
    server.patch(`${deployments}/web?fieldManager=kubectl-edit`, { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } }, 'strategic')

  it('meets a conflict, is forced, and rolls back', async () => {
    await helm(deployments, chart('i:1', 1))
    await edit('i:edited')
    const refused = await helm(deployments, chart('i:2', 2))
    expect(refused.body).toMatchObject({
      code: 409, reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.template.spec.containers[name="c"].image',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.spec.template.spec.containers[name="c"].image' }] },
    })
    expect((await server.get(`${deployments}/web`)).body.spec.replicas).toBe(1)
    const forced = await helm(deployments, chart('i:2', 2), { isForced: true })
    expect([forced.code, imageOf(forced.body), forced.body.spec.replicas, managersOf(forced.body)]).toEqual([200, 'i:2', 2, ['helm/Apply']])
    const back = await helm(deployments, chart('i:1', 1))
    expect([back.code, imageOf(back.body), back.body.spec.replicas]).toEqual([200, 'i:1', 1])
  })

  it('removes what the new chart has no more, and leaves what others have added', async () => {
    await helm(deployments, chart('i:1', 1, { A: '1', B: '1' }))
    await server.patch(`${deployments}/web?fieldManager=other`, { metadata: { annotations: { other: 'yes' } }, spec: { paused: true } })
    const { body } = await helm(deployments, chart('i:1', 1, { B: '1' }))
    expect(body.spec.template.spec.containers[0].env).toEqual([{ name: 'B', value: '1' }])
    expect([body.spec.paused, body.metadata.annotations.other, body.metadata.annotations['meta.helm.sh/release-name']]).toEqual([true, 'yes', 'web'])
    expect((await helm(deployments, chart('i:1', 1, { B: '1' }))).body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
  })

  it('of a release of Helm 3 moves what helm has updated to what it applies', async () => {
    const { body } = await server.create(`${deployments}?fieldManager=helm`, chart('i:1', 1))
    expect(managersOf(body)).toEqual(['helm/Update'])
    const [entry] = body.metadata.managedFields
    const moved = await server.patch(`${deployments}/web?fieldManager=helm`, [
      { op: 'replace', path: '/metadata/managedFields', value: [{ ...entry, operation: 'Apply' }] },
      { op: 'replace', path: '/metadata/resourceVersion', value: body.metadata.resourceVersion },
    ], 'json')
    expect([moved.code, managersOf(moved.body)]).toEqual([200, ['helm/Apply']])
    const applied = await helm(deployments, chart('i:2', 1))
    expect([applied.code, imageOf(applied.body), managersOf(applied.body)]).toEqual([200, 'i:2', ['helm/Apply']])
  })

  it('deletes objects that the chart has no more', async () => {
    await helm(configMaps, configMap('old', { k: '1' }))
    expect((await server.get(`${configMaps}/old`)).body.metadata.annotations?.['helm.sh/resource-policy']).toBeUndefined()
    expect((await server.delete(`${configMaps}/old`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' })).code).toBe(200)
    expect((await server.get(`${configMaps}/old`)).code).toBe(404)
  })
})

describe('hooks', () => {
  it('are deleted before they are made again, waited for, and deleted when they have succeeded', async () => {
    await helm(jobs, hook('migrate'))
    const first = (await server.get(`${jobs}/migrate`)).body.metadata.uid
    expect((await server.delete(`${jobs}/migrate`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' })).code).toBe(200)
    expect((await server.get(`${jobs}/migrate`)).code).toBe(404)
    const again = await helm(jobs, hook('migrate'))
    expect([again.code, again.body.metadata.uid === first]).toEqual([201, false])
    const watch = await server.watch(`${jobs}?fieldSelector=metadata.name%3Dmigrate&resourceVersion=${again.body.metadata.resourceVersion}`)
    const done = { startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:00:01Z', succeeded: 1, conditions: ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:01Z', lastProbeTime: '2026-01-01T00:00:01Z' })), uncountedTerminatedPods: {} }
    expect((await server.patch(`${jobs}/migrate/status?fieldManager=kube-controller-manager`, { status: done })).code).toBe(200)
    expect((await server.delete(`${jobs}/migrate`, { propagationPolicy: 'Background' })).code).toBe(200)
    expect(await watch.takeNames()).toEqual(['MODIFIED migrate', 'DELETED migrate'])
  })
})
