import { expect, it } from 'vitest'
import { hostAddress } from './host-address.ts'

const routes = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\neth1\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\neth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n'
const address = (of: string, internal = false) => [{ address: of, family: 'IPv4', internal }]

it.each([
  ['of the default route', routes, { lo: address('127.0.0.1', true), eth0: address('10.0.2.1'), eth1: address('192.0.2.1') }, '192.0.2.1'],
  ['of any other interface', '', { lo: address('127.0.0.1', true), eth0: address('10.0.2.1') }, '10.0.2.1'],
  ['of itself alone', '', { lo: address('127.0.0.1', true) }, '127.0.0.1'],
])('hostAddress() is the address %s', (_name, table, interfaces, expected) => {
  expect(hostAddress(table, interfaces)).toBe(expected)
})
