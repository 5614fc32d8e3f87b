import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface EtcdClusterOptions {
  members?: number
  /** Files of a certificate for clients' connections: clients must have one of the same authority. */
  tls?: { ca: string; cert: string; key: string }
}

/** Throws a sentence that says how to get etcd, where it is not installed. */
function requireEtcd(): void {
  if (spawnSync('etcd', ['--version']).error) throw new Error('this test needs etcd: install Debian\'s package etcd-server')
}

/** One process of etcd. */
export class EtcdMember {
  readonly name: string
  readonly url: string
  readonly clientPort: number
  readonly #args: readonly string[]
  #process: ChildProcess | undefined

  constructor(name: string, clientPort: number, url: string, args: readonly string[]) {
    this.name = name
    this.clientPort = clientPort
    this.url = url
    this.#args = args
  }

  start(): void {
    this.#process = spawn('etcd', this.#args, { stdio: 'ignore' })
  }

  /** Resolves when it takes connections, which it does once it has a leader; for 20 seconds at most. */
  untilAccepting(): Promise<void> {
    return accepting(this.clientPort)
  }

  /** As a machine that loses its power, but for its disk. */
  async kill(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (!running || running.exitCode !== null) return
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await gone
  }

  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }
}

/** An etcd cluster on ports of the loopback address, in a directory of its own. */
export class EtcdCluster {
  readonly members: readonly EtcdMember[]
  readonly #dir: string

  private constructor(dir: string, members: readonly EtcdMember[]) {
    this.#dir = dir
    this.members = members
  }

  get urls(): string[] {
    return this.members.map(({ url }) => url)
  }

  static async start({ members: count = 1, tls }: EtcdClusterOptions = {}): Promise<EtcdCluster> {
    requireEtcd()
    const dir = mkdtempSync(join(tmpdir(), 'etcd-'))
    const ports = await freePorts(count * 2)
    const peerOf = (i: number): string => `http://127.0.0.1:${ports[i * 2 + 1]}`
    const initial = Array.from({ length: count }, (_, i) => `m${i}=${peerOf(i)}`).join(',')
    const members = Array.from({ length: count }, (_, i) => {
      const url = `${tls ? 'https' : 'http'}://127.0.0.1:${ports[i * 2]}`
      const secure = tls ? ['--cert-file', tls.cert, '--key-file', tls.key, '--trusted-ca-file', tls.ca, '--client-cert-auth'] : []
      return new EtcdMember(`m${i}`, ports[i * 2]!, url, [
        '--name', `m${i}`, '--data-dir', join(dir, `m${i}`), '--logger', 'zap', '--log-level', 'panic',
        '--listen-client-urls', url, '--advertise-client-urls', url, '--listen-peer-urls', peerOf(i), '--initial-advertise-peer-urls', peerOf(i),
        '--initial-cluster', initial, '--initial-cluster-token', dir, '--heartbeat-interval', '50', '--election-timeout', '500', ...secure,
      ])
    })
    const cluster = new EtcdCluster(dir, members)
    for (const member of members) member.start()
    await Promise.all(members.map((member) => member.untilAccepting()))
    return cluster
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()))
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Ports that nobody listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => new Promise<ReturnType<typeof createServer>>((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => resolve(server))
  })))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function accepting(port: number): Promise<void> {
  const endMs = Date.now() + 20_000
  while (!(await isAccepting(port))) {
    if (Date.now() > endMs) throw new Error(`etcd does not listen on ${port}`)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}

const isAccepting = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
