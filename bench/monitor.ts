// Measures the monitor. API server, monitor and this load are separate processes. Prints one JSON line per figure.
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --pods N            default 20000
//   --rate N            changes of pods a second; default 1000
//   --seconds N         for how long; default 30
//   --node-flags="A B"  starts the monitor with these flags for node, such as --cpu-prof
import { mkdtempSync, rmSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Client, http2Client } from './load/client.ts'
import { must, podName, podsOf } from './load/figures.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'
import { type RunningPart, cpuSeconds, pause, resident, startPart, startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    pods: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '30' },
    'node-flags': { type: 'string', default: '' },
  },
})
const podCount = Number(args.pods)
const rate = Number(args.rate)
const seconds = Number(args.seconds)
const wanted = { cores: 0.3, memoryMb: 150, podSeriesMs: 250, histogramsMs: 5 }

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown>) => console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** A node's report of a pod: it runs and is ready, or it has lost its sandbox. */
function status(isReady: boolean, scheduledMs: number, nowMs: number): string {
  const conditions = [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: time(scheduledMs) },
    ...['PodReadyToStartContainers', 'Ready'].map((type) => ({ type, status: isReady ? 'True' : 'False', lastTransitionTime: time(nowMs) })),
  ]
  return JSON.stringify({ status: { phase: isReady ? 'Running' : 'Pending', startTime: time(scheduledMs), conditions } })
}

const say = (client: Client, index: number, isReady: boolean, scheduledMs: number, nowMs: number) =>
  must(client, 200, 'PATCH', `${podsOf('default')}/${podName(index)}/status`, status(isReady, scheduledMs, nowMs), 'application/strategic-merge-patch+json')

/** Makes all pods, which are ready, and the config map that they name: without it each wait would be an error of its user. */
async function makePods(client: Client): Promise<void> {
  await must(client, 201, 'POST', '/api/v1/namespaces/default/configmaps', JSON.stringify({ metadata: { name: 'web' }, data: { mode: 'production' } }))
  const startMs = Date.now()
  await inParallel(podCount, 32, async (index) => {
    await must(client, 201, 'POST', podsOf('default'), podText(podName(index)).replace('"spec":{', '"spec":{"nodeName":"n1",'))
    await say(client, index, true, startMs, startMs + 3000)
  })
}

/** So many changes a second, spread evenly: sandboxes are lost and made anew in turn, which is all that can happen to them. */
async function change(client: Client): Promise<number> {
  const began = performance.now()
  let sent = 0
  let answered = 0
  const steps: Promise<unknown>[] = []
  while (performance.now() - began < seconds * 1000) {
    const due = ((performance.now() - began) / 1000) * rate
    for (; sent < due; sent++) {
      const index = sent % podCount
      const isReady = Math.floor(sent / podCount) % 2 === 1
      const nowMs = Date.now() + 60_000 + Math.floor(sent / podCount) * 60_000
      steps.push(say(client, index, isReady, nowMs, nowMs).then(() => answered++))
    }
    await pause(5)
  }
  await Promise.all(steps)
  return answered / ((performance.now() - began) / 1000)
}

const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false })

/** Reads the metrics: how long it takes until all of it is there. */
function scrape(url: URL): Promise<{ ms: number; text: string }> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    https
      .get(new URL('/metrics', url), { agent }, async (response) => {
        const pieces: Buffer[] = []
        for await (const piece of response) pieces.push(piece as Buffer)
        resolve({ ms: performance.now() - began, text: Buffer.concat(pieces).toString() })
      })
      .on('error', reject)
  })
}

async function timeScrapes(figure: string, { url }: RunningPart, prefix: string, limitMs: number): Promise<void> {
  const times: number[] = []
  let text = ''
  for (let round = 0; round < 15; round++) {
    const scraped = await scrape(url)
    times.push(scraped.ms)
    text = scraped.text
    await pause(200)
  }
  const lines = text.split('\n').filter((line) => line.startsWith(prefix))
  report(figure, quantile(times, 0.5), 'ms', { wanted: limitMs, series: lines.length, ofOneName: Math.max(...countByName(lines)), bytes: text.length, worst: rounded(Math.max(...times)), best: rounded(Math.min(...times)) })
}

function countByName(lines: readonly string[]): number[] {
  const counts = new Map<string, number>([['', 0]])
  for (const line of lines) {
    const name = line.slice(0, line.indexOf('{'))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts.values()]
}

const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-monitor-'))
const server = await startServer(args.program)
const client = await http2Client(readTarget(server.kubeconfig), 2)
const startMonitor = (modes: string) =>
  startPart(['monitor', '--kubeconfig', server.kubeconfig, '--port', '0', '--data-dir', path.join(dir, modes), '--modes', modes], args.program, nodeFlags)

await makePods(client)
const began = performance.now()
const monitor = await startMonitor('pods,histograms')
report('monitor, start with all pods', (performance.now() - began) / 1000, 's', { pods: podCount })
await pause(3000)
report('monitor, memory at rest', resident(monitor.pid).rss, 'MB', { pods: podCount, wanted: wanted.memoryMb })
let mostMb = 0
const sampling = setInterval(() => (mostMb = Math.max(mostMb, resident(monitor.pid).rss)), 250)
const before = { cpu: cpuSeconds(monitor.pid), at: performance.now() }
const reached = await change(client)
const cores = (cpuSeconds(monitor.pid) - before.cpu) / ((performance.now() - before.at) / 1000)
report('monitor, CPU under load', cores, 'cores', { pods: podCount, changesPerSecond: rounded(reached), wanted: wanted.cores, mostMb: rounded(mostMb) })
await timeScrapes('monitor, scrape of series for every pod', monitor, 'kube_pod_', wanted.podSeriesMs)
clearInterval(sampling)
report('monitor, most memory under load and scrapes', mostMb, 'MB', { pods: podCount, changesPerSecond: rounded(reached), wanted: wanted.memoryMb })
await monitor.stop()
const plain = await startMonitor('histograms')
await pause(3000)
await timeScrapes('monitor, scrape of histograms', plain, 'coxswain_pod_sandbox_', wanted.histogramsMs)
await plain.stop()
client.close()
await server.stop()
rmSync(dir, { recursive: true, force: true })
process.exit(0)
