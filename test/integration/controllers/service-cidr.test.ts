import { expect, it } from 'vitest'
import { ipaddresses, servicecidrs, services } from '../../../src/client/index.ts'
import { serviceCidrController } from '../../../src/controllers/service-cidr/controller.ts'
import { Scene } from '../kit/scene.ts'

const start = () => Scene.start({ controllers: [serviceCidrController] })
const names = async (s: Scene) => (await s.client.list(servicecidrs, '')).items.map((c) => c.metadata.name)
const more = { metadata: { name: 'more' }, spec: { cidrs: ['10.7.0.0/24'] } }

it('a range gets its finalizer and is ready', async () => {
  const s = await start()
  await s.client.create(servicecidrs, more)
  await s.pass(1000)
  expect(await s.client.get(servicecidrs, '', 'more')).toMatchObject({
    metadata: { finalizers: ['networking.k8s.io/service-cidr-finalizer'] },
    status: { conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes Service CIDR is ready' }] },
  })
})

it('a range that is deleted stays until no service has an address of it', async () => {
  const s = await start()
  await s.client.create(servicecidrs, more)
  await s.pass(1000)
  const ports = [{ port: 80 }]
  await s.client.create(services, { metadata: { name: 'web', namespace: 'default' }, spec: { clusterIP: '10.7.0.9', ports } } as never)
  await s.client.delete(servicecidrs, '', 'more')
  await s.pass(60_000)
  expect((await s.client.get(servicecidrs, '', 'more')).status?.conditions).toMatchObject([{ status: 'False', reason: 'Terminating' }])
  await s.client.delete(services, 'default', 'web')
  await s.pass(1000)
  expect((await s.client.list(ipaddresses, '')).items.map((a) => a.metadata.name)).toEqual(['10.0.0.1'])
  expect(await names(s)).toEqual(['kubernetes'])
})

it('an empty range goes ten seconds after it is deleted', async () => {
  const s = await start()
  await s.client.create(servicecidrs, more)
  await s.pass(1000)
  await s.client.delete(servicecidrs, '', 'more')
  await s.pass(8000)
  expect(await names(s)).toEqual(['kubernetes', 'more'])
  await s.pass(3000)
  expect(await names(s)).toEqual(['kubernetes'])
})
