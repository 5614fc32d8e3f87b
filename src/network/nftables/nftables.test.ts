import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Logger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Route, Target } from '../routes/routes.ts'
import { NftablesBackend } from './nftables-backend.ts'
import { rulesetOf } from './ruleset.ts'

const options = { table: 'coxswain-test', ranges: ['10.66.0.0/24'], keepsClientAddress: false, networks: () => ['10.88.0.1/24', '192.0.2.2/24'] }
const route = (targets: Target[], more: Partial<Route> = {}): Route => ({
  namespace: 'default', name: 'web', portName: '', protocol: 'TCP', clusterIps: ['10.66.0.9'], port: 80, nodePort: undefined, affinityMs: undefined, internal: targets, external: targets, isExternalLocal: false, ...more,
})
const at = (address: string): Target => ({ address, port: 8080 })

describe('rulesetOf()', () => {
  it('is the same text for the same routes in any order', () => {
    const [a, b] = [route([at('10.88.0.2')]), route([at('10.88.0.3')], { name: 'api', clusterIps: ['10.66.0.8'] })]
    expect(rulesetOf([a, b], options)).toEqual(rulesetOf([b, a], options))
  })

  it('has no rule for a service without endpoints, but for the one that refuses', () => {
    const { text, names } = rulesetOf([route([])], options)
    expect([text.includes('10.66.0.9'), names.size, text.match(/ip daddr 10\.66\.0\.0\/24 reject/g)?.length]).toEqual([false, 0, 2])
  })

  it('removes the chains and sets of before, behind the rules that led to them', () => {
    const before = rulesetOf([route([at('10.88.0.2'), at('10.88.0.3')], { affinityMs: 5000 })], options)
    const { text } = rulesetOf([], options, before.names)
    const lines = text.trim().split('\n')
    expect(lines.filter((line) => line.startsWith('delete ')).length).toBe(5)
    expect(lines.findIndex((line) => line.startsWith('delete '))).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('add rule ')))
  })

  it('leads a node port to the endpoints of the external policy', () => {
    const { text } = rulesetOf([route([at('10.88.0.2'), at('10.88.0.3')], { nodePort: 30080, external: [at('10.88.0.3')] })], options)
    expect(text.match(/tcp dport 30080 goto (service-\w+)/)?.[1]).not.toBe(text.match(/ip daddr 10\.66\.0\.9 tcp dport 80 goto (service-\w+)/)?.[1])
  })
})

const has = (tool: string) => ['/usr/sbin', '/sbin', '/usr/bin', '/bin'].some((folder) => existsSync(`${folder}/${tool}`))
// It takes root and network namespaces of its own; .ci/run installs the programs.
const mayTry = process.platform === 'linux' && process.getuid?.() === 0 && has('nft') && has('ip') && has('curl')
const node = `cox-node-${process.pid}`
const space = (name: string) => `cox-${name}-${process.pid}`
const pods = { a: '10.88.0.2', b: '10.88.0.3', client: '10.88.0.4' }
/** A client on another link of the node. */
const outside = '192.0.2.9'
const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' }).toString()
const within = (name: string, ...args: string[]) => ip('netns', 'exec', name, ...args)

/** A server over TCP and UDP that says its name and who asks. */
const serverProgram = `
  const [name] = process.argv.slice(1)
  require('node:http').createServer((request, response) => response.end(name + ' ' + request.socket.remoteAddress)).listen(8080, '0.0.0.0', () => {
    const udp = require('node:dgram').createSocket('udp4')
    udp.on('message', (text, from) => udp.send(name + ':' + text, from.port, from.address)).bind(8080, '0.0.0.0', () => console.log('ready'))
  })`
const askProgram = `
  const [address] = process.argv.slice(1)
  const udp = require('node:dgram').createSocket('udp4')
  udp.on('message', (text) => { console.log(String(text)); process.exit(0) })
  udp.send('hello', 80, address)
  setTimeout(() => process.exit(1), 2000)`

