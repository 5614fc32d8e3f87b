import { describe, expect, test } from 'vitest'
import { cidrContains, cidrWarnings, formatCidr, formatIp, ipWarnings, isCanonicalCidr, isCanonicalIp, isCidr, isIp, isRoutableIp, parseCidr, parseIp, validateIp } from './ip.ts'
import { Path } from './path.ts'

const badIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const badCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

describe('isIp()', () => {
  test.each<[string, string[]]>([
    ['1.2.3.4', []],
    ['255.255.255.255', []],
    ['1234::abcd', []],
    ['::', []],
    ['0:0:0:0:0:0:0:0', []],
    ['1234::ABCD', []],
    ['1.1.1.01', ['must not have leading 0s']],
    ['::ffff:1.1.1.1', ['must not be an IPv4-mapped IPv6 address']],
    ['', [badIp]],
    ['myhost.mydomain', [badIp]],
    ['1.2.3.0/24', [badIp]],
    ['1.2.3.400', [badIp]],
    ['-1.0.0.0', [badIp]],
    ['1.2.3', [badIp]],
    ['1:2:3:4:5:6:7::8', [badIp]],
    ['1:2:3:4:5:6:7:8:9', [badIp]],
    ['1::2::3', [badIp]],
    ['fe80::1%eth0', [badIp]],
    ['1.2.3.4:80', [badIp]],
  ])('%s', (text, problems) => expect(isIp(text)).toEqual(problems))
})

test('isCanonicalIp() wants RFC 5952', () => {
  expect(isCanonicalIp('1234::abcd')).toEqual([])
  expect(isCanonicalIp('1234::ABCD')).toEqual(['must be in canonical form ("1234::abcd")'])
  expect(isCanonicalIp('0:0:0:0:0:0:0:0')).toEqual(['must be in canonical form ("::")'])
})

describe('isCidr()', () => {
  test.each<[string, string[]]>([
    ['10.0.0.0/24', []],
    ['0.0.0.0/0', []],
    ['2001:db8::/64', []],
    ['2001:DB8::/64', []],
    ['10.0.0.1/24', ['must not have bits set beyond the prefix length']],
    ['010.0.0.0/24', ['must not have leading 0s in IP or prefix length']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['::ffff:1.2.3.0/120', ['must not have an IPv4-mapped IPv6 address']],
    ['10.0.0.0/33', [badCidr]],
    ['10.0.0.0', [badCidr]],
    ['10.0.0.0/a', [badCidr]],
    ['2001:db8::/129', [badCidr]],
  ])('%s', (text, problems) => expect(isCidr(text)).toEqual(problems))
})

test('isCanonicalCidr() wants RFC 5952', () => {
  expect(isCanonicalCidr('2001:db8::/64')).toEqual([])
  expect(isCanonicalCidr('2001:DB8::/64')).toEqual(['must be in canonical form ("2001:db8::/64")'])
})

test.each([
  ['10.0.0.255', '10.0.0.255'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['0:0:1::', '0:0:1::'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['::1', '::1'],
])('formatIp() writes %s as %s', (text, canonical) => {
  const ip = parseIp(text)!
  expect(formatIp(ip.family, ip.value)).toBe(canonical)
})

test('a network knows its addresses and its text', () => {
  const cidr = parseCidr('10.0.0.7/24')!
  expect(formatCidr(cidr)).toBe('10.0.0.0/24')
  expect(cidrContains(cidr, parseIp('10.0.0.255')!)).toBe(true)
  expect(cidrContains(cidr, parseIp('10.0.1.0')!)).toBe(false)
  expect(cidrContains(cidr, parseIp('::a00:1')!)).toBe(false)
})

test('isRoutableIp() refuses addresses of this machine and this link', () => {
  expect(isRoutableIp('10.1.2.3')).toEqual([])
  expect(isRoutableIp('0.0.0.0')).toEqual(['may not be unspecified (0.0.0.0)'])
  expect(isRoutableIp('127.0.0.1')).toEqual(['may not be in the loopback range (127.0.0.0/8, ::1/128)'])
  expect(isRoutableIp('127.1.0.1')).toEqual([])
  expect(isRoutableIp('::1')).toEqual(['may not be in the loopback range (127.0.0.0/8, ::1/128)'])
  expect(isRoutableIp('169.254.0.1')).toEqual(['may not be in the link-local range (169.254.0.0/16, fe80::/10)'])
  expect(isRoutableIp('224.0.0.1')).toEqual(['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'])
})

test('validateIp() lets a stored spelling stay', () => {
  expect(validateIp('1.1.1.01', Path.of('ip'))[0]?.message).toBe('Invalid value: "1.1.1.01": must not have leading 0s')
  expect(validateIp('1.1.1.01', Path.of('ip'), ['1.1.1.01'])).toEqual([])
})

test('warnings name the better spelling', () => {
  expect(ipWarnings(Path.of('a'), 'FE80::1')).toEqual(['a: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")'])
  expect(ipWarnings(Path.of('a'), '1.1.1.1')).toEqual([])
  expect(cidrWarnings(Path.of('a'), '1.1.1.1/8')).toEqual(['a: CIDR value "1.1.1.1/8" is ambiguous in this context (should be "1.0.0.0/8" or "1.1.1.1/32"?)'])
  expect(cidrWarnings(Path.of('a'), '2001:DB8::/64')).toEqual(['a: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")'])
})
