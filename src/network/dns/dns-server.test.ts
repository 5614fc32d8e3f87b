import { execFile } from 'node:child_process'
import { type Socket, createSocket } from 'node:dgram'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts'
import { systemClock } from '../../base/clock.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { DnsServer } from './dns-server.ts'
import { readName } from './message.ts'
import { Upstream } from './upstream.ts'

const run = promisify(execFile)
const address = '127.128.98.10'
const upstreamAddress = '127.128.98.11'
const service = (name: string, spec: object, namespace = 'default'): Service => ({ metadata: { name, namespace }, spec } as Service)
const endpoint = (at: string, hostname?: string, ready = true): Endpoint => ({ addresses: [at], conditions: { ready }, ...(hostname ? { hostname } : {}) })
const slice = (of: string, endpoints: Endpoint[], ports: object[], namespace = 'default'): EndpointSlice =>
  ({ metadata: { name: of, namespace, labels: { 'kubernetes.io/service-name': of } }, addressType: endpoints[0]?.addresses[0]?.includes(':') ? 'IPv6' : 'IPv4', endpoints, ports } as EndpointSlice)

const services = [
  service('web', { clusterIP: '127.130.0.9', clusterIPs: ['127.130.0.9', 'fd00::9'], ports: [{ name: 'http', port: 80, protocol: 'TCP' }, { name: 'dns', port: 53, protocol: 'UDP' }] }),
  service('db', { clusterIP: 'None', clusterIPs: ['None'], ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }] }),
  service('away', { type: 'ExternalName', externalName: 'www.example.com.' }),
  service('alias', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' }),
  service('circle', { type: 'ExternalName', externalName: 'circle.default.svc.cluster.local' }),
  service('many', { clusterIP: 'None', clusterIPs: ['None'] }),
  service('empty', { clusterIP: 'None', clusterIPs: ['None'] }, 'other'),
]
const slices = [
  slice('db', [endpoint('127.1.0.1', 'db-0'), endpoint('127.1.0.2', 'db-1'), endpoint('127.1.0.3', 'db-2', false), endpoint('127.1.0.4')], [{ name: 'sql', port: 5432, protocol: 'TCP' }]),
  slice('db', [endpoint('fd00::1', 'db-0')], [{ name: 'sql', port: 5432, protocol: 'TCP' }]),
  slice('many', Array.from({ length: 200 }, (_, i) => endpoint(`127.2.0.${i + 1}`)), []),
]
const view = {
  service: (namespace: string, name: string) => services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  slicesOf: (namespace: string, name: string) => slices.filter(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  hasServices: (namespace: string) => services.some(({ metadata }) => metadata.namespace === namespace),
  servicesAt: (ip: string) => services.filter(({ spec }) => spec.clusterIPs?.includes(ip)),
  slicesAt: (ip: string) => slices.filter(({ endpoints }) => endpoints.some(({ addresses }) => addresses.includes(ip))),
}

let server: DnsServer
let port: number
let resolver: Socket
/** The names that the machine's resolver was asked for. */
const passed: string[] = []

beforeAll(async () => {
  resolver = createSocket('udp4')
  resolver.on('message', (query, from) => {
    const name = readName(query, 12)[0].join('.')
    passed.push(name)
    if (name.startsWith('silent')) return
    const answer = Buffer.concat([query.subarray(0, 12), query.subarray(12, query.indexOf(0, 12) + 5), Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 80])])
    answer.writeUInt16BE(0x8180, 2)
    answer.writeUInt16BE(1, 6)
    answer.writeUInt16BE(0, 10)
    // First somebody else's answer, with another number.
    const forged = Buffer.from(answer)
    forged.writeUInt16BE((query.readUInt16BE(0) + 1) % 65_536, 0)
    forged[forged.length - 1] = 66
    resolver.send(forged, from.port, from.address)
    resolver.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve) => resolver.bind(0, upstreamAddress, resolve))
  const upstream = new Upstream({ servers: [upstreamAddress], port: resolver.address().port, clock: systemClock, random: new SeededRandom(1) })
  server = new DnsServer({ zone: { domain: ['cluster', 'local'], server: address, view }, upstream })
  port = await server.listen(address, 0)
})

