// Measures the dashboard while a large Deployment is rolled out, and with a long list: the browser's long tasks, the time
// until a page is ready, the server's CPU for one viewer and for ten. Prints one JSON line per figure.
//   --pods N --nodes N  of the Deployment, on simulated nodes; default 30000 and 300
//   --rows N            workloads of the list; default 10000
//   --seconds N         for each measurement during the rollout; default 40
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { WebSocket } from 'ws'
import { HttpTransport, loadAccess } from '../src/client/index.ts'
import { startBrowser, visit } from '../test/kubectl/browser.ts'
import { kubectlBinary } from '../test/kubectl/kubectl-binary.ts'
import { CpuShares } from './load/cpu-share.ts'
import { startEverything } from './load/everything.ts'
import { inParallel, rounded } from './load/measure.ts'
import { freePort, pause } from './load/server.ts'

const { values: args } = parseArgs({
  options: {
    pods: { type: 'string', default: '30000' }, nodes: { type: 'string', default: '300' }, rows: { type: 'string', default: '10000' }, seconds: { type: 'string', default: '40' },
  },
})
const podCount = Number(args.pods)
const rowCount = Number(args.rows)
const forMs = Number(args.seconds) * 1000
/** Other viewers than the browser. */
const others = 9
const program = path.resolve('bin/coxswain')
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-dashboard-'))
const topic = 'pods Deployment default/web'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown> = {}) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const port = await freePort()
const everything = await startEverything(program, dataDir, [`--inspect=127.0.0.1:${port}`], ['--runtime', 'simulated', '--nodes', args.nodes, '--node-name', 'n', '--dashboard-port', '0'])
const kubectl = async (...command: string[]) => (await promisify(execFile)(kubectlBinary(process.cwd()), ['--kubeconfig', everything.kubeconfig, ...command])).stdout
const client = new HttpTransport(await loadAccess({ file: everything.kubeconfig }))
const browser = await startBrowser()
const shares = await CpuShares.of(everything.pid, port, program)

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    // A kubectl that a busy machine keeps from connecting is no end of the bench.
    if (await isSo().catch(() => false)) return
    await pause(300)
  }
  throw new Error(`it did not happen: ${what}`)
}

const status = async (field: string) => Number(await kubectl('get', 'deployment', 'web', '-o', `jsonpath={.status.${field}}`))
const isRolledOut = async () => (await status('updatedReplicas')) === podCount && (await status('availableReplicas')) === podCount && (await status('replicas')) === podCount

const { page, context } = await visit(browser)
await context.addInitScript("globalThis.longTasks = []; new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => longTasks.push(duration))).observe({ entryTypes: ['longtask'] })")

/** The browser's tasks of more than 50 ms while something is done. */
async function longTasks(work: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate('void longTasks.splice(0)')
  await work()
  return page.evaluate('longTasks')
}

const reportTasks = (what: string, tasks: number[], detail: Record<string, unknown>) =>
  report(`longest task of the browser, ${what}`, Math.max(0, ...tasks), 'ms', { wanted: 100, over50Ms: tasks.map(Math.round).toSorted((a, b) => b - a).slice(0, 20), ...detail })

/** Waits until an element says that it has so many things. The page's policy forbids conditions that are text. */
async function shows(selector: string, attribute: string, count: number): Promise<void> {
  const isSo = ([at, name, wanted]: [string, string, number]) => {
    const { document } = globalThis as unknown as { document: { querySelector(at: string): { getAttribute(name: string): string } | null } }
    return Number(document.querySelector(at)?.getAttribute(name)) >= wanted
  }
  await page.waitForFunction(isSo, [selector, attribute, count] as [string, string, number], { timeout: 60_000, polling: 20 })
}

/** Opens the workload's page, and answers the milliseconds until all pods are drawn. */
async function open(origin: string): Promise<number> {
  const started = performance.now()
  await page.goto(`${origin}/workloads/Deployment/default/web`)
  await shows('canvas', 'data-pods', podCount)
  return performance.now() - started
}

