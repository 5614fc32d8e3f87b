import { describe, expect, it } from 'vitest'
import { poddisruptionbudgets, pods, priorityclasses } from '../../../src/client/index.ts'
import { SchedulerScene, asking } from './scene.ts'

const all = (cpu = '1') => [asking({ cpu })]

async function start(): Promise<SchedulerScene> {
  const scene = await SchedulerScene.start()
  for (const [name, value] of [['high', 1000], ['middle', 500]] as const) await scene.client.create(priorityclasses, { metadata: { name }, value } as never)
  return scene
}

describe('preemption', () => {
  it('has a less important pod go, and gives its room to the one that it was made for', async () => {
    const scene = await start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('low', { containers: all() })
    const high = await scene.pod('high', { containers: all(), priorityClassName: 'high' })
    const low = await scene.get('low')
    expect(low.metadata.deletionTimestamp).toBeDefined()
    expect(low.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
    })
    expect((await scene.events('low')).at(-1)).toBe(`Normal Preempted ×1: Preempted by pod ${high.metadata.uid} on node node-1`)
    expect((await scene.get('high')).status?.nominatedNodeName).toBe('node-1')
    expect(await scene.whyNot('high')).toBe('Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.')
    // Nobody less important takes the room meanwhile, and nobody else has to go.
    await scene.pod('greedy', { containers: all('100m') })
    expect(await scene.nodeOf('greedy')).toBeUndefined()
    await scene.remove('low')
    expect(await scene.nodeOf('high')).toBe('node-1')
    expect((await scene.get('high')).status?.nominatedNodeName).toBeUndefined()
    expect(scene.metric('scheduler_preemption_victims_sum')).toBe(1)
  })

  it('leaves a node whose pods are protected for last', async () => {
    const scene = await start()
    for (const name of ['node-1', 'node-2']) await scene.node(name, { allocatable: { cpu: '1' } })
    await scene.pod('kept', { containers: all(), nodeSelector: { 'kubernetes.io/hostname': 'node-1' } }, { labels: { app: 'kept' } })
    await scene.pod('other', { containers: all(), nodeSelector: { 'kubernetes.io/hostname': 'node-2' } })
    await scene.client.create(poddisruptionbudgets, { metadata: { name: 'kept', namespace: 'default' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } } })
    await scene.settle()
    await scene.pod('high', { containers: all(), priorityClassName: 'high' })
    expect([(await scene.get('kept')).metadata.deletionTimestamp, (await scene.get('other')).metadata.deletionTimestamp]).toEqual([undefined, expect.any(String)])
  })

  it('asks nobody to go for pods that do not want it', async () => {
    const scene = await start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.client.create(priorityclasses, { metadata: { name: 'polite' }, value: 1000, preemptionPolicy: 'Never' } as never)
    await scene.pod('low', { containers: all() })
    await scene.pod('polite', { containers: all(), priorityClassName: 'polite' })
    expect((await scene.get('low')).metadata.deletionTimestamp).toBeUndefined()
    expect(await scene.whyNot('polite')).toBe('Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.')
  })

  it('takes the nomination from a pod that is less important', async () => {
    const scene = await start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    await scene.pod('low', { containers: all() })
    await scene.pod('middle', { containers: all(), priorityClassName: 'middle' })
    expect((await scene.get('middle')).status?.nominatedNodeName).toBe('node-1')
    await scene.pod('high', { containers: all(), priorityClassName: 'high' })
    await scene.remove('low')
    expect([await scene.nodeOf('high'), await scene.nodeOf('middle')]).toEqual(['node-1', undefined])
    expect((await scene.get('middle')).status?.nominatedNodeName).toBeUndefined()
  })

  it('is done once, however often the pod is looked at meanwhile', async () => {
    const scene = await start()
    for (const name of ['node-1', 'node-2']) await scene.node(name, { allocatable: { cpu: '1' } })
    for (const name of ['low-1', 'low-2']) await scene.pod(name, { containers: all() })
    await scene.pod('high', { containers: all(), priorityClassName: 'high' })
    await scene.node('node-3', { allocatable: { cpu: '100m' } })
    await scene.pass(600_000)
    const { items } = await scene.client.list(pods, 'default')
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp)).toHaveLength(1)
  })

  it('serves the important pods first when there is room for some', async () => {
    const scene = await start()
    for (const name of ['low', 'high', 'middle']) await scene.pod(name, { containers: all(), ...(name === 'low' ? {} : { priorityClassName: name }) })
    await scene.node('node-1', { allocatable: { cpu: '2' } })
    await scene.settle()
    expect([await scene.nodeOf('high'), await scene.nodeOf('middle'), await scene.nodeOf('low')]).toEqual(['node-1', 'node-1', undefined])
  })
})
