import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'

const root = path.resolve(import.meta.dirname, '../..')
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-deploy-'))
const log = path.join(dir, 'audit.log')
const [images, policy] = [path.join(dir, 'images.yaml'), path.join(dir, 'policy.yaml')]
const account = (part: string) => `system:serviceaccount:coxswain-system:coxswain-${part}`
writeFileSync(images, `images:\n- image: coxswain\n  command: [${process.execPath}, ${root}/bin/coxswain]\n`)
writeFileSync(policy, `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["${account('publisher')}", "${account('monitor')}"]
`)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const cluster = useEverything(['--runtime', 'process', '--image-catalogue', images, '--audit-policy-file', policy, '--audit-log-path', log])

interface AuditEvent {
  verb: string
  user: { username: string }
  objectRef?: { apiGroup?: string; resource?: string; subresource?: string }
  annotations?: Record<string, string>
}

it('the kustomize bases run this package as pods that need no other right than theirs', async () => {
  const { kubectl } = cluster
  await kubectl.ok(`apply -k ${root}/deploy/kustomize/base`)
  await kubectl.ok(`apply -k ${root}/deploy/kustomize/monitor`)
  await kubectl.ok('-n coxswain-system wait deployment --all --for=condition=Available --timeout=60s')
  expect(await kubectl.ok('-n coxswain-system get pods -o jsonpath={.items[*].status.phase}')).toBe('Running Running Running')
  const events = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as AuditEvent)
  const words = ({ verb, user, objectRef: { apiGroup, resource, subresource } = {} }: AuditEvent) =>
    `${user.username.replace(/^.*-/, '')} ${verb} ${resource ?? ''}${apiGroup ? `.${apiGroup}` : ''}${subresource ? `/${subresource}` : ''}`
  expect(events.filter(({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'forbid').map(words)).toEqual([])
  const asked = new Set(events.map(words))
  for (const watch of ['publisher watch pods', 'publisher watch statefulsets.apps', 'publisher watch workloadstatuses.coxswain.dev', 'monitor watch pods']) {
    expect(asked).toContain(watch)
  }
  await kubectl.ok(`delete -k ${root}/deploy/kustomize/monitor --wait=false`)
  await kubectl.ok(`delete -k ${root}/deploy/kustomize/base --timeout=30s`)
  expect((await kubectl.run('get workloads')).err).toContain("the server doesn't have a resource type")
}, 120_000)
