import { describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const group = '/apis/admissionregistration.k8s.io/v1'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const rules = (resources: string[], operations = ['CREATE', 'UPDATE'], apiVersions = ['*']) => ({ resourceRules: [{ apiGroups: ['*'], apiVersions, operations, resources }] })
const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

async function bind(name: string, spec: object, binding: object = {}): Promise<void> {
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy', metadata: { name },
    spec: { matchConstraints: rules(['configmaps']), reinvocationPolicy: 'Never', ...spec },
  }
  const made = await server.create(`${group}/mutatingadmissionpolicies`, policy)
  expect(made.body.message).toBeUndefined()
  const bound = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name, ...binding } }
  expect((await server.create(`${group}/mutatingadmissionpolicybindings`, bound)).body.message).toBeUndefined()
}

const create = (name = 'a', data: Record<string, string> = { k: 'v' }, labels?: Record<string, string>) => server.create(configMaps, configMap(name, data, labels))
const labels = { app: 'w' }
const deployment = (spec: object = {}, podSpec: object = {}) => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'w' },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...podSpec } }, ...spec },
})

describe('ApplyConfiguration', () => {
  it('merges as server-side apply does', async () => {
    await bind('p', {
      matchConstraints: rules(['deployments']),
      mutations: [apply(`Object{
        metadata: Object.metadata{labels: {"team": "shop"}},
        spec: Object.spec{
          replicas: object.spec.replicas + 1,
          template: Object.spec.template{spec: Object.spec.template.spec{
            containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{name: c.name, imagePullPolicy: "Never"})
              + [Object.spec.template.spec.containers{name: "sidecar", image: "s:1"}]
          }}
        }
      }`)],
    })
    const { body } = await server.create(deployments, deployment({ replicas: 2 }))
    expect(body.metadata.labels).toEqual({ team: 'shop' })
    expect(body.spec.replicas).toBe(3)
    const containers = body.spec.template.spec.containers as { name: string; image: string; imagePullPolicy: string; terminationMessagePath: string }[]
    expect(containers.map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy])).toEqual([['c', 'i', 'Never'], ['sidecar', 's:1', 'IfNotPresent']])
    expect(containers[1]!.terminationMessagePath).toBe('/dev/termination-log')
  })

  it('does not own what it sets', async () => {
    await bind('p', { mutations: [apply('Object{data: {"added": "yes"}}')] })
    const { body } = await server.create(`${configMaps}?fieldManager=me`, configMap('a', { k: 'v' }))
    expect(body.data).toEqual({ k: 'v', added: 'yes' })
    expect(body.metadata.managedFields[0].fieldsV1).toEqual({ 'f:data': { '.': {}, 'f:k': {} } })
  })

  it.each([
    ['an object of another place', 'Object{metadata: Object.meta{}}', 'type mismatch: unexpected type name "Object.meta", expected "Object.metadata", which matches field name path from root Object type'],
    ['a field that there is not', 'Object{nope: 1}', 'error applying patch: failed to convert patch object to typed object: .nope: field not declared in schema'],
    ['an expression that fails', 'Object{data: {"x": object.data.nope}}', `expression 'Object{data: {"x": object.data.nope}}' resulted in error: no such key: nope`],
  ])('is refused for %s', async (_, expression, why) => {
    await bind('p', { mutations: [apply(expression)] })
    const { body } = await create()
    const message = `policy 'p' with binding 'p' denied request: ${why}`
    expect(body).toMatchObject({ code: 403, reason: 'Invalid', message, details: { name: 'a', kind: 'configmaps', causes: [{ message }] } })
  })

  it('does not change what is atomic', async () => {
    await bind('p', { matchConstraints: rules(['deployments']), mutations: [apply('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"a": "b"}}}}')] })
    const { body } = await server.create(deployments, deployment())
    expect(body.message).toBe("policy 'p' with binding 'p' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector")
  })

  it('is passed over where it fails and the failure policy is Ignore', async () => {
    await bind('p', { failurePolicy: 'Ignore', mutations: [apply('Object{nope: 1}'), apply('Object{data: {"added": "yes"}}')] })
    const { code, body } = await create()
    expect([code, body.data]).toEqual([201, { k: 'v', added: 'yes' }])
  })
})

