import { allowEverything } from '../auth/authorize.ts'
import { describe, expect, it } from 'vitest'
import { reviewResources } from '../reviews/index.ts'
import { bindings } from '../subresources/pod-binding.ts'
import { schema } from '../../api/schema/index.ts'
import type { Resource } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'
import { Discovery } from './discovery.ts'
import { compareGroups, compareVersions } from './order.ts'

const answers = { authorizer: () => allowEverything, identify: () => undefined }
const virtualKinds = [bindings, ...reviewResources(answers)].map(({ virtual }) => virtual!)

const anything = { validate: () => [], validateUpdate: () => [], nameRule: () => [] }
const door = { prepare: () => {}, validate: () => [] }
const kind = (group: string, version: string, name: string, plural: string, more: object = {}) =>
  ({ ...anything, group, version, kind: name, plural, namespaced: true, ...more }) as unknown as Resource
const action = (subresource: string, kind: string, verbs: readonly string[], group = '', version = 'v1') =>
  ({ of: { group: '', plural: 'pods', subresource }, verbs, kind: { group, version, kind } }) as unknown as Action

const asStored = { toStored: (o: object) => o, fromStored: (o: object) => o }
const discovery = new Discovery(
  {
    resources: [
      kind('example.com', 'v1', 'Boat', 'boats'),
      kind('apps', 'v1', 'Deployment', 'deployments', { shortNames: ['deploy'], categories: ['all'], status: door, scale: {} }),
      kind('', 'v1', 'Namespace', 'namespaces', {
        namespaced: false,
        status: door,
        partialUpdates: { finalize: door },
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      }),
      kind('autoscaling', 'v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
        storedAs: { group: 'autoscaling', version: 'v2', plural: 'horizontalpodautoscalers', ...asStored },
      }),
      kind('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
      kind('', 'v1', 'Pod', 'pods', { shortNames: ['po'], status: door, partialUpdates: { resize: door } }),
      kind('', 'v1', 'PodTemplate', 'podtemplates'),
    ],
    actions: [action('log', 'Pod', ['get']), action('exec', 'PodExecOptions', ['get', 'create']), action('eviction', 'Eviction', ['create'], 'policy')],
    virtual: virtualKinds,
    schema,
  },
  '127.0.0.1:6443',
)

const get = async (path: string, accept?: string) => {
  const answer = await discovery.answer({ method: 'GET', path, accept })
  return answer && JSON.parse(answer.body.toString())
}

