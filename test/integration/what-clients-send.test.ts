// Behaviour of Kubernetes that clients rely on and that its sources settle.
import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const lease = (metadata: object) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', ...metadata }, spec: {} })

describe('a PUT that creates', () => {
  it.each([['1'], ['999999'], ['0']])('may name the resource version %s', async (resourceVersion) => {
    const { code, body } = await server.update(`${leases}/l`, lease({ resourceVersion }))
    expect([code, body.metadata.name]).toEqual([201, 'l'])
    expect(body.metadata.resourceVersion).not.toBe(resourceVersion)
  })

  it('may not name one that is no number', async () => {
    const { code, body } = await server.update(`${leases}/l`, lease({ resourceVersion: 'x' }))
    expect([code, body.message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax'])
  })
})

describe('a JSON patch with fields that mean nothing', () => {
  const patch = [{ op: 'add', path: '/data/x', value: 'y', comment: 'why' }]

  it('is applied with a warning', async () => {
    await server.create(configMaps, configMap('a', { k: 'v' }))
    const { code, warnings } = await server.patch(`${configMaps}/a`, patch, 'json')
    expect([code, warnings]).toEqual([200, ['299 - "json patch unknown field \\"[0].comment\\""']])
  })

  it('is refused by a strict request', async () => {
    await server.create(configMaps, configMap('a', { k: 'v' }))
    const { code, body } = await server.patch(`${configMaps}/a?fieldValidation=Strict`, patch, 'json')
    expect([code, body.message]).toEqual([422, expect.stringContaining('strict decoding error: json patch unknown field "[0].comment"')])
  })
})

it('force is refused for a patch that is no apply', async () => {
  await server.create(configMaps, configMap('a', { k: 'v' }))
  const { code, body } = await server.patch(`${configMaps}/a?force=true`, {})
  expect([code, body.message]).toEqual([422, 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'])
})

it.each([['A_b', 201], ['a/b', 422], ['..', 422], ['a%b', 422]])('a PodDisruptionBudget called %s is %i', async (name, code) => {
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec: {} }
  expect((await server.create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', object)).code).toBe(code)
})

describe.each([['left out', {}], ['null', { containers: null }], ['empty', { containers: [] }]])('containers that are %s are refused', (_how, spec) => {
  const labels = { app: 'x' }
  const template = { metadata: { labels }, spec: { restartPolicy: 'Never', ...spec } }

  it.each<[string, string, object, string]>([
    ['a Pod', pods, { ...pod('p'), spec }, 'Pod "p" is invalid: spec.containers: Required value'],
    ['a Job', '/apis/batch/v1/namespaces/default/jobs', { kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'p' }, spec: { template } },
      'Job.batch "p" is invalid: spec.template.spec.containers: Required value'],
    ['a Deployment', '/apis/apps/v1/namespaces/default/deployments', {
      kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'p' }, spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    }, 'Deployment.apps "p" is invalid: spec.template.spec.containers: Required value'],
  ])('%s', async (_kind, url, object, message) => {
    // With an account there is a token to mount, which goes into each container.
    await server.create('/api/v1/namespaces/default/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } })
    const { code, body } = await server.create(url, object)
    expect([code, body.message]).toEqual([422, message])
  })
})

describe('a strategic patch that names another kind', () => {
  const labels = { app: 'x' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const create = () => server.create(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } })

  it.each([
    ['as Ansible scales', { kind: 'Deployment', metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 3 } }],
    ['with its version', { kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 3 } }],
  ])('scales, %s', async (_how, patch) => {
    await create()
    const { code, body } = await server.patch(`${deployments}/d/scale`, patch, 'strategic')
    expect([code, body.kind, body.apiVersion, body.spec.replicas]).toEqual([200, 'Scale', 'autoscaling/v1', 3])
    expect((await server.get(`${deployments}/d`)).body.spec.replicas).toBe(3)
  })

  it('changes the object itself, which keeps its kind', async () => {
    await create()
    const { code, body } = await server.patch(`${deployments}/d`, { kind: 'StatefulSet', spec: { replicas: 3 } }, 'strategic')
    expect([code, body.kind, body.spec.replicas]).toEqual([200, 'Deployment', 3])
  })

  it('is refused as a merge patch, which is decoded by its kind', async () => {
    await create()
    expect((await server.patch(`${deployments}/d/scale`, { kind: 'Deployment', spec: { replicas: 3 } })).code).toBe(422)
  })
})
