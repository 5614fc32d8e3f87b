// Measures the creation, update and deletion of workloads over HTTP. API server, controllers, and this load, which replaces scheduler and
// nodes, are separate processes. Prints one JSON line per figure.
//   --kubeconfig FILE   measures another cluster, without its memory and CPU; it must have no scheduler and no nodes
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts server and controllers with these flags for node, such as --cpu-prof
//   --only A,B          only these parts: deployment, cloneset, job, sts-ordered, sts-parallel, daemonset, many, idle
//   --rounds N          how often a figure is taken; its value is the median; default 7. The first is that of processes that have just been started
//   --pods N            of the first five parts; default 500
//   --gates WHO         the component that opens the gates after in-place updates: node, as our node agent does; or controller, as with kubelets; default node
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Client, http2Client } from './load/client.ts'
import { gateKeepers } from './load/gated-pods.ts'
import { Kubelet } from './load/kubelet.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { must } from './load/figures.ts'
import { cpuSeconds, pause, resident, startControllers, startServer } from './load/server.ts'
import { type Target, readTarget } from './load/target.ts'
import { Workloads, cloneSet, daemonSet, deployment, isComplete, isOnAll, isRolledOut, job, statefulSet } from './load/workloads.ts'
import { writeCounts, writesBetween } from './load/write-counts.ts'

const { values: args } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
    only: { type: 'string' },
    pods: { type: 'string', default: '500' },
    gates: { type: 'string', default: 'node' },
    rounds: { type: 'string', default: '7' },
  },
})
const parts = args.only?.split(',')
const wants = (part: string) => !parts || parts.includes(part)
const podCount = Number(args.pods)
const gateKeeper = gateKeepers.find((keeper) => keeper === args.gates)
if (!gateKeeper) throw new Error(`--gates ${args.gates}: one of ${gateKeepers.join(', ')}`)

/** Seconds that Kubernetes 1.36 with an unthrottled controller manager took for 500 pods, on two cores. */
const kubernetes = {
  create: 3.3,
  update: 3.7,
  scale: 1.3,
  job: 10.3,
  statefulSet: { OrderedReady: { create: 15.6, update: 27.4 }, Parallel: { create: 2.7, update: 8.3 } },
}

/** The sizes whose costs per pod are compared. */
const sizes = { few: { deployments: 20, pods: 100 }, many: { deployments: 200, pods: 100 } }
const nodeCounts = { few: 100, many: 1000 }
/** After the load has gone, engines tidy up for a while: that is not what idling costs. */
const idle = { workloads: 1000, settleMs: 3000, restMs: 20_000, measureMs: 60_000 }

/** The measured server and, if they are ours, its processes. */
interface Cluster {
  target: Target
  client: Client
  kubelet: Kubelet
  /** Pids, where known. */
  processes: { server: number; controllers: number } | undefined
  stop(): Promise<void>
}

async function start(): Promise<Cluster> {
  const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
  const server = args.kubeconfig ? undefined : await startServer(args.program, nodeFlags)
  const controllers = server && (await startControllers(args.program, server.kubeconfig, nodeFlags))
  const target = readTarget(args.kubeconfig ?? server!.kubeconfig)
  const client = await http2Client(target, 1)
  const kubelet = await Kubelet.start(target, gateKeeper)
  return {
    target,
    client,
    kubelet,
    processes: server && controllers && { server: server.pid, controllers: controllers.pid },
    async stop() {
      kubelet.stop()
      client.close()
      await controllers?.stop()
      await server?.stop()
    },
  }
}

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown>) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const cpuOf = ({ processes }: Cluster) => (processes ? { server: cpuSeconds(processes.server), controllers: cpuSeconds(processes.controllers) } : undefined)

interface Spent {
  seconds: number
  /** CPU seconds of our processes, and of the load. */
  cpu: Record<string, number>
  writes: Record<string, number>
}

async function spend(cluster: Cluster, work: () => Promise<unknown>): Promise<Spent> {
  const [writesBefore, cpuBefore, loadBefore] = [await writeCounts(cluster.target), cpuOf(cluster), process.cpuUsage()]
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  const load = process.cpuUsage(loadBefore)
  const cpu = cpuOf(cluster)
  return {
    seconds,
    cpu: {
      ...(cpu && cpuBefore ? { server: rounded(cpu.server - cpuBefore.server), controllers: rounded(cpu.controllers - cpuBefore.controllers) } : {}),
      load: rounded((load.user + load.system) / 1e6),
    },
    writes: writesBetween(writesBefore, await writeCounts(cluster.target)),
  }
}

/** A figure that is taken several times. */
interface Timing {
  figure: string
  /** Undefined where there is no peer. */
  peerSeconds?: number
  work(): Promise<unknown>
}

