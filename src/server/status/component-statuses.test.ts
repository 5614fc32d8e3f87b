import { describe, expect, test } from 'vitest'
import { ComponentStatuses } from './component-statuses.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { ServerTrial } from '../server-trial.ts'

const now = Date.parse('2026-01-01T00:01:00Z')

function make(options: { renewTime?: string; checks?: [string, string | undefined][]; lost?: Error } = {}) {
  const { renewTime, checks = [], lost } = options
  const objects = { get: () => renewTime && { spec: { renewTime, leaseDurationSeconds: 15 } }, list: () => [] } as unknown as ObjectReader
  const statuses = new ComponentStatuses({
    objects: () => objects, now: () => now, checks: new Map(checks.map(([name, problem]) => [name, () => problem])), lost: () => lost,
  })
  return async (name = '', query = '') => {
    const warnings: string[] = []
    const answer = await statuses.answer({ name, query: new URLSearchParams(query), warnings })
    return { warnings, value: (answer as { object: any }).object, resource: (answer as { table: any }).table }
  }
}

const shown = (value: any) => value.items.map((i: any) => `${i.metadata.name} ${i.conditions[0].status} ${i.conditions[0].message}`)

describe('component statuses', () => {
  test.each<[string, Parameters<typeof make>[0], string[]]>([
    ['parts of this process say how they are', { checks: [['scheduler', undefined], ['controller-manager', 'replicaset: stuck']] }, [
      'controller-manager False replicaset: stuck', 'scheduler True ok', 'etcd-0 True ok',
    ]],
    ['others are well while they renew their lease', { renewTime: '2026-01-01T00:00:50.000000Z' }, ['controller-manager True ok', 'scheduler True ok', 'etcd-0 True ok']],
    ['one that does not is not', { renewTime: '2026-01-01T00:00:40.000000Z', checks: [['scheduler', undefined]] }, [
      'controller-manager False the lease kube-system/kube-controller-manager was last renewed at 2026-01-01T00:00:40.000000Z', 'scheduler True ok', 'etcd-0 True ok',
    ]],
    ['a store that is lost is told', { checks: [['scheduler', undefined], ['controller-manager', undefined]], lost: new Error('disk full') }, [
      'controller-manager True ok', 'scheduler True ok', 'etcd-0 False disk full',
    ]],
  ])('%s', async (_, options, lines) => {
    const { value, warnings } = await make(options)()
    expect([shown(value), warnings]).toEqual([lines, ['v1 ComponentStatus is deprecated in v1.19+']])
  })

  test('are found by name and selected by field', async () => {
    const ask = make()
    expect((await ask('etcd-0')).value).toMatchObject({ kind: 'ComponentStatus', metadata: { name: 'etcd-0' } })
    expect(shown((await ask('', 'fieldSelector=metadata.name%3Detcd-0')).value)).toEqual(['etcd-0 True ok'])
    await expect(ask('kubelet')).rejects.toThrow('Component not found: kubelet')
  })

  test('are shown in four columns', async () => {
    const { value, resource } = await make()('scheduler')
    expect(resource.columns.map((c: any) => c.cell(value, 0))).toEqual(['scheduler', 'Unhealthy', 'the lease kube-system/kube-scheduler has no holder', ''])
  })

  test('are read by list and get, and nothing else', async () => {
    const trial = await ServerTrial.open()
    expect(await trial.run('GET', '/api/v1/componentstatuses')).toMatchObject({ value: { kind: 'ComponentStatusList' } })
    await expect(trial.run('POST', '/api/v1/componentstatuses', {})).rejects.toMatchObject({ code: 405 })
    await expect(trial.run('GET', '/api/v1/componentstatuses?watch=true')).rejects.toMatchObject({ code: 405 })
    await expect(trial.run('GET', '/api/v1/namespaces/default/componentstatuses')).rejects.toMatchObject({ code: 404 })
    await expect(trial.run('GET', '/api/v1/componentstatuses/etcd-0/status')).rejects.toMatchObject({ code: 404 })
  })
})
