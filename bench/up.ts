// Measures `coxswain up`: until it is ready, while idle, until the first pod is Ready, and with many pods. Prints one JSON line per figure.
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts it with these flags for node, such as --cpu-prof
//   --only A,B          only these parts: start, idle, first-pod, many
//   --rounds N          the number of measurements of start and first-pod; the value is the median; default 7
//   --nodes N --pods N  of the last part; default 500 and 5000
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { kubectlBinary } from '../test/kubectl/kubectl-binary.ts'
import { http2Client } from './load/client.ts'
import { startEverything } from './load/everything.ts'
import { quantile, rounded } from './load/measure.ts'
import { type Seen, watchObjects } from './load/object-watch.ts'
import { cpuSeconds, pause, resident } from './load/server.ts'
import { type Target, readTarget } from './load/target.ts'
import { Workloads, deployment, isRolledOut } from './load/workloads.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '7' },
    nodes: { type: 'string', default: '500' },
    pods: { type: 'string', default: '5000' },
  },
})
const parts = args.only?.split(',')
const wants = (part: string) => !parts || parts.includes(part)
const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
const rounds = Number(args.rounds)
const podCount = Number(args.pods)

/** After the start engines tidy up for a while: that is not what idling costs. */
const idle = { restMs: 20_000, measureMs: 30_000 }

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown>) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

/** Runs everything on a directory of its own, which goes with it. */
async function withEverything(flags: readonly string[], work: (running: Awaited<ReturnType<typeof startEverything>>, dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-up-'))
  const running = await startEverything(args.program, dataDir, nodeFlags, flags)
  try {
    await work(running, dataDir)
  } finally {
    await running.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function starting(): Promise<void> {
  const fresh: number[] = []
  const again: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < rounds; round++) {
    await withEverything([], async (first, dataDir) => {
      fresh.push(first.readyMs)
      cpu.push(cpuSeconds(first.pid))
      await first.stop()
      const second = await startEverything(args.program, dataDir, nodeFlags)
      again.push(second.readyMs)
      await second.stop()
    })
  }
  report('up, to ready, new data', quantile(fresh, 0.5), 'ms', { wanted: 900, best: rounded(Math.min(...fresh)), worst: rounded(Math.max(...fresh)), cpuSeconds: rounded(quantile(cpu, 0.5)) })
  report('up, to ready, on data that is there', quantile(again, 0.5), 'ms', { best: rounded(Math.min(...again)) })
}

async function idling(): Promise<void> {
  await withEverything([], async ({ pid }) => {
    await pause(idle.restMs)
    const before = cpuSeconds(pid)
    await pause(idle.measureMs)
    const { rss, own } = resident(pid)
    const cpu = ((cpuSeconds(pid) - before) / idle.measureMs) * 1000 * 100
    report('up, idle: resident', rss, 'MB', { wanted: 100, notMappedFiles: rounded(own), cpuPercentOfACore: rounded(cpu) })
  })
}

const isReady = ({ status }: Seen) => status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false

/** Times of the first sight of a pod, and of its being Ready. */
async function timesOf(target: Target, name: string, create: () => Promise<unknown>): Promise<{ seenAt: number; readyAt: number }> {
  let seenAt = 0
  let end = () => {}
  const readyAt = new Promise<number>((resolve, reject) => {
    watchObjects(target, '/api/v1/namespaces/default/pods', (_type, object) => {
      if (object.metadata.name !== name) return
      seenAt ||= performance.now()
      if (isReady(object)) resolve(performance.now())
    }).then((close) => {
      end = close
      return create()
    }).catch(reject)
  })
  const at = await readyAt
  end()
  return { seenAt, readyAt: at }
}

interface Waited {
  sinceTyped: number
  sinceStored: number
}

/** Has the real kubectl make a pod that answers HTTP, and waits as somebody in a terminal would. */
async function makePod(kubeconfig: string, name: string): Promise<Waited> {
  let typedAt = 0
  const { seenAt, readyAt } = await timesOf(readTarget(kubeconfig), name, () => {
    typedAt = performance.now()
    return runKubectl(kubeconfig, `run ${name} --image=nginx --port=8080`)
  })
  return { sinceTyped: readyAt - typedAt, sinceStored: readyAt - seenAt }
}

async function runKubectl(kubeconfig: string, line: string): Promise<void> {
  await once(spawn(kubectlBinary(process.cwd()), ['--kubeconfig', kubeconfig, ...line.split(' ')], { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
}

function reportWaits(figure: string, waits: readonly Waited[]): void {
  const typed = waits.map((w) => w.sinceTyped)
  const stored = waits.map((w) => w.sinceStored)
  const detail = { wanted: 300, rounds: typed.map(rounded), sinceThePodWasThere: stored.map(rounded), medianSinceThePodWasThere: rounded(quantile(stored, 0.5)) }
  report(figure, quantile(typed, 0.5), 'ms', detail)
}

/** The first pod of each of so many new clusters, and as many more of the last one. */
async function firstPod(): Promise<void> {
  const first: Waited[] = []
  const later: Waited[] = []
  for (let round = 0; round < rounds; round++) {
    await withEverything([], async ({ kubeconfig }) => {
      first.push(await makePod(kubeconfig, 'first'))
      if (round === rounds - 1) for (let i = 0; i < rounds; i++) later.push(await makePod(kubeconfig, `later-${i}`))
      await runKubectl(kubeconfig, 'delete pods --all --now')
    })
  }
  reportWaits('up, the very first pod Ready, since kubectl was typed', first)
  reportWaits('up, a later pod Ready, since kubectl was typed', later)
}

async function many(): Promise<void> {
  await withEverything(['--runtime', 'simulated', '--nodes', args.nodes, '--node-name', 'n'], async ({ pid, kubeconfig, readyMs }) => {
    const target = readTarget(kubeconfig)
    const client = await http2Client(target, 1)
    const workloads = await Workloads.open(target, client, 'bench-up', 'apps/v1 deployments')
    const before = cpuSeconds(pid)
    const began = performance.now()
    const since = () => (performance.now() - began) / 1000
    await workloads.create(deployment('web', podCount))
    await workloads.until(({ status }) => status?.conditions?.some((c) => c.type === 'Available' && c.status === 'True') ?? false)
    const available = since()
    await workloads.until(isRolledOut)
    const all = since()
    const cpu = cpuSeconds(pid) - before
    const detail = { nodes: Number(args.nodes), pods: podCount, wanted: 15, nodesReadyMs: rounded(readyMs), cpuSeconds: rounded(cpu), cpuMicrosPerPod: rounded((cpu * 1e6) / podCount), residentMb: rounded(resident(pid).rss) }
    report('up, simulated: from a Deployment to Available', available, 's', detail)
    report('up, simulated: from a Deployment to all of it', all, 's', detail)
    workloads.close()
    client.close()
  })
}

if (wants('start')) await starting()
if (wants('idle')) await idling()
if (wants('first-pod')) await firstPod()
if (wants('many')) await many()
process.exit(0)