describe('Discovery answers', () => {
  it('/api with the versions of the core group', async () => {
    expect(await get('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    })
  })

  it('/apis with groups in order of rank, to whatever method', async () => {
    const names = ['apps', 'authentication.k8s.io', 'authorization.k8s.io', 'autoscaling', 'example.com']
    expect((await get('/apis/')).groups.map((g: { name: string }) => g.name)).toEqual(names)
    expect((await discovery.answer({ method: 'POST', path: '/apis' }))?.code).toBe(200)
  })

  it('/apis/autoscaling with the better version first', async () => {
    const v = (version: string) => ({ groupVersion: `autoscaling/${version}`, version })
    expect(await get('/apis/autoscaling')).toEqual({
      kind: 'APIGroup', apiVersion: 'v1', name: 'autoscaling', versions: [v('v2'), v('v1')], preferredVersion: v('v2'),
    })
  })

  it('/api/v1 with resources, each before its subresources', async () => {
    const list = await get('/api/v1')
    expect(list).not.toHaveProperty('apiVersion')
    expect(list.resources.map((r: { name: string; kind: string; verbs: string[] }) => `${r.name} ${r.kind} ${r.verbs.join()}`)).toEqual([
      'bindings Binding create',
      'namespaces Namespace create,delete,get,list,patch,update,watch',
      'namespaces/finalize Namespace update',
      'namespaces/status Namespace get,patch,update',
      'pods Pod create,delete,deletecollection,get,list,patch,update,watch',
      'pods/eviction Eviction create',
      'pods/exec PodExecOptions create,get',
      'pods/log Pod get',
      'pods/resize Pod get,patch,update',
      'pods/status Pod get,patch,update',
      'podtemplates PodTemplate create,delete,deletecollection,get,list,patch,update,watch',
    ])
    expect(list.resources[4]).toMatchObject({ singularName: 'pod', namespaced: true, shortNames: ['po'], storageVersionHash: 'xPOwRZ+Yhw8=' })
    expect(list.resources[5]).toMatchObject({ singularName: '', group: 'policy', version: 'v1' })
    expect(list.resources[7]).not.toHaveProperty('group')
  })

  it('/apis/autoscaling/v1 with the hash of the version that is stored', async () => {
    expect((await get('/apis/autoscaling/v1')).resources[0].storageVersionHash).toBe('qwQve8ut294=')
  })

  it.each(['/api/v2', '/apis/apps/v1beta1'])('404 to %s', async (path) => {
    await expect(get(path)).rejects.toMatchObject({ code: 404, reason: 'NotFound' })
  })

  it.each(['/apis/nosuch.example.com', '/apis/nosuch.example.com/v1', '/apis/apps/v1/deployments', '/healthz', '/apiss'])('nothing to %s', async (path) => {
    expect(await get(path)).toBeUndefined()
  })

  it('in YAML', async () => {
    const answer = await discovery.answer({ method: 'GET', path: '/apis/example.com/', accept: 'application/yaml' })
    expect(answer?.headers['content-type']).toBe('application/yaml')
    expect(answer?.body.toString()).toBe(
      'apiVersion: v1\nkind: APIGroup\nname: example.com\npreferredVersion:\n  groupVersion: example.com/v1\n  version: v1\nversions:\n- groupVersion: example.com/v1\n  version: v1\n',
    )
  })

  it('405 to other methods where Kubernetes has a router', async () => {
    await expect(discovery.answer({ method: 'POST', path: '/api/v1' })).rejects.toMatchObject({ code: 405 })
  })
})

describe('aggregated discovery', () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

  it('tells of all groups at once', async () => {
    const answer = await discovery.answer({ method: 'GET', path: '/apis', accept })
    expect(answer?.headers).toMatchObject({ 'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', vary: 'Accept' })
    const list = JSON.parse(answer!.body.toString())
    expect(list.items.map((i: { metadata: object }) => i.metadata)).toContainEqual({ name: 'apps' })
    expect(list.items[0].versions[0]).toEqual({
      version: 'v1',
      freshness: 'Current',
      resources: [{
        resource: 'deployments',
        responseKind: { group: '', version: '', kind: 'Deployment' },
        scope: 'Namespaced',
        singularResource: 'deployment',
        shortNames: ['deploy'],
        categories: ['all'],
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        subresources: [
          { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get', 'patch', 'update'] },
          { subresource: 'status', responseKind: { group: '', version: '', kind: 'Deployment' }, verbs: ['get', 'patch', 'update'] },
        ],
      }],
    })
  })

  it('tells of the core group alone under /api', async () => {
    const list = await get('/api', accept)
    expect(list).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items: [{ metadata: {} }] })
    expect(list.items).toHaveLength(1)
  })

  it('says 304 to who has it already', async () => {
    const first = await discovery.answer({ method: 'GET', path: '/apis', accept })
    const again = await discovery.answer({ method: 'GET', path: '/apis', accept, ifNoneMatch: first!.headers.etag })
    expect([again?.code, again?.body.length]).toEqual([304, 0])
    expect((await discovery.answer({ method: 'GET', path: '/api', accept, ifNoneMatch: first!.headers.etag }))?.code).toBe(200)
  })

  it('is not served in its beta', async () => {
    expect((await get('/api', accept.replace('v=v2', 'v=v2beta1'))).kind).toBe('APIVersions')
  })
})

describe('order', () => {
  it('puts known groups before unknown ones', () => {
    expect(['b.example.com', 'policy', 'a.example.com', 'apps', ''].sort(compareGroups)).toEqual(['', 'apps', 'policy', 'a.example.com', 'b.example.com'])
  })

  it('puts better versions first', () => {
    const best = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10']
    expect(best.toReversed().sort(compareVersions)).toEqual(best)
  })
})
