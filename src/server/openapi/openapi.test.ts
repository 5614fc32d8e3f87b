import { allowEverything } from '../auth/authorize.ts'
import { describe, expect, it } from 'vitest'
import { reviewResources } from '../reviews/index.ts'
import { bindings } from '../subresources/pod-binding.ts'
import { schema } from '../../api/schema/index.ts'
import type { Resource } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'
import { OpenApi } from './openapi.ts'

const answers = { authorizer: () => allowEverything, identify: () => undefined }
const virtualKinds = [bindings, ...reviewResources(answers)].map(({ virtual }) => virtual!)

const door = { prepare: () => {}, validate: () => [] }
const kind = (group: string, version: string, name: string, plural: string, more: object = {}) =>
  ({ group, version, kind: name, plural, namespaced: true, validate: () => [], validateUpdate: () => [], ...more }) as unknown as Resource

const served = {
  resources: [
    kind('apps', 'v1', 'Deployment', 'deployments', { status: door, scale: {} }),
    kind('', 'v1', 'Pod', 'pods', { status: door }),
    kind('', 'v1', 'Node', 'nodes', { namespaced: false }),
    kind('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
    kind('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', { namespaced: false }),
    kind('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', { type: 'V2HorizontalPodAutoscaler', status: door }),
  ],
  actions: [
    { of: { group: '', plural: 'pods', subresource: 'eviction' }, verbs: ['create'], kind: { group: 'policy', version: 'v1', kind: 'Eviction' }, bodyType: 'Eviction' },
    { of: { group: '', plural: 'pods', subresource: 'exec' }, verbs: ['create', 'get'], kind: { group: '', version: 'v1', kind: 'PodExecOptions' } },
    { of: { group: '', plural: 'pods', subresource: 'log' }, verbs: ['get'], kind: { group: '', version: 'v1', kind: 'Pod' } },
  ] as unknown as Action[],
  virtual: virtualKinds,
  schema,
}
const openapi = new OpenApi(served, 'v1.36.0')
const answer = (path: string, more: object = {}) => {
  const url = new URL(path, 'http://localhost')
  return openapi.answer({ method: 'GET', path: url.pathname, query: url.searchParams, ...more })
}
const read = (path: string) => JSON.parse(answer(path)!.body.toString())

describe('/openapi/v3', () => {
  it('names a document with a hash for every group and version', () => {
    const { paths } = read('/openapi/v3')
    expect(Object.keys(paths)).toEqual(['api/v1', 'apis/apps/v1', 'apis/authentication.k8s.io/v1', 'apis/authorization.k8s.io/v1', 'apis/autoscaling/v2', 'apis/storage.k8s.io/v1'])
    expect(paths['apis/apps/v1'].serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/)
  })

  it('lets a document that is asked for by its hash be kept, and sends others to the right hash', () => {
    const { serverRelativeURL } = read('/openapi/v3').paths['apis/apps/v1']
    expect(answer(serverRelativeURL)?.headers['cache-control']).toContain('immutable')
    expect(answer('/openapi/v3/apis/apps/v1')?.headers).not.toHaveProperty('cache-control')
    expect(answer('/openapi/v3/apis/apps/v1?hash=OLD')).toMatchObject({ code: 301, headers: { location: serverRelativeURL } })
  })

  it('says 304 to who has it already', () => {
    const first = answer('/openapi/v3/apis/apps/v1')
    expect(answer('/openapi/v3/apis/apps/v1', { ifNoneMatch: first?.headers.etag })).toMatchObject({ code: 304 })
  })

  it.each([['/openapi/v3/apis/apps/v2'], ['/openapi/v4'], ['/openapi']])('has no %s', (path) => {
    expect(answer(path)).toBeUndefined()
  })

  it('has no protobuf', () => {
    expect(() => answer('/openapi/v3', { accept: 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf' })).toThrow('only the following media types are accepted: application/json')
  })
})

describe('the document of a group and version', () => {
  const apps = read('/openapi/v3/apis/apps/v1')
  const schemas = apps.components.schemas
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

  it('marks kinds by group, version and kind', () => {
    expect(schemas['io.k8s.api.apps.v1.Deployment']['x-kubernetes-group-version-kind']).toEqual([{ group: 'apps', version: 'v1', kind: 'Deployment' }])
    expect(schemas['io.k8s.api.apps.v1.DeploymentList']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'DeploymentList' }],
      properties: { items: { items: ref('io.k8s.api.apps.v1.Deployment') } },
    })
  })

  it('has no reference that leads nowhere', () => {
    for (const version of Object.keys(read('/openapi/v3').paths)) {
      const text = answer(`/openapi/v3/${version}`)!.body.toString()
      const known = JSON.parse(text).components.schemas
      const missing = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((m) => m[1]!).filter((name) => !known[name])
      expect(missing, version).toEqual([])
    }
  })

  it('tells patches how lists merge', () => {
    expect(schemas['io.k8s.api.core.v1.PodSpec'].properties.containers).toMatchObject({
      type: 'array',
      items: ref('io.k8s.api.core.v1.Container'),
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    })
    expect(schemas['io.k8s.api.core.v1.ContainerPort'].properties.protocol.default).toBe('TCP')
  })

  it.each([
    ['a structure', 'io.k8s.api.apps.v1.DeploymentSpec', 'selector', { allOf: [ref('io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector')] }],
    ['a number', 'io.k8s.api.apps.v1.DeploymentSpec', 'replicas', { type: 'integer', format: 'int32' }],
    ['a number or text', 'io.k8s.api.apps.v1.RollingUpdateDeployment', 'maxSurge', { allOf: [ref('io.k8s.apimachinery.pkg.util.intstr.IntOrString')] }],
    ['a time', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'creationTimestamp', { allOf: [ref('io.k8s.apimachinery.pkg.apis.meta.v1.Time')] }],
    ['quantities', 'io.k8s.api.core.v1.ResourceRequirements', 'limits', {
      type: 'object', additionalProperties: ref('io.k8s.apimachinery.pkg.api.resource.Quantity'),
    }],
    ['fields of a manager', 'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', 'fieldsV1', { allOf: [ref('io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1')] }],
  ])('describes %s', (_, type, field, wanted) => {
    expect(schemas[type].properties[field]).toMatchObject(wanted)
    expect(schemas[type].properties[field].description).toMatch(/\w/)
  })

  it.each([
    ['a string', 'io.k8s.api.apps.v1.DeploymentStrategy', 'type', { type: 'string', enum: ['Recreate', 'RollingUpdate'] }],
    ['the strings of a list, not the list', 'io.k8s.api.core.v1.PersistentVolumeClaimSpec', 'accessModes', {
      type: 'array', items: { type: 'string', enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] },
    }],
    ['the strings of a map, not the map', 'io.k8s.api.core.v1.PersistentVolumeClaimStatus', 'allocatedResourceStatuses', {
      type: 'object',
      additionalProperties: {
        type: 'string',
        enum: ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending'],
      },
    }],
    ['a string that may be empty', 'io.k8s.api.core.v1.HostPathVolumeSource', 'type', {
      enum: ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
    }],
    ['a string with a default', 'io.k8s.api.core.v1.ContainerPort', 'protocol', { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }],
  ])('lists the values of %s', (_, type, field, wanted) => {
    const found = schemas[type] ?? read('/openapi/v3/api/v1').components.schemas[type]
    expect(found.properties[field]).toMatchObject(wanted)
    if (!('enum' in wanted)) expect(found.properties[field]).not.toHaveProperty('enum')
  })

  it('lists no values of strings that Kubernetes does not limit, nor of other scalars', () => {
    expect(schemas['io.k8s.api.core.v1.Container'].properties.restartPolicy).not.toHaveProperty('enum')
    expect(schemas['io.k8s.api.apps.v1.DeploymentCondition'].properties.status).not.toHaveProperty('enum')
    const all = Object.values<{ properties?: Record<string, { type?: string; enum?: string[] }> }>(schemas).flatMap((d) => Object.values(d.properties ?? {}))
    expect(all.filter((p) => p.enum && p.type !== 'string')).toEqual([])
    expect(all.filter((p) => p.enum).length).toBeGreaterThan(25)
  })

  it('says what is required', () => {
    expect(schemas['io.k8s.api.apps.v1.DeploymentSpec'].required).toEqual(['selector', 'template'])
  })

  it('lets kubectl find that the server validates fields', () => {
    const { patch } = apps.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' })
    expect(patch.parameters.map((p: { name: string }) => p.name)).toContain('fieldValidation')
    expect(Object.keys(patch.requestBody.content)).toContain('application/strategic-merge-patch+json')
  })

  it('has all operations of a resource and its subresources', () => {
    const operations = Object.entries<Record<string, { operationId: string }>>(apps.paths).map(([path, item]) => [path, Object.values(item).map((o) => o.operationId).sort()])
    const one = '/apis/apps/v1/namespaces/{namespace}/deployments'
    expect(Object.fromEntries(operations)).toEqual({
      '/apis/apps/v1/deployments': ['listAppsV1DeploymentForAllNamespaces'],
      [one]: ['createAppsV1NamespacedDeployment', 'deleteAppsV1CollectionNamespacedDeployment', 'listAppsV1NamespacedDeployment'],
      [`${one}/{name}`]: ['deleteAppsV1NamespacedDeployment', 'patchAppsV1NamespacedDeployment', 'readAppsV1NamespacedDeployment', 'replaceAppsV1NamespacedDeployment'],
      [`${one}/{name}/scale`]: ['patchAppsV1NamespacedDeploymentScale', 'readAppsV1NamespacedDeploymentScale', 'replaceAppsV1NamespacedDeploymentScale'],
      [`${one}/{name}/status`]: ['patchAppsV1NamespacedDeploymentStatus', 'readAppsV1NamespacedDeploymentStatus', 'replaceAppsV1NamespacedDeploymentStatus'],
    })
  })

  it('takes and gives what actions do', () => {
    const { paths } = read('/openapi/v3/api/v1')
    const pod = '/api/v1/namespaces/{namespace}/pods/{name}'
    expect(paths[`${pod}/eviction`].post.requestBody.content['*/*'].schema).toEqual(ref('io.k8s.api.policy.v1.Eviction'))
    expect(paths[`${pod}/exec`].post).toMatchObject({ 'x-kubernetes-action': 'connect', operationId: 'connectPostCoreV1NamespacedPodExec' })
    expect(paths[`${pod}/exec`].post).not.toHaveProperty('requestBody')
    expect(Object.keys(paths[`${pod}/log`].get.responses[200].content)).toEqual(['text/plain'])
  })

  it('names structures by the group they come from', () => {
    expect(read('/openapi/v3/apis/storage.k8s.io/v1').components.schemas).toHaveProperty(['io.k8s.api.core.v1.TopologySelectorTerm'])
    const autoscaling = read('/openapi/v3/apis/autoscaling/v2')
    expect(autoscaling.components.schemas).toHaveProperty(['io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec'])
    expect(autoscaling.paths['/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers/{name}/status'].get.operationId).toBe(
      'readAutoscalingV2NamespacedHorizontalPodAutoscalerStatus',
    )
  })
})

