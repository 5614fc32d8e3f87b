import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestCluster, startCluster } from '../../src/cluster/testing.ts'
import { disruption } from '../../src/controllers/disruption/controller.ts'
import { endpointSlice } from '../../src/controllers/endpoint-slice/controller.ts'
import { endpoint } from '../../src/controllers/endpoints/controller.ts'
import { nodeLifecycle } from '../../src/controllers/node-lifecycle/controller.ts'
import { taintEviction } from '../../src/controllers/taint-eviction/controller.ts'
import { Kubectl } from '../kubectl/kubectl.ts'
import { block, masked } from '../kubectl/masks.ts'

let cluster: TestCluster
let kubectl: Kubectl

beforeAll(async () => {
  cluster = await startCluster({ listen: true, controllers: [disruption, endpointSlice, endpoint, nodeLifecycle, taintEviction] })
  kubectl = new Kubectl(cluster.kubeconfig!)
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] } }
  await create(node('n1'), node('n2'), {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
  })
  const uid = await kubectl.ok('get rs web -o jsonpath={.metadata.uid}')
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid, controller: true }]
  await create(...['n1', 'n2'].map((nodeName) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: `web-${nodeName}`, labels: { app: 'web' }, ownerReferences }, spec: { ...template.spec, nodeName } })))
  for (const [i, name] of ['web-n1', 'web-n2'].entries()) {
    const status = { phase: 'Running', podIP: `10.1.0.${i + 1}`, podIPs: [{ ip: `10.1.0.${i + 1}` }], conditions: [{ type: 'Ready', status: 'True' }] }
    await kubectl.ok(`patch pod ${name} --subresource=status -p '${JSON.stringify({ status })}'`)
  }
})

afterAll(async () => {
  await cluster?.stop()
  kubectl?.remove()
})

const create = (...items: object[]) => kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions: [{ type: 'Ready', status: 'True' }] } })

it('a budget shows what it allows', async () => {
  await kubectl.ok('create pdb web --selector=app=web --min-available=2')
  await kubectl.ok('wait --for=jsonpath={.status.currentHealthy}=2 pdb/web')
  expect(masked(await kubectl.ok('get pdb'))).toBe(block`
    NAME   MIN AVAILABLE   MAX UNAVAILABLE   ALLOWED DISRUPTIONS   AGE
    web    2               N/A               0                     AGE
  `)
})

it('a service shows who serves it', async () => {
  await kubectl.ok('create service clusterip web --tcp=80:8080')
  await kubectl.ok("wait --for=jsonpath='{.subsets[0].addresses[1].ip}'=10.1.0.2 endpoints/web")
  expect(await kubectl.ok('get endpoints web --no-headers')).toMatch(/^web +10\.1\.0\.1:8080,10\.1\.0\.2:8080 /)
  expect(await kubectl.ok('get endpointslices -l kubernetes.io/service-name=web --no-headers')).toMatch(/^web-\S{5} +IPv4 +8080 +10\.1\.0\.1,10\.1\.0\.2 /)
})

it('a drain waits for the budget, and goes on when it allows', async () => {
  const drained = kubectl.run('drain n1 --grace-period=0 --force')
  // The server has counted a refusal: the drain waits now.
  await expect.poll(() => cluster.server.metrics.text(), { timeout: 40_000 }).toMatch(/^apiserver_request_total\{.*subresource="eviction".*code="429"/m)
  expect(await kubectl.ok('get pods --no-headers')).toMatch(/^web-n1 .*\nweb-n2 /)
  expect(await kubectl.ok("get node n1 -o jsonpath='{.spec.taints[*].key}'")).toBe('node.kubernetes.io/unschedulable')

  await kubectl.ok(`patch pdb web -p '{"spec":{"minAvailable":1}}'`)
  const { code, out, err } = await drained
  expect(err).toContain(`error when evicting pods/"web-n1" -n "default" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`)
  expect(out).toContain('pod/web-n1 evicted\nnode/n1 drained\n')
  expect(code).toBe(0)
  await kubectl.ok('wait --for=jsonpath={.status.currentHealthy}=1 pdb/web')
  expect(await kubectl.ok('get pods --no-headers')).toMatch(/^web-n2 /)
  expect(await kubectl.ok("get pdb web -o jsonpath='{.status.conditions[0].type}={.status.conditions[0].status} {.status.conditions[0].reason}'")).toBe(
    'DisruptionAllowed=False InsufficientPods',
  )
})

it('a taint takes a pod off its node', async () => {
  await kubectl.ok('taint node n2 broken:NoExecute')
  await kubectl.ok('wait --for=jsonpath={.metadata.deletionGracePeriodSeconds}=30 pod/web-n2')
  expect(await kubectl.ok("get pod web-n2 -o jsonpath='{.status.conditions[?(@.type==\"DisruptionTarget\")].reason}'")).toBe('DeletionByTaintManager')
  expect(await kubectl.ok('events --for pod/web-n2')).toContain('TaintManagerEviction   Pod/web-n2   Marking for deletion Pod default/web-n2')
})
