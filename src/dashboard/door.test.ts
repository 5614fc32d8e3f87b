import { request } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isFromOurPage, localUrl, openDoor } from './door.ts'

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

describe('openDoor()', () => {
  const upgraded = async (headers: (port: number) => Record<string, string>): Promise<string> => {
    const door = await openDoor(0, async () => ({
      request: async () => {},
      upgrade: async (_, socket) => void socket.end('HTTP/1.1 400 The handler was asked\r\nconnection: close\r\n\r\n'),
    }))
    onTestFinished(() => door.close())
    return new Promise((resolve, reject) => {
      const asking = request({ port: door.port, host: '127.0.0.1', path: '/api/stream', headers: { connection: 'Upgrade', upgrade: 'websocket', ...headers(door.port) } })
      asking.on('response', (answer) => resolve(`${answer.statusCode} ${answer.statusMessage}`))
      asking.on('error', reject)
      asking.end()
    })
  }

  it.each<[string, (port: number) => Record<string, string>, string]>([
    ['our page', (port) => ({ origin: `http://127.0.0.1:${port}` }), '400 The handler was asked'],
    ['another port of this machine', () => ({ origin: 'http://127.0.0.1:1' }), '403 Forbidden'],
    ['another site', () => ({ origin: 'http://attacker.example' }), '403 Forbidden'],
    ['a sandboxed frame', () => ({ origin: 'null' }), '403 Forbidden'],
    // Browsers always name the origin of a WebSocket.
    ['a client without an origin', () => ({}), '403 Forbidden'],
    ['a rebound name', (port) => ({ host: `attacker.example:${port}`, origin: `http://attacker.example:${port}` }), '403 Forbidden'],
  ])('judges a WebSocket of %s', async (_, headers, expected) => {
    expect(await upgraded(headers)).toBe(expected)
  })
})
