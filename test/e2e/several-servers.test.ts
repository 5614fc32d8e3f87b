import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../src/server/index.ts'
import { EtcdCluster } from '../etcd/etcd-cluster.ts'
import { type RunningServer, runCoxswain, startEverything } from '../kubectl/coxswain.ts'
import { TlsClient } from './tls-client.ts'

let dir: string
let etcd: EtcdCluster
const servers: RunningServer[] = []
const clients: TlsClient[] = []

/** Certificates for etcd and for its clients, of one authority. */
function certificates() {
  const now = Date.now()
  const authority = createAuthority(now)
  const pki = path.join(dir, 'etcd-pki')
  mkdirSync(pki)
  const write = (name: string, text: string) => {
    writeFileSync(path.join(pki, name), text)
    return path.join(pki, name)
  }
  const server = issueServerCertificate(authority, ['127.0.0.1', 'localhost'], now)
  const client = issueClientCertificate(authority, { commonName: 'apiserver' }, now)
  return {
    ca: write('ca.crt', authority.certificate),
    server: { cert: write('server.crt', server.certificate), key: write('server.key', server.key) },
    client: { cert: write('client.crt', client.certificate), key: write('client.key', client.key) },
  }
}

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'several-servers-'))
  const { ca, server, client } = certificates()
  etcd = await EtcdCluster.start({ tls: { ca, ...server } })
  for (const name of ['one', 'two']) {
    const flags = ['--store', 'etcd', '--etcd-servers', etcd.urls.join(','), '--etcd-cafile', ca, '--etcd-certfile', client.cert, '--etcd-keyfile', client.key]
    servers.push(await startEverything(path.join(dir, name), [...flags, '--runtime', 'simulated', '--node-name', name, '--log-level', 'error']))
    clients.push(new TlsClient(servers.at(-1)!.kubeconfig))
  }
})

afterAll(async () => {
  for (const client of clients) client.close()
  for (const server of servers) await server.stop('SIGKILL')
  await etcd.stop()
  rmSync(dir, { recursive: true, force: true })
})

interface Found {
  metadata: { name: string; resourceVersion: string }
  spec: { holderIdentity?: string }
  status: { availableReplicas?: number }
}

const read = async (server: number, at: string): Promise<Found> => JSON.parse((await clients[server]!.http1({ path: at })).text) as Found
const holder = async (server: number, name: string) => (await read(server, `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`)).spec.holderIdentity
const deployments = '/apis/apps/v1/namespaces/default/deployments'

async function deploy(server: number, name: string, node = {}): Promise<void> {
  const body = JSON.stringify({
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name },
    spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { ...node, containers: [{ name: 'c', image: 'nginx' }] } } },
  })
  const { code, text } = await clients[server]!.http1({ method: 'POST', path: deployments, headers: { 'content-type': 'application/json' }, body })
  expect(code, text).toBe(201)
}

const untilAvailable = (server: number, name: string) =>
  expect.poll(async () => (await read(server, `${deployments}/${name}`)).status.availableReplicas, { timeout: 60_000, interval: 100 }).toBe(3)

it('two servers on one etcd are one cluster', async () => {
  expect(readFileSync(path.join(dir, 'one/pki/ca.crt'), 'utf8')).toBe(readFileSync(path.join(dir, 'two/pki/ca.crt'), 'utf8'))
  await deploy(0, 'first')
  await untilAvailable(1, 'first')
  const nodes = JSON.parse((await clients[1]!.http1({ path: '/api/v1/nodes' })).text) as { items: Found[] }
  expect(nodes.items.map(({ metadata }) => metadata.name)).toEqual(['one', 'two'])
  expect(await holder(0, 'kube-controller-manager')).toBe(await holder(1, 'kube-controller-manager'))
})

it('what one has answered, the other shows at once', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  for (let i = 0; i < 30; i++) {
    const body = JSON.stringify({ metadata: { name: `c${i}` } })
    const made = await clients[i % 2]!.http1({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })
    expect(made.code).toBe(201)
    expect((await clients[(i + 1) % 2]!.http1({ path: `${path}/c${i}` })).code).toBe(200)
  }
})

it('the other takes over when the one that leads is killed', async () => {
  const before = await holder(1, 'kube-controller-manager')
  await servers[0]!.stop('SIGKILL')
  // The node of the other one is gone with it, which nobody knows yet.
  await deploy(1, 'second', { nodeSelector: { 'kubernetes.io/hostname': 'two' } })
  await untilAvailable(1, 'second')
  expect(await holder(1, 'kube-controller-manager')).not.toBe(before)
})

it('a server that finds no etcd says so, and ends', async () => {
  const { code, err } = await runCoxswain(['apiserver', '--store', 'etcd', '--etcd-servers', 'http://127.0.0.1:1', '--secure-port', '0', '--data-dir', path.join(dir, 'none')])
  expect([code, err]).toEqual([1, expect.stringContaining('the etcd servers http://127.0.0.1:1 cannot be used: connection error: 127.0.0.1:1: connect ECONNREFUSED')])
})
