// What the dashboard costs while a large Deployment is rolled out: the browser's long tasks, the time until a page is ready, the server's CPU for one viewer and for ten. Prints one JSON line per figure.
//   --pods N --nodes N  of the Deployment, on simulated nodes; default 30000 and 300
//   --rounds N          rollouts without a viewer, with one and with ten, in turn; default 1
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { WebSocket } from 'ws'
import { startBrowser, visit } from '../test/kubectl/browser.ts'
import { kubectlBinary } from '../test/kubectl/kubectl-binary.ts'
import { startEverything } from './load/everything.ts'
import { rounded } from './load/measure.ts'
import { cpuSeconds, pause } from './load/server.ts'

const { values: args } = parseArgs({ options: { pods: { type: 'string', default: '30000' }, nodes: { type: 'string', default: '300' }, rounds: { type: 'string', default: '1' } } })
const podCount = Number(args.pods)
/** Other viewers than the browser. */
const others = 9
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-dashboard-'))
const topic = 'pods Deployment default/web'

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown> = {}) =>
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const everything = await startEverything(path.resolve('bin/coxswain'), dataDir, [], ['--runtime', 'simulated', '--nodes', args.nodes, '--node-name', 'n', '--dashboard-port', '0'])
const kubectl = async (...command: string[]) => (await promisify(execFile)(kubectlBinary(process.cwd()), ['--kubeconfig', everything.kubeconfig, ...command])).stdout
const browser = await startBrowser()

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    // A kubectl that a busy machine keeps from connecting is no end of the bench.
    if (await isSo().catch(() => false)) return
    await pause(300)
  }
  throw new Error(`it did not happen: ${what}`)
}

const status = async (field: string) => kubectl('get', 'deployment', 'web', '-o', `jsonpath={.status.${field}}`)
const isRolledOut = async () => (await status('updatedReplicas')) === args.pods && (await status('availableReplicas')) === args.pods && (await status('replicas')) === args.pods

interface Rollout {
  cpu: number
  seconds: number
}

/** Rolls the Deployment out once more, and tells what that took of the server. */
async function rollOut(): Promise<Rollout> {
  const [before, started] = [cpuSeconds(everything.pid), performance.now()]
  await kubectl('rollout', 'restart', 'deployment/web')
  await pause(1000)
  await until('the rollout', isRolledOut)
  return { cpu: cpuSeconds(everything.pid) - before, seconds: (performance.now() - started) / 1000 }
}

try {
  await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=0')
  await kubectl('patch', 'deployment', 'web', '--type=merge', '-p', JSON.stringify({ spec: { replicas: podCount, progressDeadlineSeconds: 3600, template: { spec: { terminationGracePeriodSeconds: 0 } } } }))
  await until('all pods are available', isRolledOut)
  const link = await everything.link
  const { origin } = new URL(link)
  const { page, context } = await visit(browser)
  await context.addInitScript("globalThis.longTasks = []; new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => longTasks.push(duration))).observe({ entryTypes: ['longtask'] })")
  await page.goto(link)
  await page.getByRole('row').filter({ hasText: 'web' }).waitFor()
  await page.goto('about:blank')
  /** Opens the workload's page, and answers the milliseconds until all pods are drawn. */
  const open = async () => {
    const started = performance.now()
    await page.goto(`${origin}/workloads/Deployment/default/web`)
    await page.waitForFunction((count) => Number((globalThis as unknown as { document: { querySelector(at: string): { dataset: { pods: string } } | null } }).document.querySelector('canvas')?.dataset.pods) >= count, podCount, { timeout: 30_000, polling: 20 })
    return performance.now() - started
  }
  const ready: number[] = []
  for (let i = 0; i < 5; i++) ready.push(await open())
  report('page ready', ready.toSorted((a, b) => a - b)[2]!, 'ms', { pods: podCount, all: ready.map(Math.round) })
  const [cookie] = await context.cookies(origin)
  const follow = () => {
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/stream`, { origin, headers: { cookie: `${cookie!.name}=${cookie!.value}` } })
    const counted = { bytes: 0, socket }
    socket.on('open', () => socket.send(JSON.stringify({ topics: [{ name: 'workloads' }, { name: topic }] })))
    socket.on('message', (data: Buffer) => (counted.bytes += data.length))
    return counted
  }
  const first = follow()
  await pause(2000)
  report('snapshot', first.bytes / 1000, 'KB', { pods: podCount })
  first.socket.close()
  for (let round = 0; round < Number(args.rounds); round++) {
    await page.goto('about:blank')
    const none = await rollOut()
    await open()
    const one = await rollOut()
    const tasks = await page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks)
    const sockets = Array.from({ length: others }, follow)
    const ten = await rollOut()
    for (const { socket } of sockets) socket.close()
    report('longest task of the browser', Math.max(0, ...tasks), 'ms', { tasksOver50Ms: tasks.length, seconds: Math.round(one.seconds) })
    report('server CPU for one viewer', (100 * (one.cpu - none.cpu)) / one.seconds, '% of a core', { without: none, with: one })
    report('server CPU for ten viewers', (100 * (ten.cpu - none.cpu)) / ten.seconds, '% of a core', { with: ten, kilobytesEach: Math.round(sockets[0]!.bytes / 1000), ofRolloutWithOne: rounded(ten.cpu / one.cpu) })
  }
} finally {
  await browser.close()
  await everything.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
