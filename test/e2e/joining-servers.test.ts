import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../src/server/index.ts'
import { EtcdCluster, freePorts } from '../etcd/etcd-cluster.ts'
import { type RunningPart, type RunningServer, runCoxswain, startEverything, startJoiningNode } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

/**
 * `coxswain up` on one etcd, and a second that joins it with what the first has printed. etcd takes clients with a
 * certificate only.
 */
let dir: string
let etcd: EtcdCluster
let one: RunningServer
let two: RunningServer
let node: RunningPart
const kubectls: Kubectl[] = []
const at = (name: string): string => path.join(dir, name)

function certificates() {
  const now = Date.now()
  const authority = createAuthority(now)
  mkdirSync(at('etcd-pki'))
  const write = (name: string, text: string) => {
    writeFileSync(at(`etcd-pki/${name}`), text)
    return at(`etcd-pki/${name}`)
  }
  const server = issueServerCertificate(authority, ['127.0.0.1'], now)
  const client = issueClientCertificate(authority, { commonName: 'apiserver' }, now)
  return { ca: write('ca.crt', authority.certificate), server, client: { cert: write('client.crt', client.certificate), key: write('client.key', client.key) }, serverFiles: { cert: write('server.crt', server.certificate), key: write('server.key', server.key) } }
}

let etcdFlags: string[]
/** The same port after a restart: clients know the server by it. */
let ports: number[]
const simulated = (name: string, port: number): string[] => ['--runtime', 'simulated', '--node-name', name, '--secure-port', String(port), '--dashboard=false', '--log-level', 'error']
const startOne = () => startEverything(at('one'), [...etcdFlags, ...simulated('one', ports[0]!)])
const startTwo = (flags: readonly string[] = []) => startEverything(at('two'), ['--join', ...flags, ...simulated('two', ports[1]!)])

/** The flags of `coxswain up --join` that `coxswain token create` prints. */
async function joinFlags(what: string): Promise<string[]> {
  const { code, out, err } = await runCoxswain(['token', 'create', '--data-dir', at('one'), '--ttl', '1h', '--print-join-command', what])
  expect([code, err]).toEqual([0, what === 'up' ? 'warning: etcd listens on this machine only: servers on other machines cannot use it\n' : ''])
  expect(out).toMatch(new RegExp(`^coxswain ${what} --join --server https://127\\.0\\.0\\.1:`))
  return out.trim().split(' ').slice(3)
}

const deployment = (name: string, hostname: string) => JSON.stringify({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name },
  spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: { metadata: { labels: { app: name } }, spec: { nodeSelector: { 'kubernetes.io/hostname': hostname }, containers: [{ name: 'c', image: 'nginx' }] } } },
})

const held = (kubectl: Kubectl, lease: string) => kubectl.ok(`get lease -n kube-system ${lease} -o jsonpath={.spec.holderIdentity}`)

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'joining-servers-'))
  const { ca, client, serverFiles } = certificates()
  etcd = await EtcdCluster.start({ tls: { ca, ...serverFiles } })
  etcdFlags = ['--store', 'etcd', '--etcd-servers', etcd.urls.join(','), '--etcd-cafile', ca, '--etcd-certfile', client.cert, '--etcd-keyfile', client.key]
  ports = await freePorts(2)
  one = await startOne()
  two = await startTwo(await joinFlags('up'))
  for (const server of [one, two]) kubectls.push(new Kubectl(server.kubeconfig))
})

afterAll(async () => {
  await node?.stop()
  for (const kubectl of kubectls) kubectl.remove()
  for (const server of [one, two]) await server?.stop('SIGKILL')
  await etcd?.stop()
  rmSync(dir, { recursive: true, force: true })
})

it('makes the second machine part of the cluster: one authority, all nodes, one leader', async () => {
  expect(readFileSync(at('two/pki/ca.crt'), 'utf8')).toBe(readFileSync(at('one/pki/ca.crt'), 'utf8'))
  expect(statSync(at('two/pki/servers.json')).mode & 0o777).toBe(0o600)
  for (const kubectl of kubectls) {
    expect((await kubectl.ok('get nodes -o name')).trim().split('\n')).toEqual(['node/one', 'node/two'])
    await kubectl.ok('wait --for=condition=Ready node --all --timeout=60s')
  }
  expect(await held(kubectls[0]!, 'kube-controller-manager')).toBe(await held(kubectls[1]!, 'kube-controller-manager'))
  await kubectls[1]!.ok('create -f -', deployment('first', 'one'))
  await kubectls[0]!.ok('wait --for=condition=Available deployment/first --timeout=60s')
})

it('is refused without the key, with another one, and with a token for nodes', async () => {
  const flags = await joinFlags('up')
  const join = async (...given: string[]) => (await runCoxswain(['up', '--join', '--data-dir', at('none'), '--secure-port', '0', '--log-level', 'error', ...given])).err.trim().split('\n').at(-1)
  expect(await join(...flags.slice(0, -2))).toContain('--join: a server that has not joined yet needs --certificate-key')
  expect(await join(...flags.slice(0, -1), 'ab'.repeat(32))).toContain('--certificate-key: does not match the key of the cluster for this token')
  const ofNode = await joinFlags('node')
  expect(await join(...ofNode, '--certificate-key', flags.at(-1)!)).toMatch(/--join: .*secrets "coxswain-server-join-[a-z0-9]{6}" is forbidden/)
  expect(await join(...flags, '--store', 'lmdb')).toContain('--store cannot be specified')
})

it('goes on when the first is killed: kubectl, controllers, and a node that knows both', async () => {
  await expect.poll(() => readFileSync(at('one/kubeconfig'), 'utf8'), { timeout: 40_000 }).toContain(`"${two.url}"`)
  const flags = await joinFlags('node')
  expect(flags.filter((flag) => flag === '--server')).toHaveLength(2)
  node = await startJoiningNode('three', ['--data-dir', at('three'), ...flags])
  await kubectls[1]!.ok('wait --for=condition=Ready node/three --timeout=60s')
  await one.stop('SIGKILL')
  await kubectls[1]!.ok('create -f -', deployment('second', 'three'))
  await kubectls[1]!.ok('wait --for=condition=Available deployment/second --timeout=80s')
  const renewed = () => kubectls[1]!.ok('get lease -n kube-node-lease three -o jsonpath={.spec.renewTime}')
  const before = await renewed()
  await expect.poll(renewed, { timeout: 30_000, interval: 500 }).not.toBe(before)
})

it('goes on when the second is killed, and both come back with what they have', async () => {
  one = await startOne()
  await two.stop('SIGKILL')
  await kubectls[0]!.ok('create -f -', deployment('third', 'one'))
  await kubectls[0]!.ok('wait --for=condition=Available deployment/third --timeout=60s')
  two = await startTwo()
  await kubectls[1]!.ok('wait --for=condition=Ready node/two --timeout=60s')
  expect((await kubectls[1]!.ok('get deployments -o name')).trim().split('\n')).toEqual(['deployment.apps/first', 'deployment.apps/second', 'deployment.apps/third'])
})