afterAll(() => {
  server.close()
  resolver.close()
})

/** The lines of dig's answer: status, and each record of the answer section without its TTL. */
async function dig(...question: string[]): Promise<string[]> {
  const { stdout } = await run('dig', [`@${address}`, '-p', String(port), '+tries=1', '+time=6', '+noall', '+comments', '+answer', ...question])
  const records = stdout.split('\n').filter((line) => line !== '' && !line.startsWith(';')).map((line) => line.split(/\s+/))
  const shown = records.map(([name, _ttl, _class, type, ...data]) => `${name!.replace('.svc.cluster.local.', '')} ${type} ${data.join(' ').replace('.svc.cluster.local.', '')}`)
  return [/status: (\w+)/.exec(stdout)![1]!, ...shown.sort()]
}

// .ci/run installs it.
const hasDig = existsSync('/usr/bin/dig')
const svc = (name: string) => `${name}.svc.cluster.local`

describe.runIf(hasDig)('DnsServer, asked by dig', () => {
  it.each<[string, string[], string[]]>([
    ['a service', [svc('web.default')], ['NOERROR', 'web.default A 127.130.0.9']],
    ['in any letters', ['WEB.Default.SVC.cluster.LOCAL'], ['NOERROR', 'WEB.Default.SVC.cluster.LOCAL. A 127.130.0.9']],
    ['its address in IPv6', [svc('web.default'), 'AAAA'], ['NOERROR', 'web.default AAAA fd00::9']],
    ['what it does not have', [svc('web.default'), 'MX'], ['NOERROR']],
    ['a service that is not there', [svc('none.default')], ['NXDOMAIN']],
    ['one of another namespace', [svc('web.other')], ['NXDOMAIN']],
    ['a namespace', [svc('default')], ['NOERROR']],
    ['a namespace without services', [svc('nobody')], ['NXDOMAIN']],
    ['a port by name', [svc('_http._tcp.web.default'), 'SRV'], ['NOERROR', '_http._tcp.web.default SRV 0 100 80 web.default']],
    ['a port of another protocol', [svc('_http._udp.web.default'), 'SRV'], ['NXDOMAIN']],
    ['what stands above ports', [svc('_udp.web.default'), 'SRV'], ['NOERROR']],
    ['a name below a service', [svc('x.web.default')], ['NXDOMAIN']],
    ['a headless service', [svc('db.default')], ['NOERROR', 'db.default A 127.1.0.1', 'db.default A 127.1.0.2', 'db.default A 127.1.0.4']],
    ['a headless service in IPv6', [svc('db.default'), 'AAAA'], ['NOERROR', 'db.default AAAA fd00::1']],
    ['a pod of it by its hostname', [svc('db-1.db.default')], ['NOERROR', 'db-1.db.default A 127.1.0.2']],
    ['a pod of it by its address', [svc('127-1-0-4.db.default')], ['NOERROR', '127-1-0-4.db.default A 127.1.0.4']],
    ['a pod of it that is not ready', [svc('db-2.db.default')], ['NXDOMAIN']],
    ['its ports', [svc('_sql._tcp.db.default'), 'SRV'], [
      'NOERROR', '_sql._tcp.db.default SRV 0 33 5432 127-1-0-4.db.default', '_sql._tcp.db.default SRV 0 33 5432 db-0.db.default', '_sql._tcp.db.default SRV 0 33 5432 db-1.db.default',
    ]],
    ['a headless service without pods', [svc('empty.other')], ['NOERROR']],
    ['an external name, with its address', [svc('away.default')], ['NOERROR', 'away.default CNAME www.example.com.', 'www.example.com. A 192.0.2.80']],
    ['an external name alone', [svc('away.default'), 'CNAME'], ['NOERROR', 'away.default CNAME www.example.com.']],
    ['an external name of the cluster', [svc('alias.default')], ['NOERROR', 'alias.default CNAME web.default', 'web.default A 127.130.0.9']],
    ['a pod by its address', ['127-1-0-9.default.pod.cluster.local'], ['NOERROR', '127-1-0-9.default.pod.cluster.local. A 127.1.0.9']],
    ['a pod whose name is no address', ['web.default.pod.cluster.local'], ['NXDOMAIN']],
    ['an address of a service', ['-x', '127.130.0.9'], ['NOERROR', '9.0.130.127.in-addr.arpa. PTR web.default']],
    ['an address of a service in IPv6', ['-x', 'fd00::9'], ['NOERROR', '9.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa. PTR web.default']],
    ['an address of a pod', ['-x', '127.1.0.2'], ['NOERROR', '2.0.1.127.in-addr.arpa. PTR db-1.db.default']],
    ['an address of this machine that nobody has', ['-x', '127.9.9.9'], ['NXDOMAIN']],
    ['the version', ['dns-version.cluster.local', 'TXT'], ['NOERROR', 'dns-version.cluster.local. TXT "1.1.0"']],
    ['its own name', ['ns.dns.cluster.local'], ['NOERROR', `ns.dns.cluster.local. A ${address}`]],
    ['by TCP', ['+tcp', svc('web.default')], ['NOERROR', 'web.default A 127.130.0.9']],
    ['a name elsewhere', ['example.org'], ['NOERROR', 'example.org. A 192.0.2.80']],
    ['a name elsewhere without recursion', ['+norecurse', 'example.org'], ['REFUSED']],
  ])('knows %s', async (_, question, wanted) => {
    expect(await dig(...question)).toEqual(wanted)
  })

  it('answers what does not fit into a datagram by TCP', async () => {
    expect((await dig(svc('many.default'))).length).toBe(201)
    expect(await dig('+ignore', svc('many.default'))).toEqual(['NOERROR'])
  })

  it('follows an alias that leads to itself only so often', async () => {
    expect((await dig(svc('circle.default')))[0]).toBe('NOERROR')
  })

  it('says so when no resolver of the machine answers', async () => {
    expect(await dig('silent.example.org')).toEqual(['SERVFAIL'])
  }, 20_000)

  it('asks nobody else for names of the cluster', () => {
    expect(passed.filter((name) => /cluster|127/i.test(name))).toEqual([])
  })
})

