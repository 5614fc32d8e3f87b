import { describe, expect, it, onTestFinished } from 'vitest'
import type { Pod, ResourceQuota } from '../../../api/generated/types.ts'
import { evaluatorOf } from '../../../api/quota/index.ts'
import type { Objects } from '../../objects/objects.ts'
import { pods } from '../../resources/core/pods.ts'
import { resourcequotas } from '../../resources/core/resourcequotas.ts'
import { ServerTrial } from '../../server-trial.ts'
import { create } from '../../verbs/create.ts'
import type { AdmissionRequest } from '../admission.ts'
import { QuotaLine } from './resource-quota.ts'

const ns = 'default'

/** Quotas of pods on a real server, and a line before them whose charges can be interfered with. */
async function open(hard: Record<string, string>) {
  const trial = await ServerTrial.open()
  onTestFinished(() => trial.server.close())
  const { access } = trial.parts
  const setStatus = (name: string, status: ResourceQuota['status']) =>
    access.update<ResourceQuota>(resourcequotas, ns, name, (copy) => ({ ...copy, status: { ...copy.status, ...status } }))
  for (const [name, pods] of Object.entries(hard)) {
    await create(trial.request(`/api/v1/namespaces/${ns}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard: { pods } } }))
    await setStatus(name, { hard: { pods }, used: { pods: '0' } })
  }
  const interfere: { before?: (quota: string) => Promise<unknown> } = {}
  const objects: Objects = {
    get: access.get.bind(access),
    list: access.list.bind(access),
    follow: access.follow.bind(access),
    delete: access.delete.bind(access),
    update: async (resource, namespace, name, change, options) => {
      const { before } = interfere
      interfere.before = undefined
      await before?.(name)
      return access.update(resource, namespace, name, change, options)
    },
  }
  const line = new QuotaLine(objects)
  const enter = (name: string) => {
    const object = { metadata: { name, namespace: ns }, spec: { containers: [{ name: 'c' }] }, status: {} } as unknown as Pod
    const asked = { operation: 'CREATE' as const, subresource: '', object, old: undefined }
    const request: AdmissionRequest = {
      ...asked, resource: pods, namespace: ns, name, user: { name: 'u', groups: [] }, dryRun: false, warnings: [], reader: access, now: 0,
    }
    return line.enter(request, asked, evaluatorOf('', 'pods')!)
  }
  const fate = (name: string) => enter(name).then(() => 'let in', (e: Error) => e.message)
  const used = () => Object.keys(hard).map((name) => access.get<ResourceQuota>('', 'resourcequotas', ns, name)?.status.used?.['pods'])
  return { access, interfere, enter, fate, used, setStatus }
}

describe('QuotaLine', () => {
  it('judges again when a quota has changed since, and gives back what others were charged', async () => {
    const { interfere, fate, used, setStatus } = await open({ a: '5', b: '5' })
    // While the first quota is charged, somebody uses up most of the second.
    interfere.before = () => setStatus('b', { used: { pods: '4' } })
    const fates = await Promise.all(['x', 'y', 'z'].map(fate))
    const exceeded = (name: string) => `pods "${name}" is forbidden: exceeded quota: b, requested: pods=1, used: pods=5, limited: pods=5`
    expect(fates).toEqual(['let in', exceeded('y'), exceeded('z')])
    await expect.poll(used).toEqual(['1', '5'])
  })

  it('asks nothing of a quota that is gone', async () => {
    const { access, interfere, fate, used } = await open({ a: '5' })
    interfere.before = () => access.delete(resourcequotas, ns, 'a', {})
    expect(await fate('x')).toBe('let in')
    expect(used()).toEqual([undefined])
  })

  it('turns all away when a charge cannot be written, and gives back what was charged', async () => {
    const { interfere, fate, used } = await open({ a: '5', b: '5' })
    interfere.before = async () => {
      interfere.before = () => Promise.reject(new Error('the disk is full'))
    }
    expect(await Promise.all(['x', 'y'].map(fate))).toEqual(['the disk is full', 'the disk is full'])
    await expect.poll(used).toEqual(['0', '0'])
    expect(await fate('z')).toBe('let in')
    expect(used()).toEqual(['1', '1'])
  })

  it('counts who was let in and is not stored yet, whatever the status says', async () => {
    const { enter, fate, setStatus } = await open({ a: '2' })
    const first = await enter('x')
    await enter('y')
    await setStatus('a', { used: { pods: '0' } })
    expect(await fate('z')).toContain('exceeded quota: a, requested: pods=1, used: pods=2, limited: pods=2')
    await first?.finish(false)
    expect(await fate('z')).toBe('let in')
  })
})
