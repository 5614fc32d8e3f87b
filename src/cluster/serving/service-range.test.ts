import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { chooseServiceRange, defaultRange, dnsAddressOf, isLoopbackRange, loopbackBlock } from './service-range.ts'

const inBlocks = /^127\.(12[89]|1[3-9]\d|2[0-4]\d|25[0-4])\.(0|16|32|48|64|80|96|112|128|144|160|176|192|208|224|240)\.0\/20$/

describe('chooseServiceRange()', () => {
  it.each<[string, Parameters<typeof chooseServiceRange>, string | undefined | RegExp]>([
    ['the flag wins', [{ given: '10.7.0.0/16', place: 'loopback', dataDir: '/a' }, '10.0.0.0/24'], '10.7.0.0/16'],
    ['a new server without nodes leaves it to the default', [{ given: undefined, place: 'any', dataDir: '/a' }, undefined], undefined],
    ['process pods have one on the loopback interface', [{ given: undefined, place: 'loopback', dataDir: '/a' }, undefined], inBlocks],
    ['an old one elsewhere is left', [{ given: undefined, place: 'loopback', dataDir: '/a' }, '10.0.0.0/24'], inBlocks],
    ['one on the loopback interface stays', [{ given: undefined, place: 'loopback', dataDir: '/a' }, '127.200.16.0/20'], '127.200.16.0/20'],
    ['containers cannot use one on the loopback interface', [{ given: undefined, place: 'routed', dataDir: '/a' }, '127.200.16.0/20'], defaultRange],
    ['any other stays', [{ given: undefined, place: 'routed', dataDir: '/a' }, '10.96.0.0/12'], '10.96.0.0/12'],
  ])('%s', async (_, [choice, stored], wanted) => {
    const range = await chooseServiceRange(choice, stored)
    if (wanted instanceof RegExp) expect(range).toMatch(wanted)
    else expect(range).toBe(wanted)
  })

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)('takes the next block where another cluster has the first', async () => {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(53, dnsAddressOf(loopbackBlock('/taken', 0)), resolve))
    expect(await chooseServiceRange({ given: undefined, place: 'loopback', dataDir: '/taken' }, undefined)).toBe(loopbackBlock('/taken', 1))
    await new Promise<void>((resolve) => socket.close(() => resolve()))
  })
})

it('loopbackBlock() keeps clear of the addresses of pods', () => {
  expect(Array.from({ length: 300 }, (_, i) => loopbackBlock(`/data-${i}`, i)).filter((range) => !inBlocks.test(range))).toEqual([])
})

it.each([['127.0.0.0/8', true], ['127.9.0.0/16', true], ['10.0.0.0/24', false], ['0.0.0.0/0', false], ['126.0.0.0/7', false], ['fd00::/108', false]])('isLoopbackRange() of %s is %s', (range, wanted) => {
  expect(isLoopbackRange(range)).toBe(wanted)
})
