import { describe, expect, it } from 'vitest'
import { isFromOurPage, localUrl } from './door.ts'

describe('localUrl()', () => {
  it.each([
    ['127.0.0.1:9465', '/a?b', 'http://127.0.0.1:9465/a?b'],
    ['localhost:9465', '/', 'http://localhost:9465/'],
    ['[::1]:9465', '/', 'http://[::1]:9465/'],
    ['attacker.example:9465', '/', undefined],
    ['127.0.0.1.attacker.example', '/', undefined],
    ['', '/', undefined],
  ])('of host %j and path %j', (host, url, expected) => {
    expect(localUrl({ headers: { host }, url })?.href).toBe(expected)
  })
})

describe('isFromOurPage()', () => {
  const url = new URL('http://127.0.0.1:9465/api/me')

  it.each([
    ['a request of the page', { origin: 'http://127.0.0.1:9465', 'sec-fetch-site': 'same-origin' }, true],
    ['a program without a browser', {}, true],
    ['another port of this machine', { origin: 'http://127.0.0.1:8080' }, false],
    ['another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['a page that is opened from outside', { 'sec-fetch-site': 'none' }, false],
    ['a sandboxed frame', { origin: 'null' }, false],
  ])('judges %s', (_, headers, expected) => {
    expect(isFromOurPage({ headers }, url)).toBe(expected)
  })
})