/** The timings of one round, with its own objects. */
type Round = (number: number) => Promise<{ timings: readonly Timing[]; close(): void }>

/** One after the other in each round, so that a phase of the machine is the same for all. */
const together = (rounds: readonly Round[]): Round => async (number) => {
  const parts = await Promise.all(rounds.map((round) => round(number)))
  return { timings: parts.flatMap(({ timings }) => timings), close: () => parts.forEach((part) => part.close()) }
}

type Taken = ReadonlyMap<string, { spent: readonly Spent[] }>

/** Takes the figures of each round in order, and reports the median of each. */
async function timeRounds(cluster: Cluster, round: Round): Promise<Taken> {
  const taken = new Map<string, { peerSeconds: number | undefined; spent: Spent[] }>()
  for (let number = 1; number <= Number(args.rounds); number++) {
    const { timings, close } = await round(number)
    for (const { figure, peerSeconds, work } of timings) {
      const known = taken.get(figure) ?? { peerSeconds, spent: [] }
      known.spent.push(await spend(cluster, work))
      taken.set(figure, known)
      // Later writes, such as events, must not count for the next figure.
      await pause(1000)
    }
    close()
  }
  for (const [figure, { peerSeconds, spent }] of taken) {
    const median = spent.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(spent.length / 2)]!
    const peer = podCount === 500 && peerSeconds !== undefined ? { kubernetesSeconds: peerSeconds, timesFaster: rounded(peerSeconds / median.seconds) } : {}
    report(figure, median.seconds, 's', { pods: podCount, ...peer, rounds: spent.map((s) => rounded(s.seconds)), cpuSeconds: median.cpu, writes: median.writes })
  }
  return taken
}

/** Compares two figures, round by round. */
function compare(taken: Taken, figure: string, against: string): void {
  const [ours, theirs] = [taken.get(figure)?.spent ?? [], taken.get(against)?.spent ?? []]
  const ratios = ours.map(({ seconds }, i) => seconds / theirs[i]!.seconds)
  report(`${figure}, against ${against}`, quantile(ratios, 0.5), 'x', { rounds: ratios.map(rounded) })
}

const newTemplate = { spec: { template: { metadata: { annotations: { release: '2' } } } } }

/** With the bounds that a Deployment has by itself, a quarter too few and a quarter too many, or with others, which nobody else was measured with. */
const deployments =
  (cluster: Cluster, what: string, rollingUpdate?: object): Round =>
  async (round) => {
    const namespace = `bench-deployment-${rollingUpdate ? 'bounded-' : ''}${round}`
    const workloads = await Workloads.open(cluster.target, cluster.client, namespace, 'apps/v1 deployments')
    const create = async () => {
      await workloads.create(deployment('web', podCount, rollingUpdate))
      await workloads.until(isRolledOut)
    }
    const update = async () => {
      await workloads.patch('web', newTemplate)
      await workloads.until(isRolledOut, 1, 2)
    }
    const scale = async () => {
      await workloads.patch('web', { spec: { replicas: 0 } })
      await Promise.all([workloads.until(isRolledOut, 1, 3), cluster.kubelet.allGone()])
    }
    const timing = (figure: string, peerSeconds: number, work: () => Promise<void>): Timing => ({ figure: `${what}: ${figure}`, work, ...(rollingUpdate ? {} : { peerSeconds }) })
    return {
      timings: [timing('create', kubernetes.create, create), timing('rolling update', kubernetes.update, update), timing('scale to 0', kubernetes.scale, scale)],
      close: () => workloads.close(),
    }
  }

