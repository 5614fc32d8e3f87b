import { expect, it } from 'vitest'
import type { Namespace, Service } from '../../api/generated/types.ts'
import { bootstrap } from './bootstrap.ts'
import { ServerTrial } from '../server-trial.ts'

it('bootstrap() makes what every cluster has, and makes it once', async () => {
  const { parts } = await ServerTrial.open()
  const names = parts.access.list<Namespace>('', 'namespaces', '').map((n) => n.metadata.name)
  expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  expect(parts.access.get<Service>('', 'services', 'default', 'kubernetes')?.spec?.clusterIP).toBe('10.0.0.1')
  const before = parts.objects.revision
  await bootstrap(parts)
  expect(parts.objects.revision).toBe(before)
})

it('bootstrap() puts back what is missing', async () => {
  const { parts } = await ServerTrial.open()
  const services = parts.registry.find('v1', 'services')!
  await parts.objects.remove(services, parts.objects.get(services, 'default', 'kubernetes')!)
  await bootstrap(parts)
  expect(parts.objects.get(services, 'default', 'kubernetes')).toBeDefined()
})
