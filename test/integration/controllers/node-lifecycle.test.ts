import { describe, expect, it } from 'vitest'
import { isNotFound } from '../../../src/api/errors.ts'
import { nodes, pods } from '../../../src/client/index.ts'
import { NodeScene } from './node-scene.ts'

const lost = ['unreachable:NoExecute', 'unreachable:NoSchedule']

describe('a node', () => {
  it('that falls silent is lost after 50 s, and its pods go after the 300 s that they tolerate', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    await s.pod('a', 'n1')
    await s.pod('b', 'n2')
    s.lose('n1')
    await s.pass(49)
    expect(await s.conditions('n1')).toEqual({ Ready: 'True KubeletReady' })
    await s.pass(1)
    expect(await s.conditions('n1')).toEqual({
      Ready: 'Unknown NodeStatusUnknown',
      MemoryPressure: 'Unknown NodeStatusNeverUpdated',
      DiskPressure: 'Unknown NodeStatusNeverUpdated',
      PIDPressure: 'Unknown NodeStatusNeverUpdated',
    })
    expect(await s.taints('n1')).toEqual(lost)
    expect((await s.getPod('a')).status.conditions?.find((c) => c.type === 'Ready')?.status).toBe('False')
    expect(await s.scene.events('a')).toEqual(['Warning NodeNotReady ×1: Node is not ready'])

    await s.pass(298)
    expect((await s.getPod('a')).metadata.deletionTimestamp).toBeUndefined()
    await s.pass(3)
    const pod = await s.getPod('a')
    expect(pod.metadata.deletionTimestamp).toBeDefined()
    expect(pod.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }),
    )
    expect(await s.scene.events('a')).toContain('Normal TaintManagerEviction ×1: Marking for deletion Pod default/a')
    expect((await s.getPod('b')).metadata.deletionTimestamp).toBeUndefined()
    expect(s.scene.warnings).toEqual([])
  })

  it('that is lost has its pods marked once, and a kubelet that says otherwise is not contradicted', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    const before = (await s.pod('a', 'n1')).status.conditions?.find((c) => c.type === 'Ready')
    const ready = async () => (await s.getPod('a')).status.conditions?.find((c) => c.type === 'Ready')?.status
    s.lose('n1')
    await s.pass(51)
    expect(await ready()).toBe('False')
    await s.client.patch(
      pods, 'default', 'a', { status: { conditions: [before] } }, { type: 'strategic', subresource: 'status' }
    )
    await s.pass(120)
    expect(await ready()).toBe('True')
    expect(await s.scene.events('a')).toEqual(['Warning NodeNotReady ×1: Node is not ready'])
    await s.revive('n1')
    await s.pass(20)
    s.lose('n1')
    await s.pass(51)
    expect(await ready()).toBe('False')
  })

  it('that comes back keeps its pods', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    await s.pod('a', 'n1')
    s.lose('n1')
    await s.pass(100)
    expect(await s.taints('n1')).toEqual(lost)
    await s.revive('n1')
    await s.pass(400)
    expect(await s.taints('n1')).toEqual([])
    expect((await s.getPod('a')).metadata.deletionTimestamp).toBeUndefined()
    expect(await s.scene.events('a')).toContain('Normal TaintManagerEviction ×1: Cancelling deletion of Pod default/a')
  })

  it('that never said anything is lost after 60 s', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1')
    await s.client.create(nodes, { metadata: { name: 'n2' } } as never)
    await s.pass(59)
    expect(await s.conditions('n2')).toEqual({})
    await s.pass(1)
    expect((await s.conditions('n2')).Ready).toBe('Unknown NodeStatusNeverUpdated')
    expect(await s.taints('n2')).toEqual(lost)
    expect(await s.scene.events('n2')).toEqual(['Normal RegisteredNode ×1: Node n2 event: Registered Node n2 in Controller'])
  })

  it('that is not ready goes from one taint to the other without a new start', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    await s.pod('a', 'n1')
    await s.report('n1', 'False')
    await s.pass(1)
    expect(await s.taints('n1')).toEqual(['not-ready:NoExecute', 'not-ready:NoSchedule'])
    s.lose('n1')
    await s.pass(60)
    expect(await s.taints('n1')).toEqual(lost)
    await s.pass(238)
    expect((await s.getPod('a')).metadata.deletionTimestamp).toBeUndefined()
    await s.pass(4)
    expect((await s.getPod('a')).metadata.deletionTimestamp).toBeDefined()
  })

  it('has the taints of its conditions, and loses them with those', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1')
    await s.client.patch(nodes, '', 'n1', { spec: { unschedulable: true, taints: [{ key: 'mine', effect: 'NoSchedule' }] } }, { type: 'merge' })
    await s.report('n1', 'True', [{ type: 'MemoryPressure', status: 'True' }, { type: 'DiskPressure', status: 'True' }, { type: 'NetworkUnavailable', status: 'True' }])
    await s.pass(1)
    expect(await s.taints('n1')).toEqual(['disk-pressure:NoSchedule', 'memory-pressure:NoSchedule', 'mine:NoSchedule', 'network-unavailable:NoSchedule', 'unschedulable:NoSchedule'])
    await s.client.patch(nodes, '', 'n1', { spec: { unschedulable: false } }, { type: 'merge' })
    await s.report('n1', 'True', [{ type: 'MemoryPressure', status: 'False' }, { type: 'DiskPressure', status: 'False' }, { type: 'NetworkUnavailable', status: 'False' }])
    await s.pass(1)
    expect(await s.taints('n1')).toEqual(['mine:NoSchedule'])
  })

  it('that is alive is not written to', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    await s.pass(10)
    const before = s.scene.wire.writes.length
    await s.pass(300)
    expect(s.scene.wire.writes.length).toBe(before)
  })
})

