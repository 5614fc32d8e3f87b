import { describe, expect, it } from 'vitest'
import type { PolicyRule } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { configmaps, namespaces, poddisruptionbudgets, secrets, services } from '../../../src/client/index.ts'
import { accounts, catalogue } from '../../../src/controllers/catalogue.ts'
import { bootstrapBindings, bootstrapClusterBindings } from '../../../src/server/auth/bootstrap-policy/index.ts'
import { PartsScene, workloads } from './parts-scene.ts'

const rollable = ['deployment', 'statefulset', 'daemonset', 'cloneset']

/** Makes one workload of each kind, with what stands around them, rolls out another image, and deletes everything. */
async function livesOf(scene: PartsScene, midway: () => Promise<void> = async () => {}): Promise<void> {
  const { client } = scene.cluster
  await client.create(namespaces, { metadata: { name: 'short-lived' } } as never)
  for (const [name, { type, spec }] of Object.entries(workloads)) await scene.create(type, { name }, { spec: spec(name, 'app:1') })
  await scene.create(services, { name: 'web' }, { spec: { selector: { app: 'deployment' }, ports: [{ port: 80 }] } })
  await scene.create(poddisruptionbudgets, { name: 'web' }, { spec: { minAvailable: 1, selector: { matchLabels: { app: 'deployment' } } } })
  await scene.pass(30_000)
  await midway()
  for (const name of rollable) {
    const image = { spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } } }
    await client.patch(workloads[name]!.type, 'default', name, image, { type: 'merge' })
  }
  await scene.pass(90_000)
  for (const [name, { type }] of Object.entries(workloads)) await client.delete(type, 'default', name).catch(() => {})
  // Without the permission to create it, it does not exist.
  await client.delete(configmaps, 'short-lived', 'kube-root-ca.crt').catch(() => {})
  await client.delete(namespaces, '', 'short-lived')
  await scene.pass(60_000)
}

interface Ready extends KubeObject {
  status?: { readyReplicas?: number; numberReady?: number; succeeded?: number; lastScheduleTime?: string }
}

it('every request of every part is allowed by its role while each kind of workload is rolled out', async () => {
  const scene = await PartsScene.start()
  const reached: Record<string, number> = {}
  await livesOf(scene, async () => {
    for (const [name, { type }] of Object.entries(workloads)) {
      const { status = {} } = scene.read<Ready>(type.group, type.plural, name) ?? {}
      reached[name] = status.readyReplicas ?? status.numberReady ?? status.succeeded ?? (status.lastScheduleTime ? 1 : 0)
    }
  })
  expect(scene.refused()).toEqual([])
  expect(reached).toMatchObject({ deployment: 2, replicaset: 2, replicationcontroller: 2, statefulset: 2, daemonset: 1, cloneset: 2 })
  const users = new Set(scene.judged.map(({ user }) => user.name))
  for (const name of ['deployment-controller', 'persistent-volume-binder', 'local-path-provisioner', 'namespace-controller', 'job-controller', 'cronjob-controller']) {
    expect(users).toContain(`system:serviceaccount:kube-system:${name}`)
  }
  expect(users).toContain('system:kube-scheduler')
  expect(users).toContain('system:node:n1')
  // Nobody is more than a part: none of them is in system:masters.
  expect(scene.judged.length).toBeGreaterThan(400)
})

it('bootstrap tokens are cleaned and cluster-info is signed with no more than the roles of both controllers', async () => {
  const scene = await PartsScene.start()
  const { client } = scene.cluster
  const text = (value: string) => Buffer.from(value).toString('base64')
  const data = { 'token-id': text('abc123'), 'token-secret': text('0123456789abcdef'), 'usage-bootstrap-signing': text('true'), expiration: text('2026-01-01T00:01:00Z') }
  await client.create(secrets, { metadata: { name: 'bootstrap-token-abc123', namespace: 'kube-system' }, type: 'bootstrap.kubernetes.io/token', data })
  await client.create(configmaps, { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: '{}' } })
  await scene.pass(10_000)
  expect(Object.keys((await client.get(configmaps, 'kube-public', 'cluster-info')).data ?? {})).toContain('jws-kubeconfig-abc123')
  await scene.pass(60_000)
  expect((await client.list(secrets, 'kube-system')).items).toEqual([])
  expect(scene.refused()).toEqual([])
  const users = scene.judged.map(({ user, attempt }) => `${user.name} ${attempt.verb}`)
  expect(users).toContain('system:serviceaccount:kube-system:token-cleaner delete')
  expect(users).toContain('system:serviceaccount:kube-system:bootstrap-signer update')
})

it('every controller has an account, and every account a role', () => {
  const bindings = [...bootstrapClusterBindings, ...bootstrapBindings]
  const bound = new Set(bindings.flatMap(({ subjects = [] }) => subjects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name)))
  expect(Object.keys(catalogue).filter((name) => accounts[name] === undefined)).toEqual([])
  expect(Object.values(accounts).filter((name) => !bound.has(name))).toEqual([])
})

