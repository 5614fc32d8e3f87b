import { afterEach, describe, expect, it } from 'vitest'
import { claimUsed, marksClaims, neverUsed } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { nodes, persistentvolumeclaims, persistentvolumes } from '../../../src/client/index.ts'
import { NodeScene } from './scene.ts'

// A claim that says `never` is marked before the first container of any pod may use its volume.

let scene: NodeScene
afterEach(() => scene?.stop())

const startMs = Date.parse('2026-01-01T12:00:00Z')
const data = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }
const isMark = ({ method, path }: { method: string; path: string }): boolean => method === 'PATCH' && path.endsWith('/persistentvolumeclaims/data')

/** A node, and a claim with a volume. */
async function start(annotations: Record<string, string> = { [claimUsed]: neverUsed }): Promise<void> {
  scene = await NodeScene.start({ startMs })
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } }, volumeName: 'pv' }
  const csi = { driver: 'csi.example.com', volumeHandle: 'v' }
  await scene.client.create(persistentvolumes, { metadata: { name: 'pv' }, spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, csi } })
  await scene.client.create(persistentvolumeclaims, { metadata: { name: 'data', namespace: 'default', annotations }, spec })
  await scene.client.patch(persistentvolumeclaims, 'default', 'data', { status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
  await scene.pass(50)
}

const used = async () => (await scene.client.get(persistentvolumeclaims, 'default', 'data')).metadata.annotations?.[claimUsed]
const marks = () => scene.link.sent.filter(isMark).length
const containers = async () => (await scene.runtime.listContainers()).length
const waiting = async () => (await scene.pod('web')).status?.containerStatuses?.[0]?.state?.waiting?.reason

describe('a node marks a claim', () => {
  it.each([['regular', {}], ['init', { initContainers: [{ name: 'first', image: 'app:1' }] }]])('and waits for the answer before the first container starts: %s', async (_, spec) => {
    await start()
    scene.link.delayMs = (request) => (isMark(request) ? 3000 : 0)
    await scene.run('web', { ...data, ...spec })
    await scene.pass(2000)
    // The sandbox is there, and nothing runs in it.
    expect([await used(), await containers(), (await scene.condition('web', 'PodReadyToStartContainers'))?.status]).toEqual([neverUsed, 0, 'True'])
    await scene.pass(3000)
    expect([await used(), await containers(), marks()]).toEqual(['2026-01-01T12:00:00Z', expect.any(Number), 1])
    expect(await containers()).toBeGreaterThan(0)
  })

  it('and starts nothing while the API does not take the mark', async () => {
    await start()
    scene.link.loses = isMark
    await scene.run('web', data)
    await scene.pass(60_000)
    expect([await used(), await containers(), await waiting()]).toEqual([neverUsed, 0, 'ClaimNotMarked'])
    expect((await scene.events('FailedMarkClaim'))[0]?.message).toMatch(/^Failed to mark the claims of the pod as used: /)
    scene.link.loses = undefined
    await scene.pass(5000)
    expect([await used(), await containers()]).toEqual([expect.stringMatching(/^2026-/), 1])
  })

  it('and starts nothing on one that was deleted just before', async () => {
    await start()
    await scene.client.patch(persistentvolumeclaims, 'default', 'data', { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } }, { type: 'merge' })
    scene.link.beforeWrite = async (body) => {
      if (JSON.stringify(body).includes(claimUsed)) await scene.client.delete(persistentvolumeclaims, 'default', 'data')
    }
    await scene.run('web', data)
    await scene.pass(60_000)
    expect(await containers()).toBe(0)
  })

  it('once, however many pods use it, and whoever restarts', async () => {
    await start()
    await scene.run('web', data)
    await scene.run('other', data)
    await scene.kill()
    await scene.startAgent()
    await scene.pass(5000)
    expect([marks(), await containers()]).toEqual([1, 2])
  })

  it('that an agent of an earlier release has used', async () => {
    await start({})
    await scene.run('web', data)
    await scene.kill()
    await scene.client.patch(persistentvolumeclaims, 'default', 'data', { metadata: { annotations: { [claimUsed]: neverUsed } } }, { type: 'merge' })
    await scene.client.patch(nodes, '', 'n1', { metadata: { annotations: { [marksClaims]: null } } }, { type: 'merge' })
    await scene.startAgent()
    await scene.pass(5000)
    expect([await used(), (await scene.node()).metadata.annotations?.[marksClaims]]).toEqual([expect.stringMatching(/^2026-/), 'true'])
  })

  it.each([['that is marked', { [claimUsed]: '2025-01-01T00:00:00Z' }], ['that proves nothing', {}]])('only if it says never, and not one %s', async (_, annotations) => {
    await start(annotations)
    await scene.run('web', data)
    expect([marks(), await containers()]).toEqual([0, 1])
  })
})

describe('a node that has lost its memory', () => {
  const failing = 'coxswain.dev/simulate-fail-volumes'
  const condition = async () => {
    const { status, reason } = (await scene.condition('web', 'PodReadyToStartContainers')) ?? {}
    return `${status} ${reason}`
  }

  it.each([['keeps its memory', false, 'False VolumeMountFailed'], ['loses it', true, 'Unknown VolumeMountFailed']])('cannot vouch for a pod that it had before: an agent that restarts %s', async (_, forgets, wanted) => {
    await start()
    await scene.pass(2000)
    await scene.run('web', data, { [failing]: 'no' })
    await scene.pass(5000)
    expect(await condition()).toBe('False VolumeMountFailed')
    await scene.kill()
    if (forgets) scene.runtime.reboot()
    await scene.startAgent()
    await scene.pass(5000)
    expect(await condition()).toBe(wanted)
  })

  it('vouches for the pods that come after', async () => {
    await start()
    await scene.kill()
    scene.runtime.reboot()
    await scene.startAgent()
    await scene.run('web', data, { [failing]: 'no' })
    await scene.pass(5000)
    expect(await condition()).toBe('False VolumeMountFailed')
  })
})
