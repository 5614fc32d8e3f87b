// Measures how the cost of a workload grows with its size: `coxswain up` on simulated nodes, in a separate process for each load.
// Prints one JSON line per figure with its ratio to the smallest size, and a table on stderr (see bench/README.md).
//   --kinds A,B         deployment, replicaset, sts-parallel, sts-ordered, daemonset, job, cloneset-recreate,
//                       cloneset-inplace; default all
//   --sizes N,M         pods of one owner of each kind; default 100,1000,10000
//   --clusters N,M      pods of whole clusters of Deployments; default 1000,10000,100000
//   --owners-of N,M     pods that each Deployment of these clusters has; default 100,1000
//   --phases A,B        create, roll, lose (a twentieth of the nodes; clusters only), scale; default all
//   --nodes N           the most simulated nodes; default 2000
//   --timeout S         the longest wait of a phase, in seconds; default 180
//   --minutes M         the total time limit; default 20. The remaining loads are not measured, and reported
//   --store DRIVER      memory or lmdb; default memory
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts it with these flags for node, such as --cpu-prof or --max-old-space-size=8192
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Api } from './growth/api.ts'
import { kindNames } from './growth/kinds.ts'
import { Limit } from './growth/limit.ts'
import { nodePrefix } from './growth/nodes.ts'
import { type Load, phaseNames, podsOf } from './growth/phases.ts'
import { planLoads, readAmount, readKinds, readNumber, readNumbers, readPhases } from './growth/plan.ts'
import { Probe } from './growth/probe.ts'
import { Report } from './growth/report.ts'
import { runLoad } from './growth/run.ts'
import { endOnSignals, startEverything } from './load/everything.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    kinds: { type: 'string', default: kindNames.join(',') },
    sizes: { type: 'string', default: '100,1000,10000' },
    clusters: { type: 'string', default: '1000,10000,100000' },
    'owners-of': { type: 'string', default: '100,1000' },
    phases: { type: 'string', default: phaseNames.join(',') },
    nodes: { type: 'string', default: '2000' },
    timeout: { type: 'string', default: '180' },
    minutes: { type: 'string', default: '20' },
    store: { type: 'string', default: 'memory' },
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
  },
})
const image = (name: string) => `registry.example.com/${name}`
const images = { first: image('web:1'), second: image('web:2'), job: image('task:1') }
const probeNamespace = 'bench-probe'

endOnSignals()
const wantedPhases = readPhases(args.phases)
const limit = new Limit(readAmount('timeout', args.timeout), readAmount('minutes', args.minutes))
const report = new Report()
const { loads, notes } = planLoads({
  kinds: readKinds(args.kinds),
  sizes: readNumbers('sizes', args.sizes),
  clusters: readNumbers('clusters', args.clusters),
  ownersOf: readNumbers('owners-of', args['owners-of']),
  nodes: readNumber('nodes', args.nodes),
})
for (const note of notes) report.note(note)

/** Runs a load on a cluster of its own, so that neither memory nor history of another is in its figures. */
async function measure(load: Load): Promise<boolean> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-growth-'))
  const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
  const nodes = ['--runtime', 'simulated', '--nodes', String(load.nodes), '--node-name', nodePrefix]
  try {
    const running = await startEverything(args.program, dataDir, nodeFlags, [...nodes, '--store', args.store])
    const broken = running.ended.then((how): never => {
      throw new Error(`coxswain up ended with ${how}`)
    })
    broken.catch(() => {})
    const api = new Api(readTarget(running.kubeconfig))
    let probe: Probe | undefined
    try {
      await api.makeNamespace(probeNamespace)
      probe = await Probe.start(running.kubeconfig, probeNamespace)
      const subject = { api, namespace: 'bench', images, pids: [running.pid], probe, broken }
      return await runLoad(load, wantedPhases, subject, { limit, report, tell: console.log })
    } finally {
      probe?.stop()
      api.close()
      await running.stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The smallest load of each series that did not come to its end: larger ones are not begun. */
const stuck = new Map<string, number>()
for (const load of loads) {
  const before = stuck.get(load.series)
  if (before !== undefined) report.note(`${load.title}: not measured, ${before} pods were too many`)
  else if (limit.left < 1) report.note(`${load.title}: not measured, --minutes ${args.minutes} are over`)
  else {
    process.stderr.write(`${load.title}, ${load.nodes} nodes, ${Math.round(limit.left)} s left\n`)
    if (!(await measure(load))) stuck.set(load.series, podsOf(load))
  }
}
process.stderr.write(`\n${report.table()}\n`)
process.exit(report.isComplete ? 0 : 1)
