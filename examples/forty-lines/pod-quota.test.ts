import { namespaces, resourcequotas } from 'coxswain/client'
import { VirtualClock, passTime, startCluster } from 'coxswain/testing'
import { expect, it } from 'vitest'
import { plan, podQuota } from './pod-quota.ts'

it('plan() leaves a namespace alone that asks for nothing', () => {
  expect(plan({ wanted: undefined, quota: undefined })).toEqual({ actions: [] })
})

it('a namespace has the quota it asks for', async () => {
  const clock = new VirtualClock()
  const { client, stop } = await startCluster({ clock, controllers: [podQuota] })
  const hard = async () => (await client.list(resourcequotas, 'rowers')).items.map((quota) => quota.spec?.hard)

  await client.create(namespaces, { metadata: { name: 'rowers', annotations: { 'example.com/pods': '8' } } })
  await passTime(clock, 1000)
  expect(await hard()).toEqual([{ pods: '8' }])

  await client.patch(namespaces, '', 'rowers', { metadata: { annotations: { 'example.com/pods': '9' } } }, { type: 'merge' })
  await passTime(clock, 1000)
  expect(await hard()).toEqual([{ pods: '9' }])

  await client.delete(resourcequotas, 'rowers', 'pods') // somebody interferes
  await passTime(clock, 1000)
  expect(await hard()).toEqual([{ pods: '9' }])
  await stop()
})