async function rollout(origin: string): Promise<void> {
  const ready: number[] = []
  for (let i = 0; i < 5; i++) ready.push(await open(origin))
  report('page ready', ready.toSorted((a, b) => a - b)[2]!, 'ms', { pods: podCount, all: ready.map(Math.round), wanted: 1000 })
  const [cookie] = await context.cookies(origin)
  const follow = () => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/stream`, { origin, headers: { cookie: `${cookie!.name}=${cookie!.value}` } })
    // A page reads the details again whenever the row has changed, at most every two seconds.
    const details = setInterval(() => void fetch(`${origin}/api/workload?kind=Deployment&namespace=default&name=web`, { headers: { cookie: `${cookie!.name}=${cookie!.value}` } }).then((answer) => answer.arrayBuffer()).catch(() => {}), 2000)
    socket.on('close', () => clearInterval(details))
    const counted = { bytes: 0, socket }
    socket.on('open', () => socket.send(JSON.stringify({ topics: [{ name: 'workloads' }, { name: topic }] })))
    socket.on('message', (data: Buffer) => (counted.bytes += data.length))
    return counted
  }
  const first = follow()
  await pause(2000)
  report('snapshot', first.bytes / 1000, 'KB', { pods: podCount })
  first.socket.close()
  await kubectl('rollout', 'restart', 'deployment/web')
  await until('the rollout has begun', async () => (await status('updatedReplicas')) < podCount * 0.9)
  const slice = async () => {
    const progress = async () => ((await status('updatedReplicas')) + (await status('availableReplicas'))) / 2
    const before = await progress()
    const at = performance.now()
    const share = await shares.measure(forMs, '/dashboard/')
    return { ...share, podsPerSecond: rounded((((await progress()) - before) / (performance.now() - at)) * 1000) }
  }
  let one: Awaited<ReturnType<typeof slice>> | undefined
  const tasks = await longTasks(async () => (one = await slice()))
  reportTasks('pods rolling', tasks, { pods: podCount, podsPerSecond: one!.podsPerSecond })
  const sockets = Array.from({ length: others }, follow)
  await pause(2000)
  const ten = await slice()
  for (const { socket } of sockets) socket.close()
  report('server CPU for one viewer', 100 * one!.folder, '% of a core', { ...one, wanted: 5 })
  report('server CPU for ten viewers', 100 * ten.folder, '% of a core', { ...ten, timesOne: rounded(ten.folder / ten.whole / (one!.folder / one!.whole)), wanted: 1.5 })
}

/** A list of many workloads, a hundred of which change each second. */
async function list(origin: string): Promise<void> {
  const names = Array.from({ length: rowCount }, (_, i) => `service-${i}`)
  await inParallel(rowCount, 16, (i) => {
    const labels = { app: names[i]!, team: `team-${i % 40}` }
    const spec = { replicas: 0, selector: { matchLabels: { app: names[i]! } }, template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } } }
    return client.send({ method: 'POST', path: deployments, body: { metadata: { name: names[i]!, labels }, spec } })
  })
  const started = performance.now()
  await page.goto(`${origin}/`)
  await shows('[role=table]', 'aria-rowcount', rowCount)
  report('list ready', performance.now() - started, 'ms', { rows: rowCount, wanted: 1000 })
  const over = new AbortController()
  const changing = (async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      await client.send({ method: 'PATCH', path: `${deployments}/${names[(i * 7919) % rowCount]}`, body: { spec: { paused: i % 2 === 0 } }, contentType: 'application/merge-patch+json' })
      await pause(10)
    }
  })()
  const scrolled = await longTasks(async () => {
    for (let i = 0; i < 100; i++) {
      await page.mouse.wheel(0, i % 10 === 9 ? 40_000 : 700)
      await pause(40)
    }
  })
  reportTasks('scrolling through the list', scrolled, { rows: rowCount })
  const filtered = await longTasks(async () => {
    for (const text of ['service-77', 'team=team-7', 'nothing-has-this']) {
      await page.getByRole('searchbox').fill('')
      await page.getByRole('searchbox').pressSequentially(text, { delay: 40 })
    }
    await page.getByRole('searchbox').fill('')
    await pause(2000)
  })
  reportTasks('filtering the list', filtered, { rows: rowCount })
  over.abort()
  await changing
}

try {
  const link = await everything.link
  const { origin } = new URL(link)
  await page.goto(link)
  await page.getByRole('link', { name: 'Nodes' }).waitFor()
  if (rowCount > 0) await list(origin)
  await kubectl('delete', 'deployments', '--all', '--wait=false')
  if (podCount > 0) {
    await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=0')
    await kubectl('patch', 'deployment', 'web', '--type=merge', '-p', JSON.stringify({ spec: { replicas: podCount, progressDeadlineSeconds: 3600, template: { spec: { terminationGracePeriodSeconds: 0 } } } }))
    await until('all pods are available', isRolledOut)
    await rollout(origin)
  }
} finally {
  shares.close()
  await client.close()
  await browser.close()
  await everything.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
