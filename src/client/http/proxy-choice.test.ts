import { describe, expect, it } from 'vitest'
import { parseProxy, proxyFromEnvironment } from './proxy-choice.ts'

const proxy = 'http://proxy.example:3128'
const env = (noProxy: string) => ({ HTTPS_PROXY: proxy, NO_PROXY: noProxy })

describe('proxyFromEnvironment()', () => {
  it.each([
    { name: 'nothing is set', server: 'https://api.example:6443', env: {}, uses: undefined },
    { name: 'HTTPS_PROXY is', server: 'https://api.example:6443', env: { HTTPS_PROXY: proxy }, uses: proxy },
    { name: 'https_proxy is', server: 'https://api.example:6443', env: { https_proxy: proxy }, uses: proxy },
    { name: 'only HTTP_PROXY is, and the server has TLS', server: 'https://api.example:6443', env: { HTTP_PROXY: proxy }, uses: undefined },
    { name: 'HTTP_PROXY is, and the server has no TLS', server: 'http://api.example', env: { HTTP_PROXY: proxy }, uses: proxy },
    { name: 'the proxy is without a scheme', server: 'https://api.example', env: { HTTPS_PROXY: 'proxy.example:3128' }, uses: proxy },
    { name: 'the server is this machine', server: 'https://localhost:6443', env: env(''), uses: undefined },
    { name: 'the server is a loopback address', server: 'https://127.0.0.2:6443', env: env(''), uses: undefined },
    { name: 'the server is the loopback address of IPv6', server: 'https://[::1]:6443', env: env(''), uses: undefined },
    { name: 'the host is exempt', server: 'https://api.example:6443', env: env('other, API.example'), uses: undefined },
    { name: 'a domain above the host is exempt', server: 'https://a.b.example:6443', env: env('example'), uses: undefined },
    { name: 'only what is below a domain is exempt, and this is', server: 'https://a.example', env: env('.example'), uses: undefined },
    { name: 'only what is below a domain is exempt, and this is not', server: 'https://example', env: env('.example'), uses: proxy },
    { name: 'a wildcard exempts what is below a domain', server: 'https://a.example', env: env('*.example'), uses: undefined },
    { name: 'a name ends alike but is another', server: 'https://myexample', env: env('example'), uses: proxy },
    { name: 'another port of the host is exempt', server: 'https://api.example:6443', env: env('api.example:443'), uses: proxy },
    { name: 'this port of the host is exempt', server: 'https://api.example', env: env('api.example:443'), uses: undefined },
    { name: 'everything is exempt', server: 'https://api.example', env: env('*'), uses: undefined },
    { name: 'the address is in an exempt range', server: 'https://10.1.2.3:6443', env: env('10.0.0.0/8'), uses: undefined },
    { name: 'the address is out of it', server: 'https://11.1.2.3:6443', env: env('10.0.0.0/8'), uses: proxy },
    { name: 'a range is of the other family', server: 'https://10.1.2.3:6443', env: env('fd00::/8'), uses: proxy },
    { name: 'an address of IPv6 is in an exempt range', server: 'https://[fd00::1]:6443', env: env('fd00::/8'), uses: undefined },
    { name: 'an address of IPv6 is exempt itself', server: 'https://[fd00::1]:6443', env: env('fd00::1'), uses: undefined },
    { name: 'a range is nonsense', server: 'https://10.1.2.3', env: env('10.0.0.0/99,/'), uses: proxy },
  ])('when $name', ({ server, env, uses }) => {
    expect(proxyFromEnvironment(new URL(server), env)?.origin).toBe(uses)
  })
})

it.each([
  { text: 'socks5://proxy:1080', error: 'proxy "socks5://proxy:1080" is not supported: use an http or https proxy' },
  { text: 'http://', error: 'proxy "http://" is not a URL' },
])('parseProxy($text) says why it is refused', ({ text, error }) => {
  expect(() => parseProxy(text)).toThrow(error)
})
