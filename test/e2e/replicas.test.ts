import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let controllers: RunningPart
beforeAll(async () => {
  const names = ['replicaset-controller', 'replicationcontroller-controller', 'resourcequota-controller', 'garbage-collector-controller']
  controllers = await startControllers(cluster.server.kubeconfig, ['--controllers', names.join()])
})
afterAll(() => controllers?.stop())

const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)

const manifest = (kind: string, name: string, replicas: number) => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } }
  const isSet = kind === 'ReplicaSet'
  return JSON.stringify({ apiVersion: isSet ? 'apps/v1' : 'v1', kind, metadata: { name }, spec: { replicas, selector: isSet ? { matchLabels: labels } : labels, template } })
}

/** Waits for this many pods and says that they are, or are not, ready. */
async function report(app: string, count: number, isReady: boolean): Promise<void> {
  const names = async () => (await ok(`get pods -l app=${app} -o jsonpath={.items[*].metadata.name}`)).split(' ').filter((n) => n)
  await expect.poll(names, { timeout: 40_000 }).toHaveLength(count)
  const patch = JSON.stringify({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } })
  await ok(`patch pods ${(await names()).join(' ')} --subresource status --type strategic -p '${patch}'`)
}

describe.each([
  ['ReplicaSet', 'rs', 'set', 'replicaset-controller'],
  ['ReplicationController', 'rc', 'older', 'replication-controller'],
])('a %s', (kind, short, name, source) => {
  it('is waited for with kubectl in both states of Available', async () => {
    await ok('create -f -', manifest(kind, name, 2))
    await ok(`wait --for=condition=Available=False ${short}/${name} --timeout=60s`)
    await report(name, 2, true)
    expect(await ok(`wait --for=condition=Available ${short}/${name} --timeout=60s`)).toContain('condition met')
  })

  it('tells in describe what it did', async () => {
    const text = await ok(`describe ${short} ${name}`)
    expect(text).toMatch(/Replicas:\s+2 current \/ 2 desired/)
    expect(text).toMatch(/Pods Status:\s+2 Running \/ 0 Waiting/)
    expect(text).toMatch(new RegExp(`Normal\\s+SuccessfulCreate\\s+\\S+\\s+${source}\\s+Created pod: ${name}-`))
  })

  it('is scaled with kubectl, which waits for it', async () => {
    await ok(`scale ${short} ${name} --replicas=1 --current-replicas=2 --timeout=60s`)
    await ok(`wait --for=jsonpath={.status.replicas}=1 ${short}/${name} --timeout=60s`)
    expect(await ok(`get ${short} ${name} --no-headers`)).toMatch(new RegExp(`^${name}\\s+1\\s+1\\s+1\\s`))
    await ok(`wait --for=condition=Available ${short}/${name} --timeout=60s`)
  })
})
