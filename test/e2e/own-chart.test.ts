import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ComponentName, componentNames, objectsOf } from '../../src/cluster/manifests/index.ts'
import { type Right, allows, rightsIn, textOf } from '../integration/stock/rights.ts'
import { isRefused, rightIn, useAuditLog } from '../kubectl/audit-log.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers, startNode, startScheduler } from '../kubectl/coxswain.ts'
import { helmBinary } from '../kubectl/kubectl-binary.ts'
import { useOwnImage } from '../kubectl/own-image.ts'

const root = path.resolve(import.meta.dirname, '../..')
const chart = path.join(root, 'deploy/helm/coxswain')
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-helm-'))
const images = useOwnImage()
const namespace = 'coxswain-system'
const account = (part: string) => `system:serviceaccount:${namespace}:coxswain-${part}`
const audit = useAuditLog(componentNames.map(account))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const cluster = useCluster(audit.flags)
const parts: RunningPart[] = []

beforeAll(async () => {
  const { kubeconfig } = cluster.server
  const confOf = (part: string) => path.join(path.dirname(kubeconfig), `${part}.conf`)
  // As on a cluster whose manager was told to leave these two to others.
  const without = '--controllers=*,-statefulset-controller,-daemonset-controller'
  parts.push(await startControllers(confOf('controller-manager'), ['--use-service-account-credentials', without]))
  parts.push(await startScheduler(confOf('scheduler')))
  parts.push(await startNode(kubeconfig, 'n1', ['--runtime', 'process', '--image-catalogue', images, '--data-dir', path.join(dir, 'node')]))
}, 60_000)

afterAll(async () => {
  for (const part of parts.toReversed()) await part.stop()
})

async function helm(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: dir, KUBECONFIG: cluster.server.kubeconfig }
  return (await promisify(execFile)(helmBinary(), args, { env, timeout: 90_000 })).stdout
}

