// Measures the number of pods scheduled per second, with API server and scheduler in one process, in memory. Prints one JSON line per figure.
//   --nodes N       default 1000
//   --pods N        default 5000
//   --only A,B      only these parts: deciding, backlog, service, spread, affinity, creating
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { Node, Pod } from '../src/api/generated/types.ts'
import { systemRandom } from '../src/base/random.ts'
import { type Client, nodes, pods, services } from '../src/client/index.ts'
import { InProcessTransport, startCluster } from '../src/cluster/testing.ts'
import { schedulerUser } from '../src/cluster/parts/users.ts'
import { PodInfo } from '../src/scheduler/cluster/pod-info.ts'
import { NodeSearch } from '../src/scheduler/cycle/node-search.ts'
import { schedulePod } from '../src/scheduler/cycle/schedule-pod.ts'
import { Scheduler } from '../src/scheduler/index.ts'
import { filterPlugins, scorePlugins } from '../src/scheduler/plugins/registry.ts'
import { sampleNode, samplePod, sampleWorld } from '../src/scheduler/plugins/sample-world.ts'
import { Nominations } from '../src/scheduler/queue/nominations.ts'
import { inParallel, rounded } from './load/measure.ts'

const { values: args } = parseArgs({
  options: { nodes: { type: 'string', default: '1000' }, pods: { type: 'string', default: '5000' }, only: { type: 'string' } },
})
const nodeCount = Number(args.nodes)
const podCount = Number(args.pods)
const parts = args.only?.split(',')
const wanted = 1500

const zones = ['a', 'b', 'c']

async function makeNode(client: Client, index: number): Promise<Node> {
  const name = `node-${index}`
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zones[index % zones.length]! }
  const amounts = { cpu: '32', memory: '128Gi', pods: '110' }
  await client.create(nodes, { metadata: { name, labels }, status: { allocatable: amounts, capacity: amounts } } as unknown as Node)
  // Removes the taint of a new node, as a controller does.
  return client.patch(nodes, '', name, { spec: { taints: [] } }, { type: 'merge' })
}

function makePod(client: Client, index: number, more: object): Promise<Pod> {
  const resources = { requests: { cpu: '100m', memory: '128Mi' } }
  const spec = { containers: [{ name: 'main', image: 'registry.example/app:1', resources }], ...more }
  return client.create(pods, { metadata: { name: `pod-${index}`, namespace: 'default', labels: { app: 'web' } }, spec } as unknown as Pod)
}

interface Part {
  name: string
  says: string
  pod?: object
  /** A service that leads to the pods: they are spread by default. */
  hasService?: boolean
  /** Pods are made while others are scheduled. */
  isCreating?: boolean
}

const selector = { matchLabels: { app: 'web' } }
const spread = (topologyKey: string, whenUnsatisfiable: string) => ({ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: selector })
const overZones = spread('topology.kubernetes.io/zone', 'DoNotSchedule')
const overHosts = spread('kubernetes.io/hostname', 'ScheduleAnyway')
const near = [{ weight: 10, podAffinityTerm: { topologyKey: 'topology.kubernetes.io/zone', labelSelector: selector } }]

const all: readonly Part[] = [
  { name: 'backlog', says: 'pods that wait already' },
  { name: 'service', says: 'pods of a service, spread by default', hasService: true },
  { name: 'spread', says: 'pods that must be spread over zones, and had better be over hosts', pod: { topologySpreadConstraints: [overZones, overHosts] } },
  { name: 'affinity', says: 'pods that like to be near each other', pod: { affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: near } } } },
  { name: 'creating', says: 'pods that are made meanwhile', isCreating: true },
]

/** Resolves when so many pods have a node. */
function bound(client: Client, count: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0
    const end = client.watch(pods, '', { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, {
      opened() {},
      closed() {},
      event({ type, object }) {
        // A binding is the first change of these pods.
        if (type !== 'MODIFIED' || !(object as Pod).spec.nodeName || (object as Pod).status?.phase !== 'Pending') return
        if (++seen < count) return
        end()
        resolve()
      },
    })
  })
}

async function measure({ name, says, pod = {}, hasService, isCreating }: Part): Promise<void> {
  const cluster = await startCluster()
  const { client } = cluster
  await inParallel(nodeCount, 64, (index) => makeNode(client, index))
  if (hasService) await client.create(services, { metadata: { name: 'web', namespace: 'default' }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } } as never)
  const create = () => inParallel(podCount, 64, (index) => makePod(client, index, pod))
  if (!isCreating) await create()
  const transport = new InProcessTransport(cluster.server, schedulerUser)
  const scheduler = new Scheduler({ transport })
  const allBound = bound(client, podCount)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  await scheduler.start()
  if (isCreating) await create()
  await allBound
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const detail = { nodes: nodeCount, pods: podCount, seconds: rounded(seconds), cpuMicrosPerPod: rounded((user + system) / podCount), loopMaxMs: rounded(delay.max / 1e6), wanted }
  console.log(JSON.stringify({ figure: `scheduler, ${says}`, value: rounded(podCount / seconds), unit: 'pods/s', detail: { part: name, ...detail } }))
  await scheduler.stop()
  await transport.close()
  await cluster.stop()
}

/** The decisions alone, without an API: pods of a service are given nodes, one after the other. */
function decide(): void {
  const made = Array.from({ length: nodeCount }, (_, i) => {
    const name = `node-${i}`
    return sampleNode(name, { labels: { 'topology.kubernetes.io/zone': zones[i % zones.length]! }, allocatable: { cpu: '32', memory: '128Gi' } })
  })
  const world = sampleWorld({ nodes: made, siblings: [selector] })
  const filters = filterPlugins({ bind: () => Promise.resolve() })
  const cycle = { world, filters, scores: scorePlugins, nominations: new Nominations(), search: new NodeSearch(0), random: systemRandom }
  const waiting = Array.from({ length: podCount }, (_, i) => new PodInfo(samplePod(`pod-${i}`, { labels: { app: 'web' }, requests: { cpu: '100m', memory: '128Mi' } })))
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  for (const pod of waiting) {
    const decision = schedulePod(pod, cycle)
    if (decision.kind !== 'node') throw new Error(`${pod.key}: ${decision.kind}`)
    world.cluster.assume(pod, decision.node.name)
  }
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const detail = { part: 'deciding', nodes: nodeCount, pods: podCount, seconds: rounded(seconds), cpuMicrosPerPod: rounded((user + system) / podCount) }
  console.log(JSON.stringify({ figure: 'scheduler, the decisions alone', value: rounded(podCount / seconds), unit: 'pods/s', detail }))
}

// Our own timers do not keep a process alive.
setInterval(() => {}, 60_000)
if (!parts || parts.includes('deciding')) decide()
for (const part of all) if (!parts || parts.includes(part.name)) await measure(part)
process.exit(0)