describe('JSONPatch', () => {
  it.each<[string, string, unknown]>([
    ['adds', '[JSONPatch{op: "add", path: "/data/x", value: "y"}]', { k: 'v', x: 'y' }],
    ['escapes keys', '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"x.io/y": "1"}}, JSONPatch{op: "copy", from: "/metadata/annotations/" + jsonpatch.escapeKey("x.io/y"), path: "/data/y"}]', { k: 'v', y: '1' }],
    ['replaces, moves and removes', '[JSONPatch{op: "replace", path: "/data/k", value: "w"}, JSONPatch{op: "copy", from: "/data/k", path: "/data/l"}, JSONPatch{op: "move", from: "/data/l", path: "/data/m"}]', { k: 'w', m: 'w' }],
    ['does nothing where a test fails', '[JSONPatch{op: "test", path: "/data/k", value: "z"}, JSONPatch{op: "add", path: "/data/x", value: "y"}]', { k: 'v' }],
    ['goes on where a test holds', '[JSONPatch{op: "test", path: "/data/k", value: "v"}, JSONPatch{op: "add", path: "/data/x", value: "y"}]', { k: 'v', x: 'y' }],
    ['may have nothing to do', 'object.data.k == "v" ? [] : [JSONPatch{op: "add", path: "/data/x", value: "y"}]', { k: 'v' }],
  ])('%s', async (_, expression, data) => {
    await bind('p', { mutations: [patch(expression)] })
    const { body } = await create()
    expect([body.message, body.data]).toEqual([undefined, data])
  })

  it('sets objects', async () => {
    await bind('p', { matchConstraints: rules(['pods'], ['CREATE']), mutations: [patch('[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "extra", image: "e", ports: [Object.spec.containers.ports{containerPort: 80}]}}]')] })
    const { body } = await server.create(pods, pod('a'))
    expect(body.spec.containers[1]).toMatchObject({ name: 'extra', image: 'e', ports: [{ containerPort: 80, protocol: 'TCP' }] })
  })

  it.each([
    ['a path that there is not', '[JSONPatch{op: "replace", path: "/nope/x", value: "y"}]', 403, 'JSON Patch: replace operation does not apply: doc is missing path: /nope/x: missing value'],
    ['a field that there is not', '[JSONPatch{op: "add", path: "/nope", value: "y"}]', 500, 'Internal error occurred: strict decoding error: unknown field "nope"'],
    ['an operation that there is not', '[JSONPatch{op: "nope", path: "/data"}]', 403, 'JSON Patch: Unexpected kind: nope'],
  ])('is refused for %s', async (_, expression, code, message) => {
    await bind('p', { mutations: [patch(expression)] })
    const { body } = await create()
    expect([body.code, body.message]).toEqual([code, code === 500 ? message : `policy 'p' with binding 'p' denied request: ${message}`])
  })
})