/** True after the parts have done everything for which they need their rights. */
let hasWorked = false
const everything = ['--set', 'monitor.enabled=true,controllers.enabled=true']
const workloads = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  replicas: 2
  serviceName: db
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete, whenScaled: Delete }
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: main, image: 'db:1', volumeMounts: [{ name: data, mountPath: /data }] }] }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: main, image: 'agent:1' }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: task }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: main, image: x, command: [sh, -c, exec sleep 600] }] } } }
---
apiVersion: v1
kind: ReplicationController
metadata: { name: old }
spec:
  replicas: 1
  selector: { app: old }
  template:
    metadata: { labels: { app: old } }
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: main, image: 'old:1' }] }
`

/** The rights of a component that are its own: the controllers have Kubernetes' roles for each of them besides. */
const granted = (part: ComponentName): Right[] => rightsIn(objectsOf([part], { namespace, image: 'coxswain', replicas: () => 2 }, false))

/** Used only where it comes to that, instead of another verb. */
const insteadOf = [
  ['list', 'watch'], // a server that cannot stream is asked for lists
  ['create', 'patch'], // an apply that makes its object needs the right to create it
  ['get', 'patch'], ['get', 'create'], // what was written is read again where the answer was lost
] as const

/** The kinds in whose status the publisher writes. */
const statuses = ['statefulsets.apps', 'daemonsets.apps', 'replicasets.apps', 'replicationcontrollers', 'jobs.batch']
/**
 * Beside the controllers, the publisher has nothing to add to a status that already has their conditions: which of the two comes first is
 * chance. test/integration/stock/rights.test.ts sees it use each of these rights where it is alone.
 */
const dependsOnChance = ({ verb, resource }: Right) =>
  statuses.some((kind) => (verb === 'patch' && resource === `${kind}/status`) || (verb === 'get' && resource === kind))

/** Asks the monitor for its metrics as somebody who may read them. */
async function scrape(): Promise<number> {
  const { kubectl } = cluster
  const ip = await kubectl.ok(`-n ${namespace} get pods -l app.kubernetes.io/component=monitor -o jsonpath={.items[0].status.podIP}`)
  await kubectl.ok(`-n ${namespace} create serviceaccount scraper`)
  await kubectl.ok('create clusterrole scraper --verb=get --non-resource-url=/metrics')
  await kubectl.ok(`create clusterrolebinding scraper --clusterrole=scraper --serviceaccount=${namespace}:scraper`)
  const token = (await kubectl.ok(`-n ${namespace} create token scraper`)).trim()
  return new Promise((resolve, reject) => {
    request({ host: ip, port: 8443, path: '/metrics', headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode!)
    }).on('error', reject).end()
  })
}

describe('the chart', () => {
  it('is accepted by helm lint', async () => {
    expect(await helm('lint', chart, '--strict')).toContain('1 chart(s) linted, 0 chart(s) failed')
    expect(await helm('template', 'cox', chart, '-n', namespace, ...everything)).toContain('name: coxswain-controllers')
  })

  it('is installed with all parts, which become available and do their work with their own rights alone', async () => {
    const { kubectl } = cluster
    await helm('install', 'cox', chart, '-n', namespace, '--create-namespace', ...everything)
    await kubectl.ok(`label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`)
    kubectl.file('workloads.yaml', workloads)
    await kubectl.ok('wait --for=create serviceaccount/default --timeout=60s')
    await kubectl.ok('apply -f workloads.yaml')
    // Five programs start at once.
    await kubectl.ok(`-n ${namespace} wait deployment --all --for=condition=Available --timeout=90s`)
    await kubectl.ok('wait --for=create workloadstatus/db --timeout=60s')
    for (const workload of ['statefulset/db', 'daemonset/agent', 'replicationcontroller/old', 'workloadstatus/db']) {
      await kubectl.ok(`wait --for=condition=Available ${workload} --timeout=60s`)
    }
    await kubectl.ok('wait --for=condition=Running job/task --timeout=60s')
    expect(await scrape()).toBe(200)
    for (const change of ['scale statefulset db --replicas=1', 'rollout restart statefulset/db', 'rollout restart daemonset/agent']) await kubectl.ok(change)
    await kubectl.ok('rollout status statefulset/db --timeout=60s')
    await kubectl.ok('rollout status daemonset/agent --timeout=60s')
    const table = () => kubectl.ok('get workloads')
    await expect.poll(table, { timeout: 60_000 }).toMatch(/^db +StatefulSet +True +NewRevisionAvailable +1 of 1 replica is available\. +\S+$/m)
    expect(await table()).toMatch(/^NAME +KIND +AVAILABLE +PROGRESSING +MESSAGE +AGE$/m)
    expect(audit.events().filter(isRefused).map((event) => `${event.user.username} ${textOf(rightIn(event))}`)).toEqual([])
    hasWorked = true
  }, 300_000)

  it('is upgraded in place', async () => {
    const { kubectl } = cluster
    await helm('upgrade', 'cox', chart, '-n', namespace, ...everything, '--set', 'publisher.replicas=1')
    // A rollout has ended as soon as one pod is available; the other one is still counted then.
    await kubectl.ok(`-n ${namespace} wait deployment/coxswain-publisher --for=jsonpath={.status.replicas}=1 --timeout=60s`)
    await kubectl.ok(`-n ${namespace} rollout status deployment/coxswain-publisher --timeout=60s`)
    expect(await helm('list', '-n', namespace, '-o', 'json')).toContain('"revision":"2"')
  })

  it('leaves nothing behind but its namespace', async () => {
    const { kubectl } = cluster
    await helm('uninstall', 'cox', '-n', namespace, '--cascade', 'foreground', '--wait')
    const cluster_wide = 'clusterroles,clusterrolebindings,customresourcedefinitions'
    expect(await kubectl.ok(`get ${cluster_wide} -A -l app.kubernetes.io/name=coxswain -o name`)).toBe('')
    expect(await kubectl.ok('get roles,rolebindings -A -l app.kubernetes.io/name=coxswain -o name')).toBe('')
    expect(await kubectl.ok('get customresourcedefinitions -o name')).not.toContain('coxswain.dev')
    await kubectl.ok(`delete namespace ${namespace} --timeout=60s`)
    expect(await kubectl.ok('get leases -A -o name')).not.toContain('coxswain-')
  }, 180_000)

  it.each(componentNames)('grants %s no right that it has not used', (part) => {
    if (!hasWorked) expect.fail('the parts have not done their work: see the test of the installation')
    const used = audit.events().filter(({ user }) => user.username === account(part)).map(rightIn)
    expect(used.length).toBeGreaterThan(0)
    const isUsed = (grant: Right) => used.some((right) => allows(grant, right))
    const isNeeded = (grant: Right) =>
      isUsed(grant) || insteadOf.some(([verb, other]) => grant.verb === verb && isUsed({ ...grant, verb: other })) || (part === 'publisher' && dependsOnChance(grant))
    expect(granted(part).filter((grant) => !isNeeded(grant)).map(textOf)).toEqual([])
  })
})
