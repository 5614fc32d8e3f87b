import { describe, expect, it } from 'vitest'
import { deployments, nodes, pods, services } from '../../../src/client/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import { SchedulerScene, asking } from './scene.ts'

const zone = (name: string) => ({ 'topology.kubernetes.io/zone': name })
const web = { labels: { app: 'web' } }
const selector = { matchLabels: { app: 'web' } }
const nobodyHelps = (count: number) => `preemption: 0/${count} nodes are available: ${count} Preemption is not helpful for scheduling.`

describe('the scheduler', () => {
  it('gives a pod a node, and says so', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await scene.pod('web')
    expect(await scene.nodeOf('web')).toBe('node-1')
    const { status } = await scene.get('web')
    expect(status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status).toBe('True')
    expect(await scene.events('web')).toEqual(['Normal Scheduled ×1: Successfully assigned default/web to node-1'])
    expect([scene.wire.summary(), scene.warnings]).toEqual([['POST pods binding'], []])
    expect(scene.metric('scheduler_schedule_attempts_total', 'result="scheduled"')).toBe(1)
    expect(scene.metric('scheduler_pod_scheduling_attempts_count')).toBe(1)
  })

  it('waits for a node that has room', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('web', { containers: [asking({ cpu: '2' })] })
    const why = `0/1 nodes are available: 1 Insufficient cpu. ${nobodyHelps(1)}`
    expect(await scene.whyNot('web')).toBe(`Unschedulable: ${why}`)
    expect(await scene.events('web')).toEqual([`Warning FailedScheduling ×1: ${why}`])
    expect(scene.metric('scheduler_pending_pods', 'queue="unschedulable"')).toBe(1)
    await scene.node('node-2')
    await scene.settle()
    expect(await scene.nodeOf('web')).toBe('node-2')
    expect(scene.metric('scheduler_pending_pods')).toBe(0)
  })

  it('waits for the first node', async () => {
    const scene = await SchedulerScene.start()
    await scene.pod('web')
    expect(await scene.whyNot('web')).toBe('Unschedulable: no nodes available to schedule pods')
    await scene.node('node-1')
    await scene.settle()
    expect(await scene.nodeOf('web')).toBe('node-1')
  })

  it('waits for room that others leave', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('first', { containers: [asking({ cpu: '800m' })] })
    await scene.pod('second', { containers: [asking({ cpu: '800m' })] })
    expect(await scene.whyNot('second')).toBe('Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.')
    await scene.remove('first')
    expect(await scene.nodeOf('second')).toBe('node-1')
  })

  it('tells what is against each node', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('small', { allocatable: { cpu: '1', memory: '1Gi' } })
    await scene.node('tainted', { spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } })
    await scene.node('cordoned', { spec: { unschedulable: true } })
    await scene.node('wrong', { labels: { disk: 'hdd' } })
    await scene.pod('web', { nodeSelector: { disk: 'ssd' }, containers: [asking({ cpu: '2', memory: '2Gi' })] })
    expect(await scene.whyNot('web')).toBe(
      `Unschedulable: 0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector. ${nobodyHelps(4)}`,
    )
  })

  it.each<[string, object]>([
    ['uncordoned', { spec: { unschedulable: null } }],
    ['untainted', { spec: { taints: [] } }],
    ['labelled', { metadata: { labels: { disk: 'ssd' } } }],
  ])('tries again when the node is %s, and not before', async (what, patch) => {
    const scene = await SchedulerScene.start()
    const spec = what === 'uncordoned' ? { unschedulable: true } : what === 'untainted' ? { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } : {}
    await scene.node('node-1', { spec })
    await scene.pod('web', what === 'labelled' ? { nodeSelector: { disk: 'ssd' } } : {})
    const tried = () => scene.metric('scheduler_schedule_attempts_total')
    expect(tried()).toBe(1)
    await scene.client.patch(nodes, '', 'node-1', { metadata: { labels: { other: 'thing' } } }, { type: 'merge' })
    await scene.pass(20_000)
    expect(tried()).toBe(1)
    await scene.client.patch(nodes, '', 'node-1', patch, { type: 'merge' })
    await scene.settle()
    expect([await scene.nodeOf('web'), tried()]).toEqual(['node-1', 2])
  })

  it('spreads the pods of a Deployment over zones and hosts', async () => {
    const scene = await SchedulerScene.start({ controllers: [deploymentController, replicaSetController] })
    for (const [name, where] of [['a1', 'a'], ['a2', 'a'], ['b1', 'b'], ['b2', 'b']] as const) await scene.node(name, { labels: zone(where) })
    await scene.client.create(deployments, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 8, selector, template: { metadata: web, spec: { containers: [asking()] } } },
    })
    await scene.pass(1000)
    const { items } = await scene.client.list(pods, 'default')
    const perNode: Record<string, number> = {}
    for (const { spec } of items) perNode[spec.nodeName ?? 'none'] = (perNode[spec.nodeName ?? 'none'] ?? 0) + 1
    expect(perNode).toEqual({ a1: 2, a2: 2, b1: 2, b2: 2 })
  })

  it('keeps pods away from each other, and finds no place for one too many', async () => {
    const scene = await SchedulerScene.start()
    for (const name of ['node-1', 'node-2']) await scene.node(name)
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: selector }] } }
    for (const name of ['a', 'b', 'c']) await scene.pod(name, { affinity }, web)
    expect(new Set([await scene.nodeOf('a'), await scene.nodeOf('b')]).size).toBe(2)
    expect(await scene.whyNot('c')).toBe(
      "Unschedulable: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
    )
    await scene.remove('a')
    expect(await scene.nodeOf('c')).toBeDefined()
  })

  it('spreads pods as evenly as they must be', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('a', { labels: zone('a') })
    await scene.node('b', { labels: zone('b'), allocatable: { cpu: '300m' } })
    const topologySpreadConstraints = [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector }]
    for (let i = 0; i < 8; i++) await scene.pod(`web-${i}`, { topologySpreadConstraints, containers: [asking({ cpu: '100m' })] }, web)
    const { items } = await scene.client.list(pods, 'default')
    // Three in b, where there is no room for more, four in a; the eighth has to wait.
    expect(items.map(({ spec }) => spec.nodeName ?? '').sort()).toEqual(['', 'a', 'a', 'a', 'a', 'b', 'b', 'b'])
    expect(await scene.whyNot('web-7')).toMatch(/^Unschedulable: 0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) didn't match pod topology spread constraints\./)
  })

  it('gives ports of the node to one pod only', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    const containers = [asking(undefined, { ports: [{ containerPort: 80, hostPort: 80 }] })]
    await scene.pod('first', { containers })
    await scene.pod('second', { containers })
    expect(await scene.whyNot('second')).toMatch(/1 node\(s\) didn't have free ports for the requested pod ports\./)
    await scene.remove('first')
    expect(await scene.nodeOf('second')).toBe('node-1')
  })

  it('leaves pods with gates alone until the last gate is gone', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await scene.pod('web', { schedulingGates: [{ name: 'example.com/a' }] })
    expect(await scene.whyNot('web')).toBe('SchedulingGated: Scheduling is blocked due to non-empty scheduling gates')
    expect([scene.wire.summary(), scene.metric('scheduler_pending_pods', 'queue="gated"')]).toEqual([[], 1])
    await scene.client.patch(pods, 'default', 'web', { spec: { schedulingGates: null } }, { type: 'merge' })
    await scene.settle()
    expect(await scene.nodeOf('web')).toBe('node-1')
  })

  it('leaves pods of other schedulers alone', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await scene.pod('web', { schedulerName: 'other' })
    await scene.pass(10_000)
    expect([await scene.nodeOf('web'), scene.wire.summary()]).toEqual([undefined, []])
  })

  it('counts pods that others have put on nodes', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('placed', { nodeName: 'node-1', containers: [asking({ cpu: '1' })] })
    await scene.pod('web')
    expect(await scene.whyNot('web')).toMatch(/Insufficient cpu/)
  })

  it('does not count pods that have ended', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('task', { containers: [asking({ cpu: '1' })], restartPolicy: 'Never' })
    await scene.pod('web', { containers: [asking({ cpu: '1' })] })
    expect(await scene.nodeOf('web')).toBeUndefined()
    await scene.client.patch(pods, 'default', 'task', { status: { phase: 'Succeeded' } }, { type: 'merge', subresource: 'status' })
    await scene.settle()
    expect(await scene.nodeOf('web')).toBe('node-1')
  })

  it('never gives away the same room twice, however late it hears of its own bindings', async () => {
    const scene = await SchedulerScene.start()
    for (const name of ['node-1', 'node-2']) await scene.node(name, { allocatable: { cpu: '1' } })
    await scene.settle()
    scene.wire.delaysMs.set('pods', 5000)
    for (let i = 0; i < 5; i++) await scene.pod(`web-${i}`, { containers: [asking({ cpu: '500m' })] })
    await scene.pass(20_000)
    const { items } = await scene.client.list(pods, 'default')
    expect(items.map(({ spec }) => spec.nodeName ?? '').sort()).toEqual(['', 'node-1', 'node-1', 'node-2', 'node-2'])
  })

  it('lets others have their turn while very many pods wait', async () => {
    const scene = await SchedulerScene.start()
    for (let i = 0; i < 100; i++) await scene.pod(`web-${i}`, { containers: [asking({ cpu: '10m' })] })
    await scene.node('node-1')
    await scene.settle()
    const bound = async () => (await scene.client.list(pods, 'default')).items.filter(({ spec }) => spec.nodeName).length
    const atOnce = await bound()
    expect(atOnce).toBeGreaterThan(0)
    expect(atOnce).toBeLessThan(100)
    await scene.pass(0)
    expect(await bound()).toBe(100)
  })

  it('decides the same with the same seed', async () => {
    const run = async () => {
      const scene = await SchedulerScene.start({ seed: 7 })
      for (let i = 0; i < 5; i++) await scene.node(`node-${i}`)
      for (let i = 0; i < 10; i++) await scene.pod(`web-${i}`)
      const { items } = await scene.client.list(pods, 'default')
      return items.map(({ metadata, spec }) => `${metadata.name} ${spec.nodeName}`)
    }
    expect(await run()).toEqual(await run())
  })

  it('does nothing when there is nothing to do', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.client.create(services, { metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } } as never)
    await scene.pod('web', {}, web)
    await scene.pod('too-large', { containers: [asking({ cpu: '9' })] })
    await scene.pass(60_000)
    const figures = () => [scene.wire.summary().filter((write) => !write.includes('events')).length, scene.metric('scheduler_schedule_attempts_total')]
    const before = figures()
    await scene.pass(200_000)
    expect(figures()).toEqual(before)
    // Once in five minutes it looks whether something was missed, and has nothing new to say.
    await scene.pass(100_000)
    expect(figures()).toEqual([before[0], before[1]! + 1])
  })
})
