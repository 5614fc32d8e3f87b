import { describe, expect, it } from 'vitest'
import { ConnectionCounts } from './connection-counts.ts'

const added = (counts: ConnectionCounts, addresses: readonly string[]) => addresses.map((address) => counts.add(address) === undefined)

describe('ConnectionCounts', () => {
  it.each<[string, { inAll: number; perAddress: number }, string[], boolean[]]>([
    ['refuses beyond all', { inAll: 2, perAddress: 0 }, ['a', 'b', 'c'], [true, true, false]],
    ['refuses beyond those of an address', { inAll: 0, perAddress: 1 }, ['1.1.1.1', '1.1.1.1', '1.1.1.2'], [true, false, true]],
    ['has no limit of 0', { inAll: 0, perAddress: 0 }, ['a', 'a', 'a'], [true, true, true]],
    ['takes an IPv4 address in IPv6 for itself', { inAll: 0, perAddress: 1 }, ['::ffff:1.1.1.1', '1.1.1.1'], [true, false]],
    ['takes all addresses of a /64 for one', { inAll: 0, perAddress: 1 }, ['2001:db8:1:2::1', '2001:db8:1:2:aa:bb:cc:dd', '2001:db8:1:3::1'], [true, false, true]],
    ['tells short addresses apart', { inAll: 0, perAddress: 1 }, ['::1', '2001:db8::1'], [true, true]],
  ])('%s', (_, limits, addresses, admitted) => {
    expect(added(new ConnectionCounts(limits), addresses)).toEqual(admitted)
  })

  it('forgets an address whose last connection has ended', () => {
    const counts = new ConnectionCounts({ inAll: 2, perAddress: 2 })
    counts.add('a')
    counts.add('a')
    counts.remove('a')
    expect([counts.owners, counts.add('b'), counts.add('c') !== undefined]).toEqual([1, undefined, true])
    counts.remove('a')
    counts.remove('b')
    expect(counts.owners).toBe(0)
  })
})
