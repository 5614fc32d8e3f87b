import { expect, it } from 'vitest'
import type { EndpointSlice, Lease } from '../../api/generated/types.ts'
import { microTime } from '../../api/object.ts'
import { silentLogger } from '../../base/logger.ts'
import { ServerTrial } from '../server-trial.ts'
import { LiveServers } from './live-servers.ts'

async function scene() {
  const { parts, clock } = await ServerTrial.open()
  /** How far the clock of the machine was set. Durations are not affected. */
  const set = { ms: 0 }
  const wall = { ...clock, now: () => clock.now() + set.ms, after: clock.after.bind(clock) }
  const server = (identity: string, ip: string, port = 6443) =>
    new LiveServers({ objects: parts.access, identity, ip, port, clock: wall, timers: clock, logger: silentLogger })
  const names = () => parts.access.list<Lease>('coordination.k8s.io', 'leases', 'kube-system').map(({ metadata }) => metadata.name)
  /** The lease that a server left which was killed. */
  const leave = (identity: string, ip: string, renewedBeforeMs: number) =>
    parts.access.create(parts.registry.find('coordination.k8s.io/v1', 'leases')!.resource, {
      apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: { renewTime: microTime(wall.now() - renewedBeforeMs) },
      metadata: { name: `apiserver-${identity}`, namespace: 'kube-system', labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }, annotations: { 'coxswain.io/api-address': `${ip} 6443` } },
    })
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
  return { server, slices, pass, leave, names, set }
}

it('LiveServers lists every server, and takes out one that has left or died', async () => {
  const { server, slices, pass, leave } = await scene()
  const [one, two, three] = [server('a', '10.1.0.1'), server('b', '10.1.0.2'), server('c', '10.1.0.3')]
  for (const each of [one, two, three]) await each.start()
  await pass(5)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.2', '10.1.0.3']])
  await two.stop()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3']])
  await leave('x', '10.1.0.9', 0)
  await pass(5)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3', '10.1.0.9']])
  await pass(20)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.3']])
  await one.stop()
  await three.stop()
})

it('LiveServers does not list a server that was dead before this one started', async () => {
  const { server, slices, pass, leave } = await scene()
  // The clock of a machine may be ten seconds off.
  await leave('dead', '10.1.0.8', 26_000)
  await leave('perhaps', '10.1.0.9', 20_000)
  await leave('ahead', '10.1.0.7', -3_600_000)
  const one = server('a', '10.1.0.1')
  await one.start()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.9']])
  await pass(6)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1']])
  await one.stop()
})

it('LiveServers drops a dead server in time although the clock of the machine is set back', async () => {
  const { server, slices, pass, leave, set } = await scene()
  const one = server('a', '10.1.0.1')
  await leave('x', '10.1.0.9', 0)
  await one.start()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.9']])
  set.ms = -3_600_000
  await pass(20)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1']])
  await one.stop()
})

it('LiveServers deletes the leases of servers that are gone for an hour, but not that of a server whose clock is behind', async () => {
  const { server, slices, pass, leave, names, set } = await scene()
  await leave('long-gone', '10.1.0.7', 3_600_001)
  await leave('gone', '10.1.0.8', 3_500_000)
  const one = server('a', '10.1.0.1')
  await one.start()
  expect(names()).toEqual(['apiserver-a', 'apiserver-gone'])
  set.ms = -7_200_000
  const late = server('late', '10.1.0.2')
  await late.start()
  await pass(5)
  set.ms = 0
  await pass(3)
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.1', '10.1.0.2']])
  await pass(100)
  expect(names()).toEqual(['apiserver-a', 'apiserver-late'])
  await one.stop()
  await late.stop()
})

it('LiveServers has a slice for each port, and none for what only one machine reaches', async () => {
  const { server, slices } = await scene()
  const all = [server('a', '10.1.0.1', 7000), server('b', '10.1.0.2'), server('c', '127.0.0.1')]
  for (const each of all) await each.start()
  expect(slices()).toEqual([['kubernetes', 6443, '10.1.0.2'], ['kubernetes-port-7000', 7000, '10.1.0.1']])
  for (const each of all) await each.stop()
  expect(slices()).toEqual([])
})
