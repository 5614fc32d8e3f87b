import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHash } from '../../src/cluster/joining/join-node.ts'
import { useEverything } from '../kubectl/cluster.ts'
import { type RunningPart, runCoxswain, startJoiningNode } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const cluster = useEverything(['--node-name', 'first'])
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-join-'))
const token = 'abc123.0123456789abcdef'
let hash: string
const running: RunningPart[] = []

beforeAll(async () => {
  const pki = path.join(path.dirname(cluster.server.kubeconfig), 'pki')
  hash = keyHash(new X509Certificate(readFileSync(path.join(pki, 'ca.crt'))))
  const stringData = {
    'token-id': 'abc123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true',
  }
  const secret = {
    apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token', stringData,
    metadata: { name: 'bootstrap-token-abc123', namespace: 'kube-system' },
  }
  await cluster.kubectl.ok('create -f -', JSON.stringify(secret))
  const role = '--clusterrole=system:node-bootstrapper'
  await cluster.kubectl.ok(`create clusterrolebinding joining ${role} --group=system:bootstrappers`)
})

afterAll(async () => {
  for (const part of running) await part.stop()
  rmSync(dir, { recursive: true, force: true })
})

const flags = (more: Record<string, string> = {}) =>
  Object.entries({ '--server': cluster.server.url, '--token': token, '--ca-cert-hash': hash, ...more }).flat()
const refused = async (...given: string[]) => {
  const dataDir = path.join(dir, 'refused')
  const { code, err } = await runCoxswain(['node', '--join', '--node-name', 'x', '--data-dir', dataDir, ...given])
  return { code, err: err.trim().split('\n').at(-1) }
}

describe('coxswain node --join', () => {
  it.each<[string, () => string[], RegExp]>([
    ['another authority', () => flags({ '--ca-cert-hash': `sha256:${'0'.repeat(64)}` }), /no certificate authority with this hash/],
    ['a wrong token', () => flags({ '--token': 'abc123.0123456789abcdee' }), /--join: .*(401|Unauthorized)/i],
    ['no token', () => ['--server', cluster.server.url], /--token: a node that has not joined yet needs/],
    ['no server', () => [], /--join: needs --server/],
    ['nobody at the other end', () => flags({ '--server': 'https://127.0.0.1:1' }), /--server: https:.*:1: /],
  ])('is refused with %s', async (_what, given, message) => {
    const { code, err } = await refused(...given())
    expect(code).toBe(1)
    expect(err).toMatch(message)
  })

  it('gets certificates by the token, goes on without it, and serves with what the cluster has signed', async () => {
    const dataDir = path.join(dir, 'second')
    const start = (more: string[]) => startJoiningNode('second', ['--data-dir', dataDir, ...more])
    running.push(await start(flags()))
    await cluster.kubectl.ok('wait --for=condition=Ready node/second --timeout=60s')
    const file = path.join(dataDir, 'pki/node-client-current.pem')
    const certificate = new X509Certificate(readFileSync(file))
    expect(certificate.subject.split('\n')).toEqual(['O=system:nodes', 'CN=system:node:second'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const node = new Kubectl(path.join(dataDir, 'node.kubeconfig'))
    expect(await node.ok('auth whoami -o jsonpath={.status.userInfo.username}')).toBe('system:node:second')
    node.remove()
    await expect.poll(async () => await servedName(), { timeout: 40_000 }).toContain('CN=system:node:second')
    await running.pop()!.stop()
    unlinkSync(path.join(dataDir, 'node.kubeconfig'))
    running.push(await start(['--server', cluster.server.url]))
    await cluster.kubectl.ok('wait --for=condition=Ready node/second --timeout=60s')
  }, 60_000)
})

/** The subject of the certificate that the second node shows. */
async function servedName(): Promise<string> {
  const port = await cluster.kubectl.ok('get node second -o jsonpath={.status.daemonEndpoints.kubeletEndpoint.Port}')
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.subject)
      socket.destroy()
    }).on('error', reject)
  })
}
