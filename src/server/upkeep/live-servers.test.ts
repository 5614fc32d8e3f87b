import { expect, it } from 'vitest'
import type { EndpointSlice } from '../../api/generated/types.ts'
import { silentLogger } from '../../base/logger.ts'
import { ServerTrial } from '../server-trial.ts'
import { LiveServers } from './live-servers.ts'

async function scene() {
  const { parts, clock } = await ServerTrial.open()
  const server = (identity: string, ip: string, port = 6443) =>
    new LiveServers({ objects: parts.access, identity, ip, port, clock, logger: silentLogger })
  const slices = () =>
    parts.access.list<EndpointSlice>('discovery.k8s.io', 'endpointslices', 'default').map(({ metadata, endpoints, ports }) => [
      metadata.name, ports![0]!.port, ...(endpoints ?? []).flatMap(({ addresses }) => addresses),
    ])
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1000)
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { server, slices, pass, parts }
}

it('LiveServers lists every server, and takes out one that has left or died', async () => {
  const { server, slices, pass, parts } = await scene()
  const [one, two, three] = [server('a', '10.1.0.1'), server('b', '10.1.0.2'), server('c', '10.1.0.3')]
  for (const each of [one, two, three]) await each.start()
  await pass(5)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.2', '10.1.0.3']])
  await two.stop()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3']])
  // As a server that was killed: nobody renews its lease.
  await parts.access.create(parts.registry.find('coordination.k8s.io/v1', 'leases')!.resource, {
    apiVersion: 'coordination.k8s.io/v1', kind: 'Lease',
    metadata: { name: 'apiserver-x', namespace: 'kube-system', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }, annotations: { 'coxswain.io/api-address': '10.1.0.9 6443' } },
  })
  await pass(5)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3', '10.1.0.9']])
  await pass(20)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3']])
  await one.stop()
  await three.stop()
})

it('LiveServers has a slice for each port, and none for what only one machine reaches', async () => {
  const { server, slices } = await scene()
  const all = [server('a', '10.1.0.1', 7000), server('b', '10.1.0.2'), server('c', '127.0.0.1')]
  for (const each of all) await each.start()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.2'], ['kubernetes-port-7000', 7000, '10.1.0.1']])
  for (const each of all) await each.stop()
  expect(slices()).toEqual([])
})
