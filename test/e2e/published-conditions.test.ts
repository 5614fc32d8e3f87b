import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { startPublisher } from '../kubectl/coxswain.ts'
import { kubectlBinary } from '../kubectl/kubectl-binary.ts'
import { readPage } from '../kubectl/page.ts'

const { blocks } = readPage(readFileSync(path.resolve(import.meta.dirname, '../../docs/on-your-cluster.md'), 'utf8'))
/** The commands of the page that remove what was published. */
const removal = blocks.map(({ commands }) => commands).filter((commands) => commands.includes('--field-manager=coxswain-publisher'))

// No controllers run, so that nobody else writes a status.
const cluster = useCluster()

const workload = (apiVersion: string, kind: string, selector: string, more = '') => `
apiVersion: ${apiVersion}
kind: ${kind}
metadata: { name: w }
spec:
  ${selector}${more}
  template: { metadata: { labels: { app: ${kind} } }, spec: { containers: [{ name: main, image: 'w:1' }] } }
---`
const selecting = (kind: string) => `selector: { matchLabels: { app: ${kind} } }`
const workloads = [
  workload('apps/v1', 'StatefulSet', selecting('StatefulSet'), '\n  serviceName: w'),
  workload('apps/v1', 'DaemonSet', selecting('DaemonSet')),
  workload('apps/v1', 'ReplicaSet', selecting('ReplicaSet')),
  workload('v1', 'ReplicationController', 'selector: { app: ReplicationController }'),
  `
apiVersion: batch/v1
kind: Job
metadata: { name: w }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: main, image: 'w:1' }] } } }
`,
].join('')
const kinds = ['statefulset', 'daemonset', 'replicaset', 'replicationcontroller', 'job']

it('what a publisher has written is removed by the commands of the page, and the conditions of others stay', async () => {
  const { kubectl } = cluster
  kubectl.file('workloads.yaml', workloads)
  await kubectl.ok('apply -f workloads.yaml')
  const theirs = (kind: string, type: string) =>
    kubectl.ok(`patch ${kind} w --subresource=status --type=merge --field-manager=owner -p '{"status":{"conditions":[{"type":"${type}","status":"True","reason":"Theirs"}]}}'`)
  await theirs('replicaset', 'ReplicaFailure')
  await theirs('job', 'Suspended')
  const conditions = (kind: string) => kubectl.ok(`get ${kind} w -o jsonpath={.status.conditions[*].type}`)
  const publisher = await startPublisher(cluster.server.kubeconfig, ['--leader-elect=false', '--companions=none'])
  for (const kind of kinds) {
    const type = kind === 'job' ? 'Waiting' : 'Available'
    await kubectl.ok(`wait ${kind}/w --for=jsonpath='{.status.conditions[?(@.type=="${type}")].type}'=${type} --timeout=60s`)
  }
  await publisher.stop()
  expect(await conditions('replicaset')).toBe('ReplicaFailure Available')
  expect(await conditions('job')).toBe('Suspended Waiting Running')

  expect(removal).toHaveLength(2)
  const bin = mkdirSync(path.join(kubectl.dir, 'bin'), { recursive: true })!
  symlinkSync(kubectlBinary(), path.join(bin, 'kubectl'))
  const env = { PATH: `${bin}:${process.env['PATH']}`, KUBECONFIG: cluster.server.kubeconfig, HOME: kubectl.dir }
  for (const commands of removal) {
    const { status, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', commands], { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', timeout: 60_000 })
    expect([status, stderr]).toEqual([0, ''])
  }
  expect(await Promise.all(kinds.map(conditions))).toEqual(['', '', 'ReplicaFailure', '', 'Suspended'])
  const managers = (kind: string) => kubectl.ok(`get ${kind} w --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}`)
  for (const kind of kinds.slice(0, 4)) expect(await managers(kind)).not.toContain('coxswain')
})