/** The template of another image: the only change that a pod can take as it runs. */
const newImage = { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry.example.com/web:2', resources: { requests: { cpu: '100m', memory: '128Mi' } }, ports: [{ containerPort: 8080 }] }] } } } }

const cloneSets =
  (cluster: Cluster, what: string): Round =>
  async (round) => {
    const workloads = await Workloads.open(cluster.target, cluster.client, `bench-cloneset-${round}`, 'apps.kruise.io/v1alpha1 clonesets')
    const create = (name: string, type: 'ReCreate' | 'InPlaceIfPossible') => async () => {
      await workloads.create(cloneSet(name, podCount, type))
      await workloads.untilOf(name, isRolledOut)
    }
    const update = (name: string, patch: object) => async () => {
      await workloads.patch(name, patch)
      await workloads.untilOf(name, isRolledOut, 2)
    }
    const scale = (name: string) => async () => {
      await workloads.patch(name, { spec: { replicas: 0 } })
      await Promise.all([workloads.untilOf(name, isRolledOut, 3), cluster.kubelet.allGone()])
    }
    return {
      timings: [
        { figure: `${what}: create`, work: create('web', 'ReCreate') },
        { figure: `${what}: update, 25% at a time`, work: update('web', newTemplate) },
        { figure: `${what}: scale to 0`, work: scale('web') },
        { figure: `${what}, in place: create`, work: create('inplace', 'InPlaceIfPossible') },
        { figure: `${what}, in place: update, 25% at a time`, work: update('inplace', newImage) },
        { figure: `${what}, in place: scale to 0`, work: scale('inplace') },
      ],
      close: () => workloads.close(),
    }
  }

/** Nobody else has CloneSets: what they are measured against is our own Deployment, as it is by itself and within the bounds of the CloneSets. */
async function deploymentsAndCloneSets(cluster: Cluster): Promise<void> {
  const [plain, bounded, cloned] = [`Deployment of ${podCount}`, `Deployment of ${podCount}, no surge`, `CloneSet of ${podCount}`]
  const rounds = [
    ...(wants('deployment') ? [deployments(cluster, plain)] : []),
    ...(wants('cloneset') ? [deployments(cluster, bounded, { maxSurge: 0, maxUnavailable: '25%' }), cloneSets(cluster, cloned)] : []),
  ]
  const taken = await timeRounds(cluster, together(rounds))
  if (!wants('cloneset')) return
  const update = `${cloned}: update, 25% at a time`
  compare(taken, update, `${bounded}: rolling update`)
  if (!wants('deployment')) return
  const figures = [`${cloned}: create`, update, `${cloned}, in place: create`, `${cloned}, in place: update, 25% at a time`]
  for (const figure of figures) compare(taken, figure, `${plain}: rolling update`)
}

const jobs = (cluster: Cluster): Promise<Taken> =>
  timeRounds(cluster, async (round) => {
    const workloads = await Workloads.open(cluster.target, cluster.client, `bench-job-${round}`, 'batch/v1 jobs')
    const work = async () => {
      await workloads.create(job('task', podCount, podCount / 10))
      await workloads.until(isComplete)
    }
    const figure = `Job of ${podCount} completions at parallelism ${podCount / 10}`
    return { timings: [{ figure, peerSeconds: kubernetes.job, work }], close: () => workloads.close() }
  })

const statefulSets = (cluster: Cluster, policy: 'OrderedReady' | 'Parallel'): Promise<Taken> =>
  timeRounds(cluster, async (round) => {
    const workloads = await Workloads.open(cluster.target, cluster.client, `bench-${policy.toLowerCase()}-${round}`, 'apps/v1 statefulsets')
    const maxUnavailable = policy === 'Parallel' ? '25%' : 1
    const what = `StatefulSet of ${podCount}, ${policy}`
    const peer = kubernetes.statefulSet[policy]
    const create = async () => {
      await workloads.create(statefulSet('db', podCount, policy, maxUnavailable))
      await workloads.until(isRolledOut)
    }
    const update = async () => {
      await workloads.patch('db', newTemplate)
      await workloads.until(isRolledOut, 1, 2)
    }
    return {
      timings: [
        { figure: `${what}: create`, peerSeconds: peer.create, work: create },
        { figure: `${what}: rolling update, ${maxUnavailable} at a time`, peerSeconds: peer.update, work: update },
      ],
      close: () => workloads.close(),
    }
  })

/** Creates so many Deployments, each on a cluster of its own: what other load leaves behind is not theirs. */
async function settle(size: { deployments: number; pods: number }): Promise<{ seconds: number; microsPerPod: number; kbPerPod: number } | undefined> {
  const cluster = await start()
  const { processes } = cluster
  const memory = () => (processes ? resident(processes.server).own + resident(processes.controllers).own : 0)
  try {
    const workloads = await Workloads.open(cluster.target, cluster.client, 'bench-many', 'apps/v1 deployments')
    const before = memory()
    const pods = size.deployments * size.pods
    const { seconds, cpu, writes } = await spend(cluster, async () => {
      await inParallel(size.deployments, 16, (index) => workloads.create(deployment(`web-${index}`, size.pods)))
      await workloads.until(isRolledOut, size.deployments)
    })
    await pause(idle.settleMs)
    const kbPerPod = ((memory() - before) * 1024) / pods
    const microsPerPod = (((cpu.server ?? 0) + (cpu.controllers ?? 0)) * 1e6) / pods
    const residentMb = processes && { server: rounded(resident(processes.server).rss), controllers: rounded(resident(processes.controllers).rss) }
    const perPod = processes && { cpuMicrosPerPod: rounded(microsPerPod), kbPerPod: rounded(kbPerPod) }
    const detail = { podsPerSecond: rounded(pods / seconds), ...perPod, residentMb, cpuSeconds: cpu, writes }
    report(`${pods} pods in ${size.deployments} Deployments: created and settled`, seconds, 's', detail)
    workloads.close()
    return processes && { seconds, microsPerPod, kbPerPod }
  } finally {
    await cluster.stop()
  }
}

/** Puts a daemon on so many nodes and updates it, on a cluster of its own. */
async function daemons(nodes: number): Promise<{ create: number; update: number } | undefined> {
  const cluster = await start()
  const perPod = { create: 0, update: 0 }
  const phase = async (what: keyof typeof perPod, work: () => Promise<unknown>) => {
    const { seconds, cpu, writes } = await spend(cluster, work)
    perPod[what] = (((cpu.server ?? 0) + (cpu.controllers ?? 0)) * 1e6) / nodes
    const detail = { podsPerSecond: rounded(nodes / seconds), ...(cluster.processes ? { cpuMicrosPerPod: rounded(perPod[what]) } : {}), cpuSeconds: cpu, writes }
    report(`DaemonSet on ${nodes} nodes: ${what}`, seconds, 's', detail)
    await pause(idle.settleMs)
  }
  try {
    const node = (index: number) => JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: `bench-${index}`, labels: { 'bench-daemon': 'yes' } } })
    await inParallel(nodes, 16, (index) => must(cluster.client, 201, 'POST', '/api/v1/nodes', node(index)))
    const workloads = await Workloads.open(cluster.target, cluster.client, 'bench-daemon', 'apps/v1 daemonsets')
    await phase('create', async () => {
      await workloads.create(daemonSet('agent', 'bench-daemon'))
      await workloads.until(isOnAll(nodes))
    })
    await phase('update', async () => {
      await workloads.patch('agent', { spec: { template: { metadata: { annotations: { release: '2' } } } } })
      await workloads.until(isOnAll(nodes), 1, 2)
    })
    workloads.close()
    return cluster.processes && perPod
  } finally {
    await cluster.stop()
  }
}