describe('nodes', () => {
  it('of a zone are emptied one every ten seconds', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2', 'n3', 'n4', 'n5')
    s.lose('n1', 'n2')
    await s.pass(52)
    const emptied = async () => (await Promise.all(['n1', 'n2'].map((n) => s.taints(n)))).filter((taints) => taints.includes('unreachable:NoExecute')).length
    expect(await emptied()).toBe(1)
    await s.pass(7)
    expect(await emptied()).toBe(1)
    await s.pass(5)
    expect(await emptied()).toBe(2)
  })

  it('are left as they are while none is ready', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1', 'n2')
    await s.pod('a', 'n1')
    s.lose('n1')
    await s.pass(60)
    expect(await s.taints('n1')).toEqual(lost)
    s.lose('n2')
    await s.pass(400)
    expect(await s.taints('n1')).toEqual(['unreachable:NoSchedule'])
    expect(await s.taints('n2')).toEqual(['unreachable:NoSchedule'])
    expect((await s.getPod('a')).metadata.deletionTimestamp).toBeUndefined()
    await s.revive('n2')
    await s.pass(10)
    expect(await s.taints('n1')).toEqual(lost)
  })
})

describe('a taint that a user puts on a node', () => {
  const taint = (s: NodeScene, ...taints: object[]) => s.client.patch(nodes, '', 'n1', { spec: { taints } }, { type: 'merge' })

  it('ends those who do not tolerate it at once, others in their time', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1')
    await s.pod('none', 'n1')
    await s.pod('while', 'n1', [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }])
    await s.pod('always', 'n1', [{ operator: 'Exists' }])
    await taint(s, { key: 'k', effect: 'NoExecute' })
    await s.pass(1)
    const going = async () => (await Promise.all(['none', 'while', 'always'].map((n) => s.getPod(n)))).filter((p) => p.metadata.deletionTimestamp).map((p) => p.metadata.name)
    expect(await going()).toEqual(['none'])
    await s.pass(28)
    expect(await going()).toEqual(['none'])
    await s.pass(2)
    expect(await going()).toEqual(['none', 'while'])
    await s.pass(600)
    expect(await going()).toEqual(['none', 'while'])
  })

  it('concerns pods that come later from the time they come', async () => {
    const s = await NodeScene.start()
    await s.nodes('n1')
    await taint(s, { key: 'k', effect: 'NoExecute' })
    await s.pass(100)
    await s.pod('while', 'n1', [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }])
    await s.pass(29)
    expect((await s.getPod('while')).metadata.deletionTimestamp).toBeUndefined()
    await s.pass(2)
    expect((await s.getPod('while').catch((e: unknown) => (isNotFound(e) ? undefined : e)))).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } })
  })
})

it.each(['pods', 'nodes', 'leases'])('each write is made once, with the watch of %s 5 s behind', async (plural) => {
  const s = await NodeScene.start()
  await s.nodes('n1', 'n2')
  await s.pod('a', 'n1')
  await s.pass(10)
  const { length } = s.scene.wire.writes
  s.scene.wire.delaysMs.set(plural, 5000)
  s.lose('n1')
  await s.pass(400)
  expect(s.scene.wire.summary().slice(length)).toEqual([
    'PUT nodes status', // lost
    'PATCH nodes', // taints
    'PATCH pods status', // not ready
    'PATCH pods status', // to be ended
    'DELETE pods',
  ])
  expect(s.scene.wire.writes.filter(({ error }) => error)).toEqual([])
})
