import { afterAll, expect, it } from 'vitest'
import { WebhookServer } from '../integration/webhook-server.ts'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()
const servers: WebhookServer[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))

const manifest = (...items: object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items })

it('kubectl shows what webhooks change and refuse', async () => {
  const { kubectl } = cluster
  const hook = await WebhookServer.start(({ request }) => {
    const patch = [{ op: 'add', path: '/data/by', value: request.userInfo.username }]
    const isAllowed = request.object.data?.colour !== 'red'
    const verdict = isAllowed ? { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') } : { allowed: false, status: { message: 'red is taken' } }
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: request.uid, warnings: ['paint is wet'], ...verdict } }
  })
  servers.push(hook)
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'default' } }
  kubectl.file('hook.yaml', manifest({
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata: { name: 'paint' },
    webhooks: [{ name: 'paint.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], rules, namespaceSelector, clientConfig: hook.clientConfig }],
  }))
  await kubectl.ok('apply -f hook.yaml')
  expect(await kubectl.run('create configmap boat --from-literal=colour=blue')).toMatchObject({ code: 0, out: 'configmap/boat created\n', err: 'Warning: paint is wet\n' })
  expect(await kubectl.ok("get configmap boat -o jsonpath='{.data.by}'")).toBe('kubernetes-admin')
  expect(await kubectl.refused('create configmap ship --from-literal=colour=red')).toContain('admission webhook "paint.example.com" denied the request: red is taken\n')
  await hook.close()
  expect(await kubectl.refused('create configmap ship --from-literal=colour=blue')).toContain('failed calling webhook "paint.example.com": failed to call webhook: Post "https://127.0.0.1:')
  await kubectl.ok('delete -f hook.yaml')
})

it('kubectl reads what another API server serves', async () => {
  const { kubectl } = cluster
  const root = '/apis/fish.example.com/v1'
  const cod = (name: string) => ({ apiVersion: 'fish.example.com/v1', kind: 'Cod', metadata: { name, namespace: 'default' } })
  const other = await WebhookServer.start((_body, { url = '' }) => {
    const resources = [{ name: 'cods', singularName: 'cod', namespaced: true, kind: 'Cod', verbs: ['get', 'list'], shortNames: ['co'] }]
    if (url === root) return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'fish.example.com/v1', resources }
    return { apiVersion: 'fish.example.com/v1', kind: 'CodList', metadata: {}, items: [cod('a'), cod('b')] }
  }, '127.77.0.2')
  servers.push(other)
  kubectl.file('service.yaml', manifest(
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook', namespace: 'default' }, spec: { ports: [{ port: 443 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', ports: [{ name: '', port: other.port }], endpoints: [{ addresses: [other.address] }],
      metadata: { name: 'hook', namespace: 'default', labels: { 'kubernetes.io/service-name': 'hook' } },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.fish.example.com' },
      spec: { group: 'fish.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, service: { namespace: 'default', name: 'hook' }, caBundle: other.caBundle },
    },
  ))
  await kubectl.ok('apply -f service.yaml')
  await kubectl.ok('wait apiservice/v1.fish.example.com --for=condition=Available --timeout=60s')
  expect(await kubectl.ok('get co -o name')).toBe('cod.fish.example.com/a\ncod.fish.example.com/b\n')
  expect(await kubectl.ok('get apiservice v1.fish.example.com --no-headers')).toMatch(/^v1\.fish\.example\.com +default\/hook +True/)
  await kubectl.ok('delete service hook')
  await kubectl.ok('wait apiservice/v1.fish.example.com --for=condition=Available=False --timeout=60s')
  expect(await kubectl.refused('get --raw /apis/fish.example.com/v1/namespaces/default/cods')).toContain('the server is currently unable to handle the request')
})