describe('DnsServer', () => {
  it.each<[string, string, number | undefined]>([
    ['nothing', '', undefined],
    ['half a header', '000101000001', undefined],
    ['an answer', '000181800001000000000000', undefined],
    ['no question', '000101000000000000000000', 1],
    ['a question that ends early', '0001010000010000000000000377', 1],
    ['a name that points at itself', '000101000001000000000000c00c00010001', 1],
    ['another operation', '0001280000010000000000000377656200000100010000', 4],
  ])('survives %s', async (_, hex, code) => {
    const answer = await server.answer(Buffer.from(hex, 'hex'), false)
    expect(answer && answer[3]! & 15).toBe(code)
  })

  it('answers one question after the other on a connection that begins in pieces', async () => {
    const question = Buffer.from('0007010000010000000000000377656207646566617564740373766307636c7573746572056c6f63616c0000010001'.replace('6661756474', '6661756c74'), 'hex')
    const message = Buffer.concat([Buffer.from([0, question.length]), question])
    const socket = connect({ host: address, port })
    const answers = new Promise<Buffer>((resolve) => {
      let heard = Buffer.alloc(0)
      socket.on('data', (piece: Buffer) => {
        heard = Buffer.concat([heard, piece])
        if (heard.length >= 2 * (2 + heard.readUInt16BE(0))) resolve(heard)
      })
    })
    socket.write(message.subarray(0, 9))
    await new Promise(setImmediate)
    socket.write(Buffer.concat([message.subarray(9), message]))
    expect((await answers).includes(Buffer.from([127, 130, 0, 9]))).toBe(true)
    socket.destroy()
  })
})
