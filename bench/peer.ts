// Runs our loads against the API server of any kubeconfig, a stock kube-apiserver as well, and removes its namespaces.
// Prints one JSON line per figure, and a table of the workloads on stderr (see bench/README.md).
//   --kubeconfig FILE   the cluster; its current context must be allowed to make namespaces, pods and workloads
//   --only A,B          only these parts: creates, list, watch, rollouts, growth
//   --pods N            of creates and list; default 2000
//   --kinds A,B         of rollouts and growth; default all that the server has, without DaemonSets
//   --rollout-pods N    of rollouts; default 500
//   --rounds N          of rollouts; the median counts; default 3
//   --sizes N,M         of growth; default 100,500,1000
//   --run-by WHO        who runs pods: cluster, its scheduler and nodes; or load, which stands for both. Default: load
//                       where there is no node. The load must not run the pods of a cluster that has a scheduler
//   --image A, --new-image B, --job-image C
//                       images that the nodes can pull; default pause:3.9, pause:3.10 and busybox:1.36
//   --pids P,Q          processes of the cluster on this machine, whose CPU and memory are told
//   --timeout S         the longest wait of a phase, in seconds; default 300
//   --minutes M         the longest run in all, without cleaning up; default 20
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Api } from './growth/api.ts'
import { type KindName, kinds } from './growth/kinds.ts'
import { Limit } from './growth/limit.ts'
import type { Load } from './growth/phases.ts'
import { readAmount, readKinds, readNames, readNumber, readNumbers } from './growth/plan.ts'
import { Probe } from './growth/probe.ts'
import { type Figure, Report } from './growth/report.ts'
import { type Subject, runLoad } from './growth/run.ts'
import { endOnSignals } from './load/everything.ts'
import { quantile, rounded } from './load/measure.ts'
import { cpuSeconds } from './load/server.ts'
import { readTarget } from './load/target.ts'
import { Namespaces, findRunner, runners, servedKinds, standIn } from './peer/cluster.ts'
import { loadServer, serverParts } from './peer/server-loads.ts'

const { values: args } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    only: { type: 'string', default: 'creates,list,watch,rollouts,growth' },
    pods: { type: 'string', default: '2000' },
    kinds: { type: 'string' },
    'rollout-pods': { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    sizes: { type: 'string', default: '100,500,1000' },
    'run-by': { type: 'string' },
    image: { type: 'string', default: 'registry.k8s.io/pause:3.9' },
    'new-image': { type: 'string', default: 'registry.k8s.io/pause:3.10' },
    'job-image': { type: 'string', default: 'busybox:1.36' },
    pids: { type: 'string', default: '' },
    timeout: { type: 'string', default: '300' },
    minutes: { type: 'string', default: '20' },
  },
})
if (!args.kubeconfig) throw new Error('--kubeconfig FILE: which cluster?')
const kubeconfig = path.resolve(args.kubeconfig)
const parts = readNames('only', args.only, [...serverParts, 'rollouts', 'growth'])
const phases = ['create', 'roll', 'scale'] as const
const pids = readNumbers('pids', args.pids)
const images = { first: args.image, second: args['new-image'], job: args['job-image'] }
const limit = new Limit(readAmount('timeout', args.timeout), readAmount('minutes', args.minutes))
/** Cleaning up has its own time: it comes after a run that is out of it. */
const cleaningLimit = { seconds: 120, minutes: 10 }

const api = new Api(readTarget(kubeconfig))
const namespaces = new Namespaces(api)
let stopStandIn = async () => {}

async function cleanUp(): Promise<boolean> {
  const left = await namespaces.removeAll(new Limit(cleaningLimit.seconds, cleaningLimit.minutes))
  await stopStandIn()
  for (const text of left) process.stderr.write(`${text}\n`)
  return left.length === 0
}
endOnSignals(async () => void (await cleanUp()))