const controller = (name: string) => `system:controller:${name}`
const account = (name: string) => `system:serviceaccount:kube-system:${name}`
const cannot = (user: string, verb: string, resource: string, group = '') => `User ${JSON.stringify(user)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)}`

/** A right that is taken away, and the refusal that follows from it. */
const rows: [role: string, verb: string, group: string, resource: string, user: string][] = [
  [controller('deployment-controller'), 'create', 'apps', 'replicasets', account('deployment-controller')],
  [controller('deployment-controller'), 'update', 'apps', 'deployments/status', account('deployment-controller')],
  [controller('deployment-controller'), 'patch', 'apps', 'replicasets', account('deployment-controller')],
  [controller('replicaset-controller'), 'create', '', 'pods', account('replicaset-controller')],
  [controller('replicaset-controller'), 'update', 'apps', 'replicasets/status', account('replicaset-controller')],
  [controller('replicaset-controller'), 'delete', '', 'pods', account('replicaset-controller')],
  [controller('replication-controller'), 'create', '', 'pods', account('replication-controller')],
  [controller('replication-controller'), 'update', '', 'replicationcontrollers/status', account('replication-controller')],
  [controller('statefulset-controller'), 'create', '', 'pods', account('statefulset-controller')],
  [controller('statefulset-controller'), 'create', '', 'persistentvolumeclaims', account('statefulset-controller')],
  [controller('statefulset-controller'), 'create', 'apps', 'controllerrevisions', account('statefulset-controller')],
  [controller('statefulset-controller'), 'update', 'apps', 'statefulsets/status', account('statefulset-controller')],
  [controller('daemon-set-controller'), 'create', '', 'pods', account('daemon-set-controller')],
  [controller('daemon-set-controller'), 'create', 'apps', 'controllerrevisions', account('daemon-set-controller')],
  [controller('daemon-set-controller'), 'update', 'apps', 'daemonsets/status', account('daemon-set-controller')],
  ['coxswain:controller:cloneset-controller', 'create', '', 'pods', account('cloneset-controller')],
  ['coxswain:controller:cloneset-controller', 'update', 'apps.kruise.io', 'clonesets/status', account('cloneset-controller')],
  [controller('job-controller'), 'create', '', 'pods', account('job-controller')],
  [controller('job-controller'), 'update', 'batch', 'jobs/status', account('job-controller')],
  [controller('job-controller'), 'patch', '', 'pods', account('job-controller')],
  [controller('cronjob-controller'), 'create', 'batch', 'jobs', account('cronjob-controller')],
  [controller('cronjob-controller'), 'update', 'batch', 'cronjobs/status', account('cronjob-controller')],
  [controller('disruption-controller'), 'update', 'policy', 'poddisruptionbudgets/status', account('disruption-controller')],
  [controller('endpoint-controller'), 'create', '', 'endpoints', account('endpoint-controller')],
  [controller('endpointslice-controller'), 'create', 'discovery.k8s.io', 'endpointslices', account('endpointslice-controller')],
  [controller('service-account-controller'), 'create', '', 'serviceaccounts', account('service-account-controller')],
  [controller('root-ca-cert-publisher'), 'create', '', 'configmaps', account('root-ca-cert-publisher')],
  [controller('ttl-after-finished-controller'), 'delete', 'batch', 'jobs', account('ttl-after-finished-controller')],
  ['coxswain:controller:local-path-provisioner', 'create', '', 'persistentvolumes', account('local-path-provisioner')],
  ['system:kube-scheduler', 'create', '', 'pods/binding', 'system:kube-scheduler'],
  ['system:kube-scheduler', 'create', '', 'events', 'system:kube-scheduler'],
  ['system:volume-scheduler', 'patch', '', 'persistentvolumeclaims', 'system:kube-scheduler'],
]

const without = (verb: string, group: string, resource: string) => (rules: PolicyRule[]): PolicyRule[] =>
  rules.map((rule) => (rule.resources?.includes(resource) && rule.apiGroups?.includes(group) ? { ...rule, verbs: rule.verbs.filter((v) => v !== verb) } : rule))
    .filter(({ verbs }) => verbs.length > 0)

describe('a part without one of its rights', () => {
  it.each(rows)('%s: is refused to %s %s/%s', async (role, verb, group, resource, user) => {
    const scene = await PartsScene.start()
    await scene.setRules(role, without(verb, group, resource))
    await livesOf(scene)
    const refused = scene.refused()
    expect(refused.some((sentence) => sentence.startsWith(cannot(user, verb, resource, group)))).toBe(true)
    // Others are refused nothing: what is missing is this one right of this one part.
    expect(refused.filter((sentence) => !sentence.startsWith(cannot(user, verb, resource, group)))).toEqual([])
  })

  it('a node reads no secret that none of its pods refers to', async () => {
    const scene = await PartsScene.start()
    const { authorizer } = scene.cluster.server.parts
    const node = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }
    const attempt = { verb: 'get', path: { group: '', version: 'v1', namespace: 'default', plural: 'secrets', subresource: '', name: 'other' } }
    expect(await authorizer.authorize(node, attempt)).toEqual({ allowed: false, reason: "no relationship found between node 'n1' and this object" })
  })
})
