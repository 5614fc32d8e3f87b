import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, runCoxswain, startScheduler } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let scheduler: RunningPart | undefined

beforeAll(async () => {
  scheduler = await startScheduler(cluster.server.kubeconfig)
})
afterAll(() => scheduler?.stop())

const apply = (...items: object[]) => cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))

const node = (name: string, cpu: string) => {
  const amounts = { cpu, memory: '4Gi', pods: '10' }
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } }, status: { allocatable: amounts, capacity: amounts } }
}

const pod = (name: string, cpu: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'nginx:1.27', resources: { requests: { cpu } } }], ...spec },
})

/** Nobody else takes the taint away that new nodes have. */
const untaint = (name: string) => cluster.kubectl.ok(`taint node ${name} node.kubernetes.io/not-ready-`)
const nodeOf = (name: string) => cluster.kubectl.ok(`get pod ${name} -o jsonpath={.spec.nodeName}`)
const whyNot = (name: string) => cluster.kubectl.ok(`get pod ${name} -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}'`)

describe('coxswain scheduler', () => {
  it('says in one line why it cannot start', async () => {
    const { code, out, err } = await runCoxswain(['scheduler', '--kubeconfig', cluster.server.kubeconfig, '--percentage-of-nodes-to-score', '200'])
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 })
    expect(err).toContain('must be a number from 0 to 100')
  })

  it('acts while it holds the lease of kube-scheduler', async () => {
    expect(scheduler?.role).toBe('acting')
    expect(await cluster.kubectl.ok('get lease kube-scheduler -n kube-system -o jsonpath={.spec.holderIdentity}')).not.toBe('')
  })

  it('gives pods nodes, as kubectl shows', async () => {
    await apply(pod('web', '1'))
    await expect.poll(() => whyNot('web'), { timeout: 40_000 }).toBe('no nodes available to schedule pods')
    await apply(node('node-1', '2'))
    await expect.poll(() => whyNot('web'), { timeout: 40_000 }).toMatch(/^0\/1 nodes are available: 1 node\(s\) had untolerated taint\(s\)\. preemption: /)
    await untaint('node-1')
    await expect.poll(() => nodeOf('web'), { timeout: 40_000 }).toBe('node-1')
    await expect.poll(() => cluster.kubectl.ok('describe pod web'), { timeout: 40_000 }).toMatch(/Normal +Scheduled +\S+ +default-scheduler +Successfully assigned default\/web to node-1/)
  })

  it('waits for room, and takes it when kubectl makes some', async () => {
    await apply(pod('large', '1500m'))
    const why = '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.'
    await expect.poll(() => whyNot('large'), { timeout: 40_000 }).toBe(why)
    expect(await cluster.kubectl.ok('get events --field-selector involvedObject.name=large -o jsonpath={.items[*].reason}')).toBe('FailedScheduling')
    await cluster.kubectl.ok('delete pod web --grace-period 0 --force')
    await expect.poll(() => nodeOf('large'), { timeout: 40_000 }).toBe('node-1')
  })

  it('respects cordons and node selectors', async () => {
    await apply(node('node-2', '2'))
    await untaint('node-2')
    await cluster.kubectl.ok('cordon node-2')
    await apply(pod('picky', '100m', { nodeSelector: { 'kubernetes.io/hostname': 'node-2' } }))
    await expect.poll(() => whyNot('picky'), { timeout: 40_000 }).toBe(
      "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    )
    await cluster.kubectl.ok('uncordon node-2')
    await expect.poll(() => nodeOf('picky'), { timeout: 40_000 }).toBe('node-2')
  })

  it('preempts pods for more important ones', async () => {
    await apply({ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1000 })
    await apply(pod('vip', '2', { priorityClassName: 'high', nodeSelector: { 'kubernetes.io/hostname': 'node-1' } }))
    await expect.poll(() => cluster.kubectl.ok(`get pod large -o jsonpath='{.status.conditions[?(@.type=="DisruptionTarget")].reason}'`), { timeout: 40_000 }).toBe('PreemptionByScheduler')
    expect(await cluster.kubectl.ok('get pod vip -o jsonpath={.status.nominatedNodeName}')).toBe('node-1')
    await cluster.kubectl.ok('delete pod large --grace-period 0 --force')
    await expect.poll(() => nodeOf('vip'), { timeout: 40_000 }).toBe('node-1')
  })
})
