import { expect, it } from 'vitest'
import { formatResolvConf, parseResolvConf } from './resolv-conf.ts'

it.each([
  ['nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch lan example.com\n', { servers: ['127.0.0.53'], searches: ['lan', 'example.com'], options: ['edns0', 'trust-ad'] }],
  ['# none\n; at all\n', { servers: [], searches: [], options: [] }],
  ['domain lan\nsearch a b # c\nnameserver\t::1\r\nnameserver 1.2.3.4', { servers: ['::1', '1.2.3.4'], searches: ['a', 'b'], options: [] }],
])('parseResolvConf() reads %j', (text, wanted) => {
  expect(parseResolvConf(text)).toEqual(wanted)
  expect(parseResolvConf(formatResolvConf(wanted))).toEqual(wanted)
})