const never = new Promise<never>(() => {})
const tellFigure = (figure: string, value: number, unit: string, detail: Record<string, unknown> = {}) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))
const serverCpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)

type Peer = Omit<Subject, 'namespace'>

/** Runs one load in a namespace of its own. */
async function runOne(load: Load, what: string, on: Peer, report: Report, tell = console.log): Promise<boolean> {
  return runLoad(load, phases, { ...on, namespace: await namespaces.make(what) }, { limit, report, tell })
}

const loadOf = (kind: KindName, podsEach: number): Load => {
  const series = kinds[kind].title
  return { title: `${series} of ${podsEach}`, series, isCluster: false, kind, owners: 1, podsEach, nodes: 0 }
}

/** The median of each figure over all rounds. */
function median(rounds: readonly Figure[]): Figure {
  const values = rounds.map(({ value }) => value)
  const { figure, unit, detail } = rounds[0]!
  const { ratio: _, smallest: __, probe: ___, ...rest } = detail
  return { figure, value: quantile(values, 0.5), unit, detail: { ...rest, rounds: values } }
}

async function rollouts(on: Peer, names: readonly KindName[]): Promise<Report> {
  const report = new Report()
  const pods = readNumber('rollout-pods', args['rollout-pods'])
  for (const kind of names) {
    const taken = new Map<string, Figure[]>()
    const keep = (line: string) => {
      const figure = JSON.parse(line) as Figure
      taken.set(figure.figure, [...(taken.get(figure.figure) ?? []), figure])
    }
    for (let round = 1; round <= readNumber('rounds', args.rounds); round++) {
      if (!(await runOne(loadOf(kind, pods), `rollouts-${kind}-${round}`, on, report, keep))) break
    }
    for (const rounds of taken.values()) console.log(JSON.stringify(median(rounds)))
  }
  return report
}

async function growth(on: Peer, names: readonly KindName[]): Promise<Report> {
  const report = new Report()
  for (const kind of names) {
    for (const size of readNumbers('sizes', args.sizes)) {
      if (!(await runOne(loadOf(kind, size), `growth-${kind}-${size}`, on, report))) break
    }
  }
  return report
}

/** Rollouts and growth, with somebody who runs their pods. Answers whether all of it was measured. */
async function loadWorkloads(): Promise<boolean> {
  const runner = args['run-by'] ? readNames('run-by', args['run-by'], runners)[0]! : await findRunner(api)
  const served = await servedKinds(api)
  const names = args.kinds === undefined ? served : readKinds(args.kinds)
  const missing = names.find((name) => !served.includes(name))
  if (missing) throw new Error(`--kinds: the server has no ${missing}, or it has no size to choose`)
  process.stderr.write(`pods are run by the ${runner}; ${names.join(', ')}\n`)
  if (runner === 'load') stopStandIn = await standIn(api)
  const probe = await Probe.start(kubeconfig, await namespaces.make('probe'))
  const on = { api, images, pids, probe, broken: never }
  try {
    const reports: Report[] = []
    if (parts.includes('rollouts')) reports.push(await rollouts(on, names))
    if (parts.includes('growth')) reports.push(await growth(on, names))
    for (const report of reports) process.stderr.write(`\n${report.table()}\n`)
    return reports.every((report) => report.isComplete)
  } finally {
    probe.stop()
  }
}

let isComplete = true
let problem: unknown
try {
  const bench = { target: api.target, serverCpu: pids.length > 0 ? serverCpu : undefined, report: tellFigure }
  const wanted = { parts: serverParts.filter((part) => parts.includes(part)), pods: readNumber('pods', args.pods) }
  await limit.within(loadServer(bench, wanted, namespaces), wanted.parts.join(', '))
  if (parts.includes('rollouts') || parts.includes('growth')) isComplete = await loadWorkloads()
} catch (e) {
  problem = e
}
const isClean = await cleanUp()
if (problem) console.error(problem)
process.exit(problem || !isClean || !isComplete ? 1 : 0)