describe('/openapi/v2', () => {
  it('has everything in one document', () => {
    const document = read('/openapi/v2')
    expect(document.swagger).toBe('2.0')
    expect(document.definitions['io.k8s.api.apps.v1.Deployment'].properties.spec).toMatchObject({ $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentSpec' })
    expect(document.definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString']).toMatchObject({ type: 'string', format: 'int-or-string' })
    expect(document.definitions['io.k8s.api.apps.v1.DeploymentStrategy'].properties.type.enum).toEqual(['Recreate', 'RollingUpdate'])
    expect(Object.keys(document.paths)).toContain('/api/v1/nodes/{name}')
  })

  it('speaks protobuf to who asks for that alone', () => {
    const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const bytes = answer('/openapi/v2', { accept: asked })
    expect(bytes?.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    // Field 1, the text "2.0"; then field 2, a message.
    expect([...bytes!.body.subarray(0, 6)]).toEqual([0x0a, 3, 0x32, 0x2e, 0x30, 0x12])
    // Field 20 of a schema: a value as YAML, its field 2.
    const value = Buffer.from('"RollingUpdate"\n')
    expect(bytes!.body.includes(Buffer.concat([Buffer.from([0xa2, 1, value.length + 2, 0x12, value.length]), value]))).toBe(true)
    expect(answer('/openapi/v2', { accept: `application/json;q=0.5, ${asked}` })?.headers['content-type']).toContain('protobuf')
    expect(answer('/openapi/v2', { accept: '*/*' })?.headers['content-type']).toBe('application/json')
  })
})