describe.runIf(mayTry)('NftablesBackend, in network namespaces that stand for a node and its pods', () => {
  const servers: ChildProcess[] = []
  const said: string[] = []
  const routeLoopbackOf = (name: string) => within(name, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet')
  const routeLoopback = () => {
    routeLoopbackOf(node)
    return () => {}
  }
  const clock = new VirtualClock()
  const backend = new NftablesBackend({ ...options, clock, logger: new Logger((line) => void said.push(line), 'warn'), command: ['ip', 'netns', 'exec', node, 'nft'], routeLoopback })
  const set = async (...routes: Route[]) => {
    backend.update('default/web', routes)
    await backend.settled()
  }
  /** The response from an address, or curl's exit code. */
  const curl = (from: string, address: string): string => {
    try {
      return within(from, 'curl', '-sS', '--max-time', '2', `http://${address}/`)
    } catch (e) {
      return `exit ${(e as { status: number }).status}`
    }
  }
  const several = (from: string, address: string, times = 12) => new Set(Array.from({ length: times }, () => curl(from, address).split(' ')[0]))

  beforeAll(async () => {
    ip('netns', 'add', node)
    within(node, 'ip', 'link', 'set', 'lo', 'up')
    within(node, 'ip', 'link', 'add', 'bridge0', 'type', 'bridge')
    within(node, 'ip', 'address', 'add', '10.88.0.1/24', 'dev', 'bridge0')
    within(node, 'ip', 'link', 'set', 'bridge0', 'up')
    // Packets that are not for a pod leave by this interface, which has no gateway.
    within(node, 'ip', 'link', 'add', 'away', 'type', 'bridge')
    within(node, 'ip', 'address', 'add', '192.0.2.2/24', 'dev', 'away')
    within(node, 'ip', 'link', 'set', 'away', 'up')
    within(node, 'ip', 'route', 'add', 'default', 'via', '192.0.2.1')
    within(node, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
    for (const [name, address] of Object.entries(pods)) {
      ip('netns', 'add', space(name))
      within(node, 'ip', 'link', 'add', `veth-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space(name))
      within(node, 'ip', 'link', 'set', `veth-${name}`, 'master', 'bridge0', 'up')
      within(node, 'bridge', 'link', 'set', 'dev', `veth-${name}`, 'hairpin', 'on')
      within(space(name), 'ip', 'link', 'set', 'lo', 'up')
      within(space(name), 'ip', 'address', 'add', `${address}/24`, 'dev', 'eth0')
      within(space(name), 'ip', 'link', 'set', 'eth0', 'up')
      within(space(name), 'ip', 'route', 'add', 'default', 'via', '10.88.0.1')
    }
    ip('netns', 'add', space('outside'))
    within(node, 'ip', 'link', 'add', 'veth-outside', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space('outside'))
    within(node, 'ip', 'link', 'set', 'veth-outside', 'master', 'away', 'up')
    within(space('outside'), 'ip', 'address', 'add', `${outside}/24`, 'dev', 'eth0')
    within(space('outside'), 'ip', 'link', 'set', 'eth0', 'up')
    for (const name of ['a', 'b']) {
      const server = spawn('ip', ['netns', 'exec', space(name), process.execPath, '-e', serverProgram, name], { stdio: ['ignore', 'pipe', 'inherit'] })
      servers.push(server)
      await once(server.stdout!, 'data')
    }
  }, 30_000)

  afterAll(async () => {
    await backend.close()
    for (const server of servers) server.kill('SIGKILL')
    for (const name of [...Object.keys(pods).map(space), space('outside'), node]) if (existsSync(`/run/netns/${name}`)) ip('netns', 'delete', name)
    expect(said).toEqual([])
  })

  it('leads a pod to the pods behind a cluster IP', async () => {
    await set(route([at(pods.a), at(pods.b)]))
    expect(several(space('client'), '10.66.0.9')).toEqual(new Set(['a', 'b']))
    await set(route([at(pods.b)]))
    expect(several(space('client'), '10.66.0.9')).toEqual(new Set(['b']))
  })

  it('leads the node itself, and a pod to itself', async () => {
    await set(route([at(pods.a)]))
    expect([curl(node, '10.66.0.9').split(' ')[0], curl(space('a'), '10.66.0.9').split(' ')[0]]).toEqual(['a', 'a'])
  })

  it('leads datagrams', async () => {
    await set(route([at(pods.a)]), route([at(pods.b)], { protocol: 'UDP', portName: 'udp' }))
    expect(within(space('client'), process.execPath, '-e', askProgram, '10.66.0.9').trim()).toBe('b:hello')
  })

  it('answers on node ports at the addresses of the node', async () => {
    await set(route([at(pods.a), at(pods.b)], { nodePort: 30080, external: [at(pods.b)] }))
    expect(several(space('client'), '10.88.0.1:30080')).toEqual(new Set(['b']))
    expect(several(space('client'), '192.0.2.2:30080')).toEqual(new Set(['b']))
  })

  it('keeps the address of clients with externalTrafficPolicy Local, but those to which a pod replies directly', async () => {
    const local = route([at(pods.a)], { nodePort: 30080, isExternalLocal: true })
    await set(local)
    expect(curl(space('outside'), '192.0.2.2:30080')).toBe(`a ${outside}`)
    expect([curl(space('client'), '10.88.0.1:30080'), curl(node, '10.88.0.1:30080')]).toEqual(['a 10.88.0.1', 'a 10.88.0.1'])
    await set({ ...local, isExternalLocal: false })
    expect(curl(space('outside'), '192.0.2.2:30080')).toBe('a 10.88.0.1')
  })

  it('keeps a client with its pod, over a change of the rules, too', async () => {
    const kept = route([at(pods.a), at(pods.b)], { affinityMs: 60_000 })
    await set(kept)
    const first = several(space('client'), '10.66.0.9')
    expect(first.size).toBe(1)
    await set(kept, route([at(pods.a)], { name: 'other', clusterIps: ['10.66.0.10'] }))
    expect(several(space('client'), '10.66.0.9')).toEqual(first)
  })

  it('leads to an endpoint on the loopback interface of the node, and nobody there without a Service', async () => {
    const server = spawn('ip', ['netns', 'exec', node, process.execPath, '-e', serverProgram.replaceAll('0.0.0.0', '127.0.0.1'), 'node'], { stdio: ['ignore', 'pipe', 'inherit'] })
    servers.push(server)
    await once(server.stdout!, 'data')
    await set(route([at('127.0.0.1')]))
    expect(curl(space('client'), '10.66.0.9').split(' ')[0]).toBe('node')
    // A pod with the rights to do so sends packets for 127.0.0.1 to the node.
    routeLoopbackOf(space('client'))
    within(space('client'), 'ip', 'address', 'flush', 'dev', 'lo')
    within(space('client'), 'ip', 'route', 'add', '127.0.0.1/32', 'via', '10.88.0.1')
    expect(curl(space('client'), '127.0.0.1:8080')).toBe('exit 28')
    within(node, 'nft', 'flush', 'chain', 'ip', options.table, 'input-check')
    expect(curl(space('client'), '127.0.0.1:8080').split(' ')[0]).toBe('node')
  })

  it('refuses at once what has no endpoints, and what nobody has: nothing leaves the machine', async () => {
    await set(route([]))
    for (const address of ['10.66.0.9', '10.66.0.200']) {
      expect([curl(space('client'), address), curl(node, address)]).toEqual(['exit 7', 'exit 7'])
    }
  })

  it('writes its rules again if another program has removed them', async () => {
    await set(route([at(pods.a)]))
    within(node, 'nft', 'flush', 'ruleset')
    expect(within(node, 'nft', 'list', 'ruleset')).toBe('')
    clock.advance(30_000)
    await backend.settled()
    expect(several(space('client'), '10.66.0.9')).toEqual(new Set(['a']))
    expect(within(node, 'nft', 'list', 'chain', 'ip', options.table, 'input-check')).toContain('drop')
  })

  it('replaces the table if a change of removed rules is rejected', async () => {
    await set(route([at(pods.a)]))
    within(node, 'nft', 'flush', 'ruleset')
    backend.update('default/web', [route([at(pods.b)])])
    await vi.waitFor(() => expect(said).toHaveLength(1), { timeout: 10_000 })
    clock.advance(500)
    await backend.settled()
    expect(several(space('client'), '10.66.0.9')).toEqual(new Set(['b']))
    expect(said.splice(0)[0]).toContain('failed to apply the rules of Services')
  })

  it('leaves nothing behind', async () => {
    await set(route([at(pods.a)], { affinityMs: 1000 }))
    await set()
    expect(within(node, 'nft', 'list', 'ruleset')).not.toMatch(/service-|endpoint-|clients-/)
  })
})
