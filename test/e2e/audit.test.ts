import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsIn } from '../kubectl/audit-log.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { runCoxswain } from '../kubectl/coxswain.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-audit-'))
const log = path.join(dir, 'audit.log')
const policy = path.join(dir, 'policy.yaml')
writeFileSync(
  policy,
  `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ['/openapi*', '/api*', '/version']
- level: Metadata
  resources: [{resources: [secrets]}]
- level: RequestResponse
  resources: [{resources: [configmaps]}]
- level: Metadata
`,
)
const tokens = path.join(dir, 'tokens.csv')
writeFileSync(tokens, 'sesame,ann,u-1,"crew"\n', { mode: 0o600 })

/** Lists of events that the webhook got. */
const posted: any[] = []
const hook = createServer((request, response) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    posted.push(JSON.parse(body))
    response.end()
  })
})
const webhook = path.join(dir, 'webhook.yaml')
const listening = new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve)).then(() => {
  const { port } = hook.address() as AddressInfo
  const context =
    'contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\ncurrent-context: a'
  writeFileSync(
    webhook,
    `apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: "http://127.0.0.1:${port}/hook"}}]\n${context}\n`,
  )
})
beforeAll(() => listening)

const cluster = useCluster([
  '--audit-policy-file',
  policy,
  '--audit-log-path',
  log,
  '--token-auth-file',
  tokens,
  '--audit-webhook-config-file',
  webhook,
  '--audit-webhook-batch-max-wait',
  '100ms',
])

afterAll(() => {
  hook.close()
  rmSync(dir, { recursive: true })
})

interface Wanted {
  verb: string
  resource: string
  name?: string
}

/** The events of the log that are about something; waits until there is one, for ten seconds at most. */
async function events({ verb, resource, name }: Wanted): Promise<any[]> {
  for (let left = 100; ; left--) {
    const all = eventsIn(log) as any[]
    const found = all.filter(
      (e) => e.verb === verb && e.objectRef?.resource === resource && (name === undefined || e.objectRef.name === name),
    )
    if (found.length > 0 || left === 0) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('the audit log', () => {
  it("says who did what, and is its owner's alone", async () => {
    await cluster.kubectl.ok('create configmap one --from-literal=k=v')
    await cluster.kubectl.ok(
      'create secret generic hidden --from-literal=password=swordfish --as=bob --as-group=system:masters',
    )
    const [made] = await events({ verb: 'create', resource: 'configmaps', name: 'one' })
    expect(made).toMatchObject({
      level: 'RequestResponse',
      stage: 'ResponseComplete',
      user: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: expect.stringMatching(/^kubectl/) as string,
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { kind: 'ConfigMap', data: { k: 'v' } },
      responseObject: { kind: 'ConfigMap', metadata: { name: 'one', namespace: 'default' } },
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    })
    expect(made.stageTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    const [hidden] = await events({ verb: 'create', resource: 'secrets', name: 'hidden' })
    expect(hidden).toMatchObject({
      level: 'Metadata',
      user: { username: 'kubernetes-admin' },
      impersonatedUser: { username: 'bob' },
    })
    const text = readFileSync(log, 'utf8')
    expect(text).not.toContain('swordfish')
    expect(text).not.toContain(Buffer.from('swordfish').toString('base64'))
    expect(statSync(log).mode & 0o777).toBe(0o600)
  })

  it('has what was refused, and why', async () => {
    await cluster.kubectl.refused('get configmap none')
    const [missing] = await events({ verb: 'get', resource: 'configmaps', name: 'none' })
    expect(missing.responseStatus).toMatchObject({
      status: 'Failure',
      reason: 'NotFound',
      message: 'configmaps "none" not found',
      code: 404,
    })
  })

  it('has a watch when it starts and when it ends', async () => {
    const watching = cluster.kubectl.start('get pods --watch')
    await watching.watching()
    await watching.stop()
    for (let left = 50; left > 0 && (await events({ verb: 'watch', resource: 'pods' })).length < 2; left--)
      await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await events({ verb: 'watch', resource: 'pods' })).map(({ stage }) => stage)).toEqual([
      'ResponseStarted',
      'ResponseComplete',
    ])
  })

  it('goes to a webhook in lists as well', async () => {
    const has = () =>
      posted.some(({ items }) => items.some((e: any) => e.objectRef?.name === 'one' && e.verb === 'create'))
    for (let left = 100; left > 0 && !has(); left--) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(posted[0]).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1' })
    expect(has()).toBe(true)
  })
})

describe('a policy that is wrong', () => {
  it('ends the start with a sentence', async () => {
    const wrong = path.join(dir, 'wrong.yaml')
    writeFileSync(wrong, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]\n')
    const { code, err } = await runCoxswain([
      'apiserver',
      '--store',
      'memory',
      '--data-dir',
      path.join(dir, 'd'),
      '--secure-port',
      '0',
      '--audit-policy-file',
      wrong,
      '--audit-log-path',
      '-',
    ])
    expect(code).toBe(1)
    expect(err).toContain(
      'loading audit policy file: rules[0].level: Unsupported value: "All": supported values: "Metadata", "None", "Request", "RequestResponse"',
    )
  })
})
