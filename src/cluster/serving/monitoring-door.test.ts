import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Health, createAuthority, issueServerCertificate } from '../../server/index.ts'
import { type MonitoringDoor, type Serving, openMonitoringDoor } from './monitoring-door.ts'

let dir: string
let clock: VirtualClock
let door: MonitoringDoor | undefined

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-door-'))
  clock = new VirtualClock(Date.now())
})
afterEach(async () => {
  await door?.close()
  door = undefined
  rmSync(dir, { recursive: true, force: true })
})

const open = async (serving?: Serving, address = '127.0.0.1') => {
  door = await openMonitoringDoor({ address, port: 0, health: new Health([], []), metrics: new MetricsRegistry(), clock, serving })
  return door.url
}

/** The status of an answer from a server that this authority has to vouch for. */
const read = (url: string, ca?: string, servername?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const sent = send(`${url}/metrics`, { ca, agent: false, ...(servername ? { servername } : {}) } as object, (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    })
    sent.on('error', reject)
    sent.end()
  })

const file = (name: string) => path.join(dir, name)

/** Writes a pair as whoever renews certificates would, and answers with the authority that vouches for it. */
function renew(): string {
  const authority = createAuthority(clock.now())
  const pair = issueServerCertificate(authority, ['127.0.0.1'], clock.now())
  writeFileSync(file('tls.crt'), pair.certificate)
  writeFileSync(file('tls.key'), pair.key)
  return authority.certificate
}

describe('openMonitoringDoor() serves', () => {
  it('with files, and with those that take their place', async () => {
    const first = renew()
    const url = await open({ kind: 'files', certificate: file('tls.crt'), key: file('tls.key') })
    expect(await read(url, first)).toBe(200)
    const second = renew()
    clock.advance(60_000)
    expect(await read(url, second)).toBe(200)
    await expect(read(url, first)).rejects.toThrow(/certificate/)
  })

  it('with the old certificate where the new one cannot be read', async () => {
    const authority = renew()
    const url = await open({ kind: 'files', certificate: file('tls.crt'), key: file('tls.key') })
    writeFileSync(file('tls.crt'), 'half a certif')
    clock.advance(60_000)
    expect(await read(url, authority)).toBe(200)
  })

  it('by an authority that is the same after a restart, under names that were asked for', async () => {
    const serving: Serving = { kind: 'authority', dir, names: ['monitor.monitoring.svc'] }
    await open(serving)
    const authority = readFileSync(file('pki/ca.crt'), 'utf8')
    await door!.close()
    expect(await read(await open(serving), authority, 'monitor.monitoring.svc')).toBe(200)
  })

  it('without TLS on a loopback address, and on no other', async () => {
    const url = await open({ kind: 'plain' })
    expect(url).toMatch(/^http:/)
    expect(await read(url)).toBe(200)
    await door!.close()
    await expect(open({ kind: 'plain' }, '0.0.0.0')).rejects.toThrow('--insecure-http: 0.0.0.0 is not a loopback address')
  })

  it('nothing with a key that is not its own', async () => {
    renew()
    const { key } = createAuthority(clock.now())
    writeFileSync(file('tls.key'), key)
    await expect(open({ kind: 'files', certificate: file('tls.crt'), key: file('tls.key') })).rejects.toThrow('is not the key of')
  })
})
