// Measures the API server under load, as observed by a client over TLS. Prints one JSON line per figure.
//
// The server runs in a separate process and the load in this one, so that each has a core on a machine with two.
//   --kubeconfig FILE   measures another server, without its start and memory
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts it with these flags for node, such as --cpu-prof
//   --server-flags="A"  starts the server with these flags, such as --authorization-mode=AlwaysAllow
//   --only A,B          only these parts: start, creates, patches, gets, list, fanout, memory
import path from 'node:path'
import { parseArgs } from 'node:util'
import { http1Client, http2Client } from './load/client.ts'
import { type Bench, clients, createPods, http2Connections, listing, makeNamespace, must, podName, podsOf, throughput, watchedCreates } from './load/figures.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { type RunningServer, cpuSeconds, pause, resident, startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
    'server-flags': { type: 'string', default: '' },
    only: { type: 'string' },
  },
})
const parts = args.only?.split(',')
const wants = (part: string) => !parts || parts.includes(part)

const words = (text: string) => text.split(' ').filter((flag) => flag !== '')
const start = () => startServer(args.program, words(args['node-flags']), words(args['server-flags']))

const report: Bench['report'] = (figure, value, unit, detail = {}) => {
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))
}

const idleMs = 3000
const starts = 5
const warmUp = 2000
const load = { creates: 8000, patches: 10_000, gets: 20_000, listed: 2000, lists: 20, fanOut: 500, memory: 20_000 }

async function startAndIdle(): Promise<RunningServer> {
  if (!wants('start')) return start()
  const times: number[] = []
  for (let round = 1; round < starts; round++) {
    const server = await start()
    times.push(server.startMs)
    await server.stop()
  }
  const server = await start()
  times.push(server.startMs)
  report('start to ready', quantile(times, 0.5), 'ms', { rounds: starts, best: rounded(Math.min(...times)), from: 'spawn', to: 'first ok of /readyz', store: 'new' })
  const before = cpuSeconds(server.pid)
  await pause(idleMs)
  const { rss, own } = resident(server.pid)
  report('resident, idle', rss, 'MB', { own: rounded(own), afterMs: idleMs, cpuMs: rounded((cpuSeconds(server.pid) - before) * 1000) })
  return server
}

async function run(bench: Bench): Promise<void> {
  const { target } = bench
  const h1 = http1Client(target, clients)
  const h2 = await http2Client(target, http2Connections)
  const main = 'bench'
  await makeNamespace(h1, main)
  // Pods are numbered through, so that no two of a run have the same name.
  let made = 0
  const create = async (client: typeof h1, namespace: string, count: number) => {
    await inParallel(count, clients, createPods(client, namespace, made))
    made += count
  }

  if (wants('creates')) {
    await throughput(bench, 'creates, the first after the start', warmUp, createPods(h1, main, made))
    made += warmUp
    for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
      const figure = `32 writers, 10 watchers, ${protocol}`
      await watchedCreates(bench, { figure, namespace: main, from: made, count: load.creates, watchers: 10, width: clients, protocol })
      made += load.creates
    }
    await throughput(bench, 'creates, no watchers', load.creates / 2, createPods(h1, main, made))
    made += load.creates / 2
    await create(h2, main, warmUp / 2)
    await throughput(bench, 'creates, HTTP/2', load.creates / 2, createPods(h2, main, made))
    made += load.creates / 2
  } else {
    await create(h1, main, warmUp)
  }
  const patch = (index: number) => JSON.stringify({ metadata: { labels: { round: String(index) } } })
  if (wants('patches')) {
    const one = (index: number) => must(h1, 200, 'PATCH', `${podsOf(main)}/${podName(index % warmUp)}`, patch(index), 'application/merge-patch+json')
    await inParallel(warmUp, clients, one)
    await throughput(bench, 'patches', load.patches, (index) => one(index + warmUp))
  }
  if (wants('gets')) {
    for (const [figure, client] of [['gets', h1], ['gets, HTTP/2', h2]] as const) {
      const one = (index: number) => must(client, 200, 'GET', `${podsOf(main)}/${podName(index % warmUp)}`)
      await inParallel(warmUp, clients, one)
      await throughput(bench, figure, load.gets, one)
    }
  }
  if (wants('list')) {
    const listed = 'bench-list'
    await makeNamespace(h1, listed)
    await create(h1, listed, load.listed)
    await listing(bench, 'list of 2,000 pods', podsOf(listed), load.lists)
  }
  if (wants('fanout')) {
    await watchedCreates(bench, { figure: '100 watchers', namespace: main, from: made, count: load.fanOut, watchers: 100, width: 8, protocol: 'HTTP/2' })
    made += load.fanOut
  }
  h1.close()
  h2.close()
}

/** On a server of its own: what other load leaves behind is not the pods'. */
async function memory(): Promise<void> {
  const server = await start()
  try {
    const client = http1Client(readTarget(server.kubeconfig), clients)
    await makeNamespace(client, 'bench')
    const empty = resident(server.pid)
    await inParallel(load.memory, clients, createPods(client, 'bench', 0))
    client.close()
    await pause(idleMs)
    const { rss, own } = resident(server.pid)
    const perPod = ((own - empty.own) * 1024) / load.memory
    report('resident, 20,000 pods', rss, 'MB', { own: rounded(own), ownPerPodKb: rounded(perPod), afterMs: idleMs })
  } finally {
    await server.stop()
  }
}

const server = args.kubeconfig ? undefined : await startAndIdle()
try {
  const target = readTarget(args.kubeconfig ?? server!.kubeconfig)
  await run({ target, serverCpu: server && (() => cpuSeconds(server.pid)), report })
} finally {
  await server?.stop()
}
if (wants('memory') && !args.kubeconfig) await memory()
