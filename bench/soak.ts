// True if `coxswain up` stays as large as it is: owners are rolled out, scaled, deleted and made anew, pods are deleted
// and nodes come and go, while memory and the store's file are measured. Prints one JSON line per figure each minute
// (see bench/README.md). Fails if memory or file grow over the second half of the minutes.
//   --minutes M         for how long is measured; default 5
//   --warm-up M         for how long there is churn before that; default 6: history is kept for five minutes
//   --pods N            default 1000
//   --nodes N           simulated nodes; default one for each 50 pods, and at least 5
//   --workers N         how many owners change at the same time; default 4
//   --pause MS          after each change of a worker; default 200
//   --tolerance P       growth over the second half that is no growth yet, in percent; default 10
//   --events WHAT       remove: they are deleted every 15 s, since they are kept for longer than a soak takes; or keep
//   --store DRIVER      lmdb or memory; default lmdb
//   --timeout S         the longest wait for one change, in seconds; default 300
//   --seed N            of the order of changes; default 1
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts it with these flags for node
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Api, countOf } from './growth/api.ts'
import { Limit } from './growth/limit.ts'
import { nodePrefix } from './growth/nodes.ts'
import { readAmount, readNames, readNumber } from './growth/plan.ts'
import { endOnSignals, startEverything } from './load/everything.ts'
import { rounded } from './load/measure.ts'
import { cpuSeconds, pause, resident } from './load/server.ts'
import { readTarget } from './load/target.ts'
import { Churn, planOwners } from './soak/churn.ts'
import { type Sample, isFlat, lowest, secondHalf, trendOf } from './soak/flatness.ts'

const { values: args } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '6' },
    pods: { type: 'string', default: '1000' },
    nodes: { type: 'string' },
    workers: { type: 'string', default: '4' },
    pause: { type: 'string', default: '200' },
    tolerance: { type: 'string', default: '10' },
    events: { type: 'string', default: 'remove' },
    store: { type: 'string', default: 'lmdb' },
    timeout: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
  },
})
const minutes = readAmount('minutes', args.minutes)
const warmUp = readAmount('warm-up', args['warm-up'])
const tolerance = readAmount('tolerance', args.tolerance)
const pods = readNumber('pods', args.pods)
const nodes = args.nodes ? readNumber('nodes', args.nodes) : Math.max(5, Math.ceil(pods / 50))
const keepsEvents = readNames('events', args.events, ['remove', 'keep']).includes('keep')
const namespace = 'bench-soak'
const sampleMs = 2000
const removeEventsMs = 15_000
/** At least ten windows in the second half, of which the smallest value counts. */
const windowMinutes = Math.max(sampleMs * 2, (minutes * 60_000) / 40) / 60_000
const createMinutes = 10

/** Bytes of the disk that a directory takes. */
function diskBytes(dir: string): number {
  let bytes = 0
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += statSync(path.join(entry.parentPath, entry.name)).blocks * 512
  }
  return bytes
}

const tell = (figure: string, value: number, unit: string, detail: Record<string, unknown>) =>
  console.log(JSON.stringify({ figure: `soak: ${figure}`, value: rounded(value), unit, detail }))

/** Judges one series. Answers what is wrong with it. */
function judge(what: string, samples: readonly Sample[]): string | undefined {
  const trend = trendOf(secondHalf(lowest(samples, windowMinutes)))
  if (!trend) return `${what}: too few samples to judge; --minutes must be longer`
  const flat = isFlat(trend, tolerance)
  const { percent, perMinute, standardErrors, samples: windows } = trend
  const slope = { mbPerMinute: rounded(perMinute), standardErrors: rounded(standardErrors), windows }
  tell(`growth of ${what} over the second half`, percent, '%', { ...slope, tolerance, isFlat: flat })
  const rise = `${percent.toFixed(1)} % over the second half, ${perMinute.toFixed(2)} MB a minute`
  return flat ? undefined : `${what} is not flat: ${rise}`
}

endOnSignals()
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-soak-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const flags = ['--runtime', 'simulated', '--nodes', String(nodes), '--node-name', nodePrefix, '--store', args.store]
const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
const running = await startEverything(args.program, dataDir, nodeFlags, flags)
const api = new Api(readTarget(running.kubeconfig))
await api.makeNamespace(namespace)
// A change that is under way when the time is over may take as long as any other.
const limit = new Limit(readAmount('timeout', args.timeout), createMinutes + warmUp + minutes + 5)
const owners = planOwners(pods)
const churn = new Churn(api, namespace, limit, readNumber('seed', args.seed))

const over = new AbortController()
const series = { memory: [] as Sample[], file: [] as Sample[] }
let began = performance.now()
const minute = () => (performance.now() - began) / 60_000

async function sample(): Promise<void> {
  let [toldMinute, cpuBefore] = [0, cpuSeconds(running.pid)]
  for (; !over.signal.aborted; await pause(sampleMs)) {
    const at = minute()
    const { own, rss } = resident(running.pid)
    const fileMb = args.store === 'lmdb' ? diskBytes(path.join(dataDir, 'db')) / 2 ** 20 : 0
    if (at >= warmUp) {
      series.memory.push({ minute: at - warmUp, value: own })
      series.file.push({ minute: at - warmUp, value: fileMb })
    }
    if (at < toldMinute + 1) continue
    toldMinute = Math.floor(at)
    const cpu = cpuSeconds(running.pid)
    const events = await countOf(api, `/api/v1/namespaces/${namespace}/events`)
    const where = { minute: toldMinute, isWarmUp: at < warmUp }
    const beside = { rssMb: rounded(rss), cpuSeconds: rounded(cpu - cpuBefore), events }
    tell(`memory after ${toldMinute} min`, own, 'MB', { ...where, ...beside })
    tell(`file after ${toldMinute} min`, fileMb, 'MB', { ...where, changes: { ...churn.counts } })
    cpuBefore = cpu
  }
}

async function removeEvents(): Promise<void> {
  if (keepsEvents) return
  for (let next = 0; !over.signal.aborted; await pause(250)) {
    if (performance.now() < next) continue
    next = performance.now() + removeEventsMs
    for (const where of [namespace, 'default']) await api.send('DELETE', `/api/v1/namespaces/${where}/events`)
  }
}

async function untilOver(): Promise<void> {
  while (minute() < warmUp + minutes) await pause(250)
  over.abort()
  churn.stop()
}

const problems: string[] = []
const broken = running.ended.then((how): never => {
  throw new Error(`coxswain up ended with ${how}`)
})
broken.catch(() => {})
try {
  process.stderr.write(`${owners.length} owners of ${owners[0]!.pods} pods on ${nodes} nodes\n`)
  await Promise.race([churn.create(owners), broken])
  tell('created', (performance.now() - began) / 1000, 's', { pods, nodes, owners: owners.length })
  began = performance.now()
  const changes = churn.changeOwners(owners, readNumber('workers', args.workers), readAmount('pause', args.pause))
  await Promise.race([Promise.all([changes, churn.flapNodes(nodes), sample(), removeEvents(), untilOver()]), broken])
  tell('changes', Object.values(churn.counts).reduce((a, b) => a + b, 0), '', { ...churn.counts })
  problems.push(judge('memory', series.memory) ?? '')
  if (args.store === 'lmdb') problems.push(judge('file', series.file) ?? '')
} catch (e) {
  problems.push(e instanceof Error ? e.message : String(e))
}
api.close()
await running.stop()
for (const problem of problems) if (problem) process.stderr.write(`soak: ${problem}\n`)
process.exit(problems.some((problem) => problem !== '') ? 1 : 0)