async function manyNodes(): Promise<void> {
  const [few, all] = [await daemons(nodeCounts.few), await daemons(nodeCounts.many)]
  if (!few || !all) return
  const detail = { ...nodeCounts, wanted: 1.3 }
  for (const what of ['create', 'update'] as const) report(`DaemonSet: CPU per pod of ${what}, many nodes against few`, all[what] / few[what], 'x', detail)
}

async function many(): Promise<void> {
  const few = await settle(sizes.few)
  const all = await settle(sizes.many)
  if (!few || !all) return
  const [fewPods, allPods] = [sizes.few, sizes.many].map((size) => size.deployments * size.pods) as [number, number]
  const detail = { few: fewPods, many: allPods, wanted: 1.5 }
  report('CPU per pod, many pods against few', all.microsPerPod / few.microsPerPod, 'x', detail)
  report('memory per pod, many pods against few', all.kbPerPod / few.kbPerPod, 'x', detail)
  report('time per pod, many pods against few', all.seconds / allPods / (few.seconds / fewPods), 'x', detail)
}

async function idling(cluster: Cluster): Promise<void> {
  const workloads = await Workloads.open(cluster.target, cluster.client, 'bench-idle', 'apps/v1 deployments')
  await inParallel(idle.workloads, 16, (index) => workloads.create(deployment(`web-${index}`, 1)))
  await workloads.until(isRolledOut, idle.workloads)
  workloads.close()
  // Events are written one after the other, and long after what they tell of.
  for (let isQuiet = false; !isQuiet; ) isQuiet = Object.keys((await spend(cluster, () => pause(idle.settleMs))).writes).length === 0
  await pause(idle.restMs)
  const { seconds, cpu, writes } = await spend(cluster, () => pause(idle.measureMs))
  const count = Object.values(writes).reduce((sum, n) => sum + n, 0)
  report(`${idle.workloads} idle workloads: writes`, (count * 60) / seconds, '1/min', { seconds: rounded(seconds), writes, without: 'leases' })
  if (!cluster.processes) return
  const share = (cpuSeconds = 0) => (cpuSeconds / seconds) * 100
  report(`${idle.workloads} idle workloads: CPU of server and controllers`, share(cpu.controllers) + share(cpu.server), '% of a core', { server: rounded(share(cpu.server)), controllers: rounded(share(cpu.controllers)) })
}

if (wants('deployment') || wants('cloneset') || wants('job')) {
  const cluster = await start()
  try {
    if (wants('deployment') || wants('cloneset')) await deploymentsAndCloneSets(cluster)
    if (wants('job')) await jobs(cluster)
  } finally {
    await cluster.stop()
  }
}
for (const [part, policy] of [['sts-ordered', 'OrderedReady'], ['sts-parallel', 'Parallel']] as const) {
  if (!wants(part)) continue
  const cluster = await start()
  try {
    await statefulSets(cluster, policy)
  } finally {
    await cluster.stop()
  }
}
if (wants('daemonset')) await manyNodes()
if (wants('many')) await many()
if (wants('idle')) {
  const cluster = await start()
  try {
    await idling(cluster)
  } finally {
    await cluster.stop()
  }
}
process.exit(0)
