import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../kubectl/ask.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { startControllers } from '../kubectl/coxswain.ts'
import { DelayingProxy } from './delaying-proxy.ts'
import { TlsClient } from './tls-client.ts'

const lateMs = 5000
const cluster = useCluster()
const kinds = ['deployment', 'replicaset', 'statefulset', 'daemonset', 'job']

interface PodEvent {
  type: string
  object: { metadata: { uid: string; namespace: string; labels?: { app?: string } } }
}

/** Counts the pods that come and go, by namespace and app, as the server itself tells it. */
class PodCensus {
  readonly #client: TlsClient
  readonly #seen = new Map<string, { made: Set<string>; gone: Set<string> }>()

  constructor(kubeconfig: string) {
    this.#client = new TlsClient(kubeconfig)
    const stream = this.#client.session().request({ ':path': '/api/v1/pods?watch=1' })
    let rest = ''
    stream.setEncoding('utf8')
    stream.on('error', () => {}) // the server stops before we do
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#take(JSON.parse(line) as PodEvent)
    })
  }

  /** `web: 3 made, 2 gone`, in the order of the names. */
  of(namespace: string): string[] {
    const apps = [...this.#seen].filter(([key]) => key.startsWith(`${namespace}/`))
    const appOf = (key: string) => key.slice(namespace.length + 1)
    return apps.map(([key, { made, gone }]) => `${appOf(key)}: ${made.size} made, ${gone.size} gone`).sort()
  }

  close(): void {
    this.#client.close()
  }

  #take({ type, object: { metadata } }: PodEvent): void {
    const key = `${metadata.namespace}/${metadata.labels?.app}`
    if (!this.#seen.has(key)) this.#seen.set(key, { made: new Set(), gone: new Set() })
    const { made, gone } = this.#seen.get(key)!
    if (type === 'ADDED') made.add(metadata.uid)
    if (type === 'DELETED') gone.add(metadata.uid)
  }
}

const nodeNames = ['n1', 'n2', 'n3']
const containers = [{ name: 'main', image: 'registry.example/app:1' }]

/** One workload of each kind, three pods each: the nodes that a DaemonSet is for have a label of their own. */
function manifest(run: string): object {
  const items = [
    ['apps/v1', 'Deployment', 'web', { replicas: 3 }],
    ['apps/v1', 'StatefulSet', 'db', { replicas: 3, serviceName: 'db', podManagementPolicy: 'Parallel' }],
    ['apps/v1', 'DaemonSet', 'agent', {}],
    ['batch/v1', 'Job', 'sum', { parallelism: 3, completions: 9 }],
  ].map(([apiVersion, kind, app, spec]) => {
    const labels = { app }
    const nodeSelector = kind === 'DaemonSet' ? { [run]: 'yes' } : {}
    const restart = kind === 'Job' ? { restartPolicy: 'Never' } : {}
    const template = { metadata: { labels }, spec: { containers, nodeSelector, ...restart } }
    const selector = kind === 'Job' ? {} : { selector: { matchLabels: labels } }
    const metadata = { name: app, namespace: run }
    return { apiVersion, kind, metadata, spec: { ...(spec as object), ...selector, template } }
  })
  return { apiVersion: 'v1', kind: 'List', items }
}

/** The number of pods in the status of each workload. */
const counted = {
  'deployment/web': '{.status.replicas}',
  'statefulset/db': '{.status.replicas}',
  'daemonset/agent': '{.status.currentNumberScheduled}',
  'job/sum': '{.status.active}',
}

