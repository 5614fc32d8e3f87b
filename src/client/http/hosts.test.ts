import { expect, it } from 'vitest'
import type { ClusterAccess } from '../transport/access.ts'
import type { Host } from './attempt.ts'
import { Hosts } from './hosts.ts'

it('Hosts closes the connections to a server that has left the cluster, and keeps the others', () => {
  const url = (name: string) => new URL(`https://${name}:6443`)
  let others = [url('b'), url('c')]
  const closed: string[] = []
  const make = ({ hostname, origin }: URL) => ({ origin, connections: { close: async () => void closed.push(hostname) } }) as unknown as Host
  const hosts = new Hosts({ server: url('a'), otherServers: () => others } as unknown as ClusterAccess, make)
  hosts.leave(hosts.current)
  const b = hosts.current
  expect(b.origin).toBe('https://b:6443')
  others = [url('c')]
  hosts.leave(b)
  expect([hosts.current.origin, closed]).toEqual(['https://a:6443', ['b']])
  hosts.leave(hosts.current)
  expect([hosts.current.origin, closed]).toEqual(['https://c:6443', ['b']])
})
