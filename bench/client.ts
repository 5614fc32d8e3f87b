// Measures informers: their start with many pods, their events, and the memory per pod. Prints one JSON line per figure.
// Run with --expose-gc, so that the memory is measured without garbage.
//   --pods N            the number of pods (20000)
//   --only A,B          only these parts: http, in-process, events
//   --program FILE      a program to run with node instead of bin/coxswain
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FeatureGates } from '../src/api/feature-gates.ts'
import type { Pod } from '../src/api/generated/types.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/logger.ts'
import { systemRandom } from '../src/base/random.ts'
import { HttpTransport, SharedInformer, type SharedInformerOptions, type Transport, type WatchListener, loadAccess, pods } from '../src/client/index.ts'
import { InProcessTransport } from '../src/cluster/index.ts'
import { ApiServer, Authenticator, admissionPlugins } from '../src/server/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { http1Client } from './load/client.ts'
import { clients, createPods, makeNamespace, podName, podsOf } from './load/figures.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'
import { startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: { pods: { type: 'string', default: '20000' }, only: { type: 'string' }, program: { type: 'string', default: path.resolve('bin/coxswain') } },
})
const count = Number(args.pods)
const parts = args.only?.split(',')
const wants = (part: string) => !parts || parts.includes(part)
const rounds = 5

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown> = {}) => {
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail: { pods: count, ...detail } }))
}

/** Bytes of the heap that are in use once everything unused is gone. */
async function heap(): Promise<number> {
  if (!globalThis.gc) throw new Error('run node with --expose-gc')
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const byOwner = (pod: Pod) => pod.metadata.ownerReferences?.map((o) => o.uid) ?? []

function informerOn(transport: Transport, more: Partial<SharedInformerOptions<Pod>> = {}): SharedInformer<Pod> {
  const informer = new SharedInformer({ transport, type: pods, clock: systemClock, random: systemRandom, indexes: { owner: byOwner }, ...more })
  let told = 0
  informer.addHandler({ add: () => told++, update: () => told++, delete: () => told++ })
  return informer
}

/** The time until informers are filled, and the memory of each. */
async function starts(way: string, transport: Transport, more: Partial<SharedInformerOptions<Pod>>): Promise<void> {
  const times: number[] = []
  const cpuTimes: number[] = []
  const sizes: number[] = []
  // All are kept to the end, so that none makes room for another.
  const informers: SharedInformer<Pod>[] = []
  for (let round = 0; round < rounds; round++) {
    const before = await heap()
    const start = performance.now()
    const cpu = process.cpuUsage()
    const informer = informerOn(transport, more)
    informers.push(informer)
    informer.start()
    await informer.synced()
    times.push(performance.now() - start)
    const { user, system } = process.cpuUsage(cpu)
    cpuTimes.push((user + system) / 1000)
    if (informer.size !== count) throw new Error(`${informer.size} pods instead of ${count}`)
    sizes.push(((await heap()) - before) / count)
    informer.stop()
  }
  if (informers.reduce((sum, i) => sum + i.size, 0) !== rounds * count) throw new Error('pods are missing')
  report(`informer start, ${way}`, quantile(times, 0.5), 'ms', { rounds, best: rounded(Math.min(...times)), worst: rounded(Math.max(...times)), cpuMs: rounded(quantile(cpuTimes, 0.5)) })
  report(`memory a cached pod, ${way}`, quantile(sizes, 0.5), 'bytes', { rounds })
}

async function overHttp(): Promise<void> {
  const server = await startServer(args.program)
  try {
    const client = http1Client(readTarget(server.kubeconfig), clients)
    await makeNamespace(client, 'bench')
    await inParallel(count, clients, createPods(client, 'bench', 0))
    const transport = new HttpTransport(await loadAccess({ file: server.kubeconfig }))
    await starts('HTTP, by a watch', transport, { stream: true })
    await starts('HTTP, by lists', transport, { stream: false })

    const informer = informerOn(transport)
    let updates = 0
    const wanted = count
    let all = () => {}
    informer.addHandler({
      update: () => {
        if (++updates === wanted) all()
      },
    })
    informer.start()
    await informer.synced()
    const arrived = new Promise<void>((resolve) => (all = resolve))
    const start = performance.now()
    const patch = (index: number) =>
      client.send('PATCH', `${podsOf('bench')}/${podName(index)}`, JSON.stringify({ metadata: { labels: { round: 'next' } } }), 'application/merge-patch+json')
    await inParallel(wanted, clients, patch)
    const sent = performance.now()
    await arrived
    report('events, HTTP, live', wanted / ((performance.now() - start) / 1000), '1/s', { events: wanted, behindWritersMs: rounded(performance.now() - sent), limit: 'how fast the writers are' })
    informer.stop()
    client.close()
    await transport.close()
  } finally {
    await server.stop()
  }
}

async function inProcess(): Promise<void> {
  const server = await ApiServer.open({
    store: openMemoryStore(),
    gates: FeatureGates.of({}),
    authenticator: new Authenticator(),
    admission: admissionPlugins,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    release: '0',
    address: '127.0.0.1:0',
  })
  const transport = new InProcessTransport(server, { name: 'bench', groups: ['system:masters'] })
  await transport.send({ method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } } })
  const created = performance.now()
  await inParallel(count, clients, (index) => transport.send({ method: 'POST', path: podsOf('bench'), body: JSON.parse(podText(podName(index))) as object }))
  report('creates, in process', count / ((performance.now() - created) / 1000), '1/s')
  await starts('in process, by a watch', transport, { stream: true })
  await starts('in process, by a list', transport, { stream: false, rules: { pageSize: 0 } })
  const informer = informerOn(transport)
  informer.start()
  await informer.synced()
  const shared = informer.list().filter((pod) => pod === server.parts.access.get('', 'pods', 'bench', pod.metadata.name!)).length
  report('cached pods that are the server\'s own', shared, '')
  informer.stop()
  server.close()
}

/** An informer alone: what an event costs that has arrived. */
async function events(): Promise<void> {
  let listener!: WatchListener<Pod>
  const transport: Transport = {
    send: () => Promise.reject(new Error('not here')),
    watch: (_request, l) => {
      listener = l as unknown as WatchListener<Pod>
      return () => {}
    },
    close: async () => {},
  }
  const informer = informerOn(transport)
  informer.start()
  const templates = Array.from({ length: count }, (_, i) => JSON.parse(podText(podName(i))) as Pod)
  const at = (i: number, resourceVersion: number): Pod => {
    const pod = templates[i]!
    return { ...pod, metadata: { ...pod.metadata, namespace: 'bench', uid: `uid-${i}`, resourceVersion: String(resourceVersion) } }
  }
  listener.opened()
  for (let i = 0; i < count; i++) listener.event({ type: 'ADDED', object: at(i, i + 1) })
  listener.event({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(count), annotations: { 'k8s.io/initial-events-end': 'true' } } } as unknown as Pod })
  const wanted = 10 * count
  const prepared = Array.from({ length: wanted }, (_, i) => at(i % count, count + 1 + i))
  const start = performance.now()
  for (const object of prepared) listener.event({ type: 'MODIFIED', object })
  report('events, informer alone', wanted / ((performance.now() - start) / 1000), '1/s', { events: wanted, indexes: 1, handlers: 1 })
  informer.stop()
}

if (wants('events')) await events()
if (wants('in-process')) await inProcess()
if (wants('http')) await overHttp()
process.exit(0)