describe('controllers in a process of their own whose watch of pods is late', () => {
  const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
  const create = (object: object) => ok('create -f -', JSON.stringify(object))
  let proxy: DelayingProxy
  let census: PodCensus
  let kubeconfig: string

  beforeAll(async () => {
    census = new PodCensus(cluster.server.kubeconfig)
    kubeconfig = path.join(cluster.kubectl.dir, 'proxy.kubeconfig')
    proxy = new DelayingProxy(cluster.server.kubeconfig)
    await proxy.start(kubeconfig)
    for (const name of nodeNames) await create({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
    await ok('taint nodes --all node.kubernetes.io/not-ready-')
  })
  afterAll(async () => {
    census?.close()
    await proxy?.close()
  })

  /** Makes three pods of each kind and takes two of them away, while the watch of pods is `delayMs` late. */
  async function live(run: string, delayMs: number): Promise<{ pods: string[]; writes: Record<string, number> }> {
    await ok(`create namespace ${run}`)
    await ok(`label nodes ${nodeNames.join(' ')} ${run}=yes`)
    const names = kinds.map((kind) => `${kind}-controller`).join()
    const controllers = await startControllers(kubeconfig, ['--leader-elect=false', '--controllers', names])
    try {
      proxy.delaysMs.set('pods', delayMs)
      await create(manifest(run))
      await told(run, 3)
      await ok(`scale -n ${run} deployment/web statefulset/db --replicas=1`)
      await ok(`patch -n ${run} job/sum -p '{"spec":{"parallelism":1}}'`)
      await ok(`label nodes n1 n2 ${run}-`)
      await told(run, 1)
      expect((await ask(controllers.url, '/readyz')).code).toBe(200)
    } finally {
      await controllers.stop()
      proxy.delaysMs.clear()
    }
    return { pods: census.of(run), writes: writesOf(run) }
  }

  /** Waits until every workload says that it has so many pods, and everything has been told to the controllers. */
  async function told(run: string, count: number): Promise<void> {
    const countOf = ([name, at]: [string, string]) => ok(`get -n ${run} ${name} -o jsonpath=${at}`)
    const said = () => Promise.all(Object.entries(counted).map(countOf))
    const wanted = Object.keys(counted).map(() => String(count))
    await expect.poll(said, { timeout: 40_000, interval: 300 }).toEqual(wanted)
    await expect.poll(() => proxy.isHolding, { timeout: 40_000 }).toBe(false)
    expect(await said()).toEqual(wanted)
  }

  /** The controllers' writes of pods, with their number. */
  function writesOf(run: string): Record<string, number> {
    const counts: Record<string, number> = {}
    const writes = (proxy.writes.get(run) ?? []).filter((write) => write.includes(' pods '))
    for (const write of writes) counts[write] = (counts[write] ?? 0) + 1
    return counts
  }

  it('makes and deletes exactly the pods that it would without delay', async () => {
    const onTime = await live('on-time', 0)
    expect(onTime).toEqual({
      pods: ['agent', 'db', 'sum', 'web'].map((app) => `${app}: 3 made, 2 gone`),
      writes: { 'POST pods 201': 12, 'DELETE pods 200': 8 },
    })
    expect(await live('late', lateMs)).toEqual(onTime)
  })

  it('makes pods twice without StaleControllerConsistency', async () => {
    await ok('create namespace unseen')
    const flags = ['--leader-elect=false', '--feature-gates', 'StaleControllerConsistency=false']
    const controllers = await startControllers(kubeconfig, [...flags, '--controllers', 'replicaset-controller'])
    try {
      proxy.delaysMs.set('pods', lateMs)
      const labels = { app: 'web' }
      const template = { metadata: { labels }, spec: { containers } }
      const spec = { replicas: 3, selector: { matchLabels: labels }, template }
      await create({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', namespace: 'unseen' }, spec })
      // Whatever has it looked at again before the cache knows of the first three.
      await ok('annotate -n unseen replicaset/web example.com/look=again')
      const made = () => Number(/web: (\d+) made/.exec(census.of('unseen').join())?.[1] ?? 0)
      await expect.poll(made, { timeout: 4000 }).toBeGreaterThan(3)
    } finally {
      await controllers.stop()
    }
  })
})
