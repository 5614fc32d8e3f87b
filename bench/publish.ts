// Measures the publisher. API server, publisher and this load are separate processes. Prints one JSON line per figure.
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --workloads N       default 10000, each with one pod: six of ten are ReplicaSets, the others StatefulSets with companions
//   --rate N            changes of pods a second; default 200
//   --seconds N         for how long; default 30
import path from 'node:path'
import { parseArgs } from 'node:util'
import { HttpTransport, loadAccess } from '../src/client/index.ts'
import { workloadStatusDefinition } from '../src/controllers/index.ts'
import { inParallel, rounded } from './load/measure.ts'
import { cpuSeconds, pause, resident, startPart, startServer } from './load/server.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    workloads: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
  },
})
const count = Number(args.workloads)
const rate = Number(args.rate)
const seconds = Number(args.seconds)
const wanted = { memoryMb: 150, cores: 0.2 }

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown>) => console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const apps = '/apis/apps/v1/namespaces/default'
const pods = '/api/v1/namespaces/default/pods'
const isReplicaSet = (index: number): boolean => index % 10 < 6
const plural = (index: number): string => (isReplicaSet(index) ? 'replicasets' : 'statefulsets')

const container = {
  name: 'main', image: 'example.com/app:1', env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value ${i}` })),
  readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
}

function status(isReady: boolean): object {
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) =>
    ({ type, status: type.endsWith('Ready') && !isReady ? 'False' : 'True', lastTransitionTime: now }))
  const containerStatuses = [{ name: 'main', image: container.image, imageID: '', restartCount: 0, ready: isReady, started: true, state: { running: { startedAt: now } } }]
  return { status: { phase: 'Running', startTime: now, conditions, containerStatuses } }
}

const say = (client: HttpTransport, index: number, isReady: boolean) =>
  client.send({ method: 'PATCH', path: `${pods}/w${index}-0/status`, body: status(isReady), contentType: 'application/strategic-merge-patch+json' })

/** Makes a workload and its pod, which is ready. Nobody else writes statuses here. */
async function make(client: HttpTransport, index: number): Promise<void> {
  const name = `w${index}`
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [container] } }
  const more = isReplicaSet(index) ? {} : { serviceName: name }
  const body = { metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels }, template, ...more } }
  const { metadata: { uid } } = await client.send<{ metadata: { uid: string } }>({ method: 'POST', path: `${apps}/${plural(index)}`, body })
  const owner = { apiVersion: 'apps/v1', kind: isReplicaSet(index) ? 'ReplicaSet' : 'StatefulSet', name, uid, controller: true, blockOwnerDeletion: true }
  const pod = { metadata: { name: `${name}-0`, labels, ownerReferences: [owner] }, spec: { nodeName: 'n1', containers: [container] } }
  await client.send({ method: 'POST', path: pods, body: pod })
  await say(client, index, true)
}

/** So many changes a second, spread evenly. Answers how many there were. */
async function change(client: HttpTransport): Promise<number> {
  const began = performance.now()
  let sent = 0
  let answered = 0
  const steps: Promise<unknown>[] = []
  while (performance.now() - began < seconds * 1000) {
    for (const due = ((performance.now() - began) / 1000) * rate; sent < due; sent++) {
      steps.push(say(client, sent % count, Math.floor(sent / count) % 2 === 1).then(() => answered++))
    }
    await pause(5)
  }
  await Promise.all(steps)
  return answered / ((performance.now() - began) / 1000)
}

/** The resource version of a cluster in which this process writes nothing. */
const version = async (client: HttpTransport): Promise<number> =>
  Number((await client.send<{ metadata: { resourceVersion: string } }>({ method: 'GET', path: '/api/v1/namespaces' })).metadata.resourceVersion)

/** Waits until the publisher has nothing to write. */
async function quiet(client: HttpTransport): Promise<void> {
  for (let before = -1, now = await version(client); now !== before; ) {
    before = now
    await pause(3000)
    now = await version(client)
  }
}

const server = await startServer(args.program, [], ['--feature-gates', 'StatefulSetConditions=false,DaemonSetConditions=false'])
const client = new HttpTransport(await loadAccess({ file: server.kubeconfig }))
await client.send({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: workloadStatusDefinition })
await inParallel(count, 32, (index) => make(client, index))
const flags = ['--leader-elect=false', '--writes-per-second', '500']
const began = performance.now()
const publisher = await startPart(['publish', '--kubeconfig', server.kubeconfig, ...flags], args.program)
report('publisher, start with all workloads', (performance.now() - began) / 1000, 's', { workloads: count })
await quiet(client)
report('publisher, all published', (performance.now() - began) / 1000, 's', { workloads: count })
const atRest = await version(client)
const idle = { cpu: cpuSeconds(publisher.pid), at: performance.now() }
await pause(15_000)
const idleCores = (cpuSeconds(publisher.pid) - idle.cpu) / ((performance.now() - idle.at) / 1000)
report('publisher, writes in 15 s when nothing changes', (await version(client)) - atRest, 'writes', { wanted: 0, cores: rounded(idleCores) })
report('publisher, memory at rest', resident(publisher.pid).rss, 'MB', { workloads: count, wanted: wanted.memoryMb })
let mostMb = 0
const sampling = setInterval(() => (mostMb = Math.max(mostMb, resident(publisher.pid).rss)), 250)
const before = { cpu: cpuSeconds(publisher.pid), at: performance.now(), version: await version(client) }
const reached = await change(client)
const took = (performance.now() - before.at) / 1000
const cores = (cpuSeconds(publisher.pid) - before.cpu) / took
const written = (await version(client)) - before.version - reached * took
clearInterval(sampling)
report('publisher, CPU under load', cores, 'cores', { workloads: count, changesPerSecond: rounded(reached), writesPerSecond: rounded(written / took), wanted: wanted.cores })
report('publisher, most memory under load', mostMb, 'MB', { workloads: count, wanted: wanted.memoryMb })
await publisher.stop()
await client.close()
await server.stop()
process.exit(0)
