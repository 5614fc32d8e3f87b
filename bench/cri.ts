// Pods in real containers: a containerd of its own, API server and node agent as processes. Prints one JSON line per figure.
// `npm run bench:cri` runs it in namespaces of its own, as root.
//   --program FILE   a program to run with node instead of bin/coxswain, for comparisons
//   --pods N         how many at once; default 60
//   --rounds N       of one pod at a time; default 12
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/logger.ts'
import { HttpTransport, loadAccess } from '../src/client/index.ts'
import { containerConfig, sandboxConfig } from '../src/node/runtimes/conformance/configs.ts'
import { CriRuntime } from '../src/node/runtimes/cri/index.ts'
import { Containerd } from '../test/cri/containerd.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { cpuSeconds, pause, resident, startPart, startServer } from './load/server.ts'

const { values: args } = parseArgs({
  options: { program: { type: 'string', default: path.resolve('bin/coxswain') }, pods: { type: 'string', default: '60' }, rounds: { type: 'string', default: '12' } },
})
const rounds = Number(args.rounds)
const together = Number(args.pods)
const idleSeconds = 30
const mostWaitMs = 120_000

const report = (figure: string, value: number, unit: string, detail: Record<string, unknown>) => console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

const pods = '/api/v1/namespaces/default/pods'
const bodyOf = (name: string) => ({
  metadata: { name },
  spec: { nodeName: 'bench', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox:1.36', command: ['sleep', '100000'] }] },
})

interface PodReply {
  status?: { conditions?: { type: string; status: string }[] }
}
const isReady = ({ status }: PodReply): boolean => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false

/** Looks every few milliseconds until it holds. */
async function until(everyMs: number, holds: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await holds())) {
    if (performance.now() - began > mostWaitMs) throw new Error('pods did not get ready in time')
    await pause(everyMs)
  }
}

/** The same by the runtime alone: sandbox, container, start. */
async function rawMs(containerd: Containerd): Promise<number[]> {
  const directory = path.join(containerd.directory, 'raw')
  const runtime = await CriRuntime.open({ endpoint: containerd.endpoint, owner: 'raw', directory, clock: systemClock, logger: silentLogger })
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    const sandbox = await runtime.runPodSandbox(sandboxConfig(`raw-${round}`, path.join(directory, 'logs')), '', new AbortController().signal)
    const container = await runtime.createContainer(sandbox, containerConfig('main', { command: ['sleep', '100000'] }))
    await runtime.startContainer(container)
    took.push(performance.now() - began)
    await runtime.removePodSandbox(sandbox)
  }
  await runtime.close()
  return took
}

async function podMs(client: HttpTransport): Promise<number[]> {
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const name = `one-${round}`
    const began = performance.now()
    await client.send({ method: 'POST', path: pods, body: bodyOf(name) })
    await until(3, async () => isReady(await client.send<PodReply>({ method: 'GET', path: `${pods}/${name}` })))
    took.push(performance.now() - began)
    await client.send({ method: 'DELETE', path: `${pods}/${name}`, body: { gracePeriodSeconds: 0 } })
    await until(20, async () => (await client.send<{ items: unknown[] }>({ method: 'GET', path: pods })).items.length === 0)
    await pause(300)
  }
  return took
}

const containerd = await Containerd.start()
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-cri-'))
try {
  const raw = await rawMs(containerd)
  const server = await startServer(args.program)
  const node = await startPart(
    ['node', '--kubeconfig', server.kubeconfig, '--node-name', 'bench', '--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint, '--data-dir', dataDir],
    args.program,
  )
  const client = new HttpTransport(await loadAccess({ file: server.kubeconfig }))
  report('node, memory without pods', resident(node.pid).rss, 'MB', { own: rounded(resident(node.pid).own) })
  const one = await podMs(client)
  const [rawMedian, podMedian] = [quantile(raw, 0.5), quantile(one, 0.5)]
  report('sandbox, container and start by the runtime alone, p50', rawMedian, 'ms', { rounds })
  report('pod to Ready, image present, p50', podMedian, 'ms', { rounds, ratio: rounded(podMedian / rawMedian), wanted: 1.5 })

  const began = performance.now()
  const cpu = cpuSeconds(node.pid)
  await inParallel(together, 16, (i) => client.send({ method: 'POST', path: pods, body: bodyOf(`many-${i}`) }))
  await until(50, async () => (await client.send<{ items: PodReply[] }>({ method: 'GET', path: pods })).items.filter(isReady).length === together)
  report(`${together} pods at once, until all are Ready`, (performance.now() - began) / 1000, 's', { agentCpuSeconds: rounded(cpuSeconds(node.pid) - cpu), wanted: 12 })
  await pause(5000)
  report(`node, memory with ${together} pods`, resident(node.pid).rss, 'MB', { own: rounded(resident(node.pid).own), wanted: 60 })
  const idle = { cpu: cpuSeconds(node.pid), at: performance.now() }
  await pause(idleSeconds * 1000)
  const cores = (cpuSeconds(node.pid) - idle.cpu) / ((performance.now() - idle.at) / 1000)
  report(`node, idle with ${together} pods`, cores * 100, '% of a core', { wanted: 1 })

  const ended = performance.now()
  await inParallel(together, 16, (i) => client.send({ method: 'DELETE', path: `${pods}/many-${i}`, body: { gracePeriodSeconds: 0 } }))
  await until(50, async () => (await containerd.ctr('tasks', 'ls', '-q')).trim() === '')
  report(`${together} pods deleted, until nothing of them runs`, (performance.now() - ended) / 1000, 's', {})
  await client.close()
  await node.stop()
  await server.stop()
} finally {
  await containerd.remove()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
