import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers, startMonitor, startNode, startScheduler } from '../kubectl/coxswain.ts'

const cluster = useCluster()
const parts: RunningPart[] = []
const confOf = (part: string) => path.join(path.dirname(cluster.server.kubeconfig), `${part}.conf`)

beforeAll(async () => {
  parts.push(await startControllers(confOf('controller-manager'), ['--use-service-account-credentials']))
  parts.push(await startScheduler(confOf('scheduler')))
  parts.push(await startMonitor(confOf('monitor'), ['--port', '0', '--data-dir', path.join(path.dirname(cluster.server.kubeconfig), 'monitor')]))
  parts.push(await startNode(cluster.server.kubeconfig, 'far'))
}, 60_000)

afterAll(async () => {
  for (const part of parts.toReversed()) await part.stop()
})

it('parts in processes of their own do their work with the kubeconfigs that the server writes for them', async () => {
  const { kubectl } = cluster
  await kubectl.ok('create deployment web --image=nginx --replicas=2')
  await kubectl.ok('wait --for=condition=Available deployment/web --timeout=60s')
  await kubectl.ok('delete deployment web --wait --timeout=60s')
  expect(await kubectl.ok('-n kube-system get serviceaccount deployment-controller replicaset-controller -o name')).toBe(
    'serviceaccount/deployment-controller\nserviceaccount/replicaset-controller\n',
  )
  const refused = (await kubectl.ok('get --raw /metrics')).split('\n').filter((line) => /^apiserver_request_total\{.*code="403"/.test(line))
  expect(refused).toEqual([])
})

it.each([
  ['controller-manager', 'delete pods', 'no'],
  ['controller-manager', 'list secrets', 'yes'],
  ['scheduler', 'create pods/binding', 'yes'],
  ['scheduler', 'get secrets', 'no'],
  ['monitor', 'list pods', 'yes'],
  ['monitor', 'delete pods', 'no'],
])('%s: may %s: %s', async (part, what, answer) => {
  expect((await cluster.kubectl.run(`auth can-i ${what.replace('/binding', ' --subresource=binding')} --kubeconfig=${confOf(part)}`)).out).toBe(`${answer}\n`)
})
