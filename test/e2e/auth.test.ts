import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-tokens-'))
const tokens = path.join(dir, 'tokens.csv')
writeFileSync(tokens, 'sesame,ann,u-1,"crew,deck"\nopen-up,bob,u-2\n')

const cluster = useCluster(['--token-auth-file', tokens])

/** A kubectl whose kubeconfig says where the server is, and not who asks. */
let stranger: Kubectl

beforeAll(() => {
  const anonymous = path.join(dir, 'kubeconfig')
  writeFileSync(anonymous, readFileSync(cluster.server.kubeconfig, 'utf8').replace(/ {2}user:\n( {4}.*\n)+/, '  user: {}\n'))
  stranger = new Kubectl(anonymous)
})

afterAll(() => {
  stranger?.remove()
  rmSync(dir, { recursive: true })
})

/** Sends a request without kubectl. */
function request(url: string, headers: Record<string, string> = {}): Promise<{ code: number | undefined; body: string }> {
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(readFileSync(cluster.server.kubeconfig, 'utf8'))![1]!, 'base64')
  return new Promise((resolve, reject) => {
    https
      .get(cluster.server.url + url, { ca, headers, agent: false }, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += chunk.toString()))
        response.on('end', () => resolve({ code: response.statusCode, body }))
      })
      .on('error', reject)
  })
}

const anonymous = 'User "system:anonymous" cannot'

describe('a request without credentials', () => {
  it.each([
    ...['/api', '/openapi/v3', '/metrics', '/livez/ping', '/nope'].map((url) => [url, `forbidden: ${anonymous} get path "${url}"`, {}] as const),
    ['/apis/apps/v1/deployments', `deployments.apps is forbidden: ${anonymous} list resource "deployments" in API group "apps" at the cluster scope`, { group: 'apps', kind: 'deployments' }] as const,
    ['/api/v1/namespaces/default/pods/a', `pods "a" is forbidden: ${anonymous} get resource "pods" in API group "" in the namespace "default"`, { name: 'a', kind: 'pods' }] as const,
  ])('is refused at %s', async (url, message, details) => {
    const { code, body } = await request(url)
    expect(code).toBe(403)
    expect(JSON.parse(body)).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'Forbidden', details, code: 403 })
  })

  it.each([
    ['/livez', /^ok$/],
    ['/readyz', /^ok$/],
    ['/healthz', /^ok$/],
    ['/version', /"gitVersion": ?"v1\.36\./],
  ])('is answered at %s', async (url, body) => {
    expect(await request(url)).toEqual({ code: 200, body: expect.stringMatching(body) as string })
  })

  it('makes kubectl say that it is forbidden', async () => {
    const said = async (line: string) => (await stranger.run(`${line} --username=ann --password=sesame`)).err.trim().split('\n').at(-1)
    expect(await said('get pods')).toMatch(/^Error from server \(Forbidden\): /)
    expect(await said('get --raw /api/v1/pods')).toBe(`Error from server (Forbidden): pods is forbidden: ${anonymous} list resource "pods" in API group "" at the cluster scope`)
  })
})

describe('a token', () => {
  it('names its user, with uid and groups', async () => {
    expect(await stranger.ok('auth whoami --token=sesame')).toBe(
      'ATTRIBUTE   VALUE\nUsername    ann\nUID         u-1\nGroups      [crew deck system:authenticated]\n',
    )
    expect(await stranger.ok('auth whoami --token=open-up')).toBe('ATTRIBUTE   VALUE\nUsername    bob\nUID         u-2\nGroups      [system:authenticated]\n')
  })

  it('is enough to read and write what its user may', async () => {
    expect(await stranger.refused('create configmap by-ann --token=sesame')).toBe(
      'error: failed to create configmap: configmaps is forbidden: User "ann" cannot create resource "configmaps" in API group "" in the namespace "default"\n',
    )
    await cluster.kubectl.ok('create clusterrolebinding crew --clusterrole=cluster-admin --group=crew --user=bob')
    expect(await stranger.ok('create configmap by-ann --token=sesame')).toBe('configmap/by-ann created\n')
    expect(await stranger.ok('get configmap by-ann -o name --token=open-up')).toBe('configmap/by-ann\n')
    expect(await stranger.ok('auth can-i delete pods --token=open-up')).toBe('yes\n')
  })

  it.each([
    ['get pods --cache-dir=fresh', 'error: You must be logged in to the server (the server has asked for the client to provide credentials)'],
    ['auth whoami', 'error: You must be logged in to the server (Unauthorized)'],
    ['get --raw /version', 'error: You must be logged in to the server (Unauthorized)'],
    ['get --raw /livez', 'error: You must be logged in to the server (Unauthorized)'],
  ])('that is wrong is refused: %s', async (line, message) => {
    expect((await stranger.refused(`${line} --token=wrong`)).trim().split('\n').at(-1)).toBe(message)
  })

  it('can be reviewed', async () => {
    const review = (token: string) => cluster.kubectl.ok('create -f - -o json --validate=false', JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }))
    expect(JSON.parse(await review('sesame'))).toMatchObject({ status: { authenticated: true, user: { username: 'ann', uid: 'u-1', groups: ['crew', 'deck', 'system:authenticated'] } } })
    expect(JSON.parse(await review('wrong'))).toMatchObject({ status: { error: 'invalid bearer token' } })
  })
})

describe('a client certificate', () => {
  it('names its user and groups, and itself', async () => {
    const lines = (await cluster.kubectl.ok('auth whoami')).trim().split('\n').map((line) => line.split(/ {3,}/))
    expect(lines).toEqual([
      ['ATTRIBUTE', 'VALUE'],
      ['Username', 'kubernetes-admin'],
      ['Groups', '[system:masters system:authenticated]'],
      ['Extra: authentication.kubernetes.io/credential-id', expect.stringMatching(/^\[X509SHA256=[0-9a-f]{64}\]$/)],
    ])
  })
})