describe('a bound policy', () => {
  it('mutates in order, and each mutation sees those before it', async () => {
    await bind('b', { mutations: [patch('[JSONPatch{op: "add", path: "/data/b", value: object.data.a + "b"}]')] })
    await bind('a', { mutations: [patch('[JSONPatch{op: "add", path: "/data/a", value: "a"}]'), apply('Object{data: {"c": object.data.a + "c"}}')] })
    expect((await create()).body.data).toEqual({ k: 'v', a: 'a', b: 'ab', c: 'ac' })
  })

  it('is judged after validation of nothing, and before that of the kind and of policies', async () => {
    await bind('p', { mutations: [patch('[JSONPatch{op: "add", path: "/metadata/labels", value: {"not valid!": "x"}}]')] })
    expect((await create()).body.message).toContain('metadata.labels: Invalid value: "not valid!"')
  })

  it('has match conditions, variables and parameters', async () => {
    await server.create(configMaps, configMap('defaults', { team: 'shop' }))
    await bind('p', {
      matchConstraints: rules(['pods'], ['CREATE']),
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'unlabelled', expression: '!has(object.metadata.labels)' }],
      variables: [{ name: 'team', expression: 'params.data.team' }],
      mutations: [apply('Object{metadata: Object.metadata{labels: {"team": string(variables.team), "ns": namespaceObject.metadata.name}}}')],
    }, { paramRef: { name: 'defaults', parameterNotFoundAction: 'Deny' } })
    const made = await server.create(pods, pod('a'))
    expect(made.body.message).toBeUndefined()
    expect(made.body.metadata.labels).toEqual({ team: 'shop', ns: 'default' })
    expect((await server.create(pods, pod('b', {}, { labels: { x: 'y' } }))).body.metadata.labels).toEqual({ x: 'y' })
  })

  it('changes updates, patches, applies and subresources, and nothing of a delete', async () => {
    await bind('p', { matchConstraints: rules(['configmaps'], ['*']), mutations: [apply('Object{data: {"by": string(request.operation)}}')] })
    await create()
    expect((await server.patch(`${configMaps}/a`, { data: { l: '1' } })).body.data).toEqual({ k: 'v', l: '1', by: 'UPDATE' })
    const applied = await server.send({
      method: 'PATCH', url: `${configMaps}/b?fieldManager=me`, headers: { 'content-type': 'application/apply-patch+yaml' },
      body: Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { m: '1' } })),
    })
    expect(applied.body.data).toEqual({ m: '1', by: 'CREATE' })
    expect((await server.delete(`${configMaps}/a`)).code).toBe(200)
    await bind('scale', { matchConstraints: rules(['deployments/scale']), mutations: [apply('Object{spec: Object.spec{replicas: 2}}')] })
    await server.create(deployments, deployment())
    expect((await server.patch(`${deployments}/w/scale`, { spec: { replicas: 9 } })).body.spec.replicas).toBe(2)
    expect((await server.get(`${deployments}/w`)).body.spec.replicas).toBe(2)
  })

  it('sees an object in the version of its rule, and changes it in the version of the request', async () => {
    const clonesets = (version: string) => `/apis/apps.kruise.io/${version}/namespaces/default/clonesets`
    const set = (version: string) => ({ ...deployment(), apiVersion: `apps.kruise.io/${version}`, kind: 'CloneSet' })
    await bind('p', { matchConstraints: rules(['clonesets'], ['CREATE'], ['v1beta1']), mutations: [apply('Object{metadata: Object.metadata{labels: {"as": object.apiVersion.split("/")[1], "asked": request.requestKind.version}}, spec: Object.spec{replicas: 7}}')] })
    const { body } = await server.create(clonesets('v1alpha1'), set('v1alpha1'))
    expect([body.apiVersion, body.spec.replicas, body.metadata.labels]).toEqual(['apps.kruise.io/v1alpha1', 7, { as: 'v1beta1', asked: 'v1alpha1' }])
  })

  it('is invoked again, once, where it asks for that and the object was changed', async () => {
    const count = (key: string) => patch(`[JSONPatch{op: "add", path: "/data/${key}", value: string(has(object.data.${key}) ? int(object.data.${key}) + 1 : 1)}]`)
    await bind('a', { reinvocationPolicy: 'IfNeeded', mutations: [count('a')] })
    await bind('b', { reinvocationPolicy: 'Never', mutations: [count('b')] })
    await bind('c', { reinvocationPolicy: 'IfNeeded', mutations: [count('c')] })
    expect((await create()).body.data).toEqual({ k: 'v', a: '2', b: '1', c: '2' })
  })

  it('works on custom resources', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'boats.x.io' },
      spec: {
        group: 'x.io', scope: 'Namespaced', names: { plural: 'boats', kind: 'Boat' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { seats: { type: 'integer' }, name: { type: 'string' } } } } } } }],
      },
    }
    await server.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    await bind('p', { matchConstraints: rules(['boats']), mutations: [apply('Object{spec: Object.spec{seats: 8}}'), patch('[JSONPatch{op: "add", path: "/spec/name", value: "eight"}]')] })
    const { body } = await server.create('/apis/x.io/v1/namespaces/default/boats', { apiVersion: 'x.io/v1', kind: 'Boat', metadata: { name: 'a' }, spec: { seats: 4 } })
    expect(body.spec).toEqual({ seats: 8, name: 'eight' })
  })

  it('counts what it has done', async () => {
    await bind('p', { mutations: [apply('Object{data: {"x": "y"}}')] })
    await create()
    expect(await server.metric('apiserver_mutating_admission_policy_check_total', { policy: 'p', policy_binding: 'p', error_type: 'no_error' })).toBe(1)
  })
})
