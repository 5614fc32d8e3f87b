import { describe, expect, it } from 'vitest'
import { LoopbackAddresses, addressPrefixFor } from './loopback-addresses.ts'

describe.runIf(process.platform === 'linux')('LoopbackAddresses', () => {
  it('never hands out the first or last of a row, nor one that is taken', () => {
    const addresses = new LoopbackAddresses('127.9')
    const taken = Array.from({ length: 600 }, () => addresses.take())
    expect(new Set(taken).size).toBe(600)
    expect(taken.filter((a) => /\.(0|255)$/.test(a))).toEqual([])
    expect([taken[0], taken[253], taken[254]]).toEqual(['127.9.0.1', '127.9.0.254', '127.9.1.1'])
  })

  it('lets an address rest that was given back', () => {
    const addresses = new LoopbackAddresses('127.9')
    const first = addresses.take()
    addresses.giveBack(first)
    expect(addresses.take()).not.toBe(first)
  })

  it('goes on behind what pods have from before', () => {
    const addresses = new LoopbackAddresses('127.9')
    addresses.keep('127.9.0.7')
    expect(addresses.take()).toBe('127.9.0.8')
  })

  it('says when there are none left, and has one again when it is given back', () => {
    const addresses = new LoopbackAddresses('127.9')
    for (let i = 0; i < 256 * 254; i++) addresses.take()
    expect(() => addresses.take()).toThrow('no addresses are left in 127.9.0.0/16')
    addresses.giveBack('127.9.3.3')
    expect(addresses.take()).toBe('127.9.3.3')
  })
})

it('addressPrefixFor() keeps clear of 127.0 and of the cluster IPs of Services', () => {
  const prefixes = Array.from({ length: 300 }, (_, i) => addressPrefixFor(`/data-${i}`))
  expect(prefixes.filter((p) => !/^127\.([1-9]|[1-9]\d|1[01]\d|12[0-7])$/.test(p))).toEqual([])
  expect(addressPrefixFor('/a')).toBe(addressPrefixFor('/a'))
})
