// Measures API servers on etcd beside one on the embedded store, in the same run. Prints one JSON line per figure.
//
// etcd (one member, or --members N) and the API servers are processes of their own, the load is this one.
//   --program FILE      a program to run with node instead of bin/coxswain, for comparisons
//   --node-flags="A B"  starts it with these flags for node, such as --cpu-prof
//   --pods N            how many pods a server is restarted with; default 100,000
//   --only A,B          only these parts: creates, reads, lists, restart
import path from 'node:path'
import { parseArgs } from 'node:util'
import { EtcdCluster } from '../test/etcd/etcd-cluster.ts'
import { http1Client, http2Client } from './load/client.ts'
import { type Bench, clients, createPods, http2Connections, listing, makeNamespace, must, podName, podsOf, throughput, watchedCreates } from './load/figures.ts'
import { inParallel, rounded } from './load/measure.ts'
import { type RunningServer, cpuSeconds, resident, startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

const { values: args } = parseArgs({
  options: {
    program: { type: 'string', default: path.resolve('bin/coxswain') },
    'node-flags': { type: 'string', default: '' },
    members: { type: 'string', default: '1' },
    pods: { type: 'string', default: '100000' },
    only: { type: 'string' },
  },
})
const parts = args.only?.split(',')
const wants = (part: string) => !parts || parts.includes(part)
const nodeFlags = args['node-flags'].split(' ').filter((flag) => flag !== '')
const count = { warmUp: 2000, creates: 8000, gets: 20_000, listed: 10_000, lists: 10, freshLists: 4000 }

const members = Number(args.members)
const etcd = await EtcdCluster.start({ members })
const engines: Readonly<Record<string, readonly string[]>> = {
  [`etcd of ${members}`]: ['--store', 'etcd', '--etcd-servers', etcd.urls.join(',')],
  embedded: [],
}
const started = new Set<RunningServer>()
async function start(engine: string): Promise<RunningServer> {
  const server = await startServer(args.program, nodeFlags, engines[engine])
  started.add(server)
  return server
}
async function stop(server: RunningServer): Promise<void> {
  started.delete(server)
  await server.stop()
}

const report: Bench['report'] = (figure, value, unit, detail = {}) => {
  console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))
}

const benchOf = (server: RunningServer, engine: string): Bench => ({
  target: readTarget(server.kubeconfig),
  serverCpu: () => cpuSeconds(server.pid),
  report: (figure, ...rest) => report(`${figure}, ${engine}`, ...rest),
})

/** Creates, and how soon watchers have them. */
async function creates(bench: Bench): Promise<void> {
  const client = await http2Client(bench.target, http2Connections)
  const namespace = 'bench-creates'
  await makeNamespace(client, namespace)
  await inParallel(count.warmUp, clients, createPods(client, namespace, 0))
  await throughput(bench, 'creates', count.creates, createPods(client, namespace, count.warmUp))
  client.close()
  const from = count.warmUp + count.creates
  await watchedCreates(bench, { figure: '10 watchers', namespace, from, count: count.creates, watchers: 10, width: clients, protocol: 'HTTP/2' })
}

/** Reads that must be fresh, without a resourceVersion, and reads from memory. */
async function reads(bench: Bench, others: readonly RunningServer[]): Promise<void> {
  const namespace = 'bench-reads'
  const targets = [bench.target, ...others.map(({ kubeconfig }) => readTarget(kubeconfig))]
  const connected = await Promise.all(targets.map((target) => http2Client(target, http2Connections)))
  if (others.length === 0) {
    await makeNamespace(connected[0]!, namespace)
    await inParallel(count.warmUp, clients, createPods(connected[0]!, namespace, 0))
  }
  for (const [figure, query] of [['fresh gets', ''], ['gets of resourceVersion=0', '?resourceVersion=0']] as const) {
    const one = (index: number) => {
      const client = connected[index % connected.length]!
      return must(client, 200, 'GET', `${podsOf(namespace)}/${podName(index % count.warmUp)}${query}`)
    }
    await inParallel(count.warmUp, clients, one)
    await throughput(bench, `${figure}, servers: ${targets.length}`, count.gets, one)
  }
  for (const client of connected) client.close()
}

async function lists(bench: Bench): Promise<void> {
  const client = await http2Client(bench.target, http2Connections)
  const namespace = 'bench-lists'
  await makeNamespace(client, namespace)
  await inParallel(count.listed, clients, createPods(client, namespace, 0))
  client.close()
  await listing(bench, 'list of 10,000 pods', podsOf(namespace), count.lists)
  await listing(bench, 'list of 10,000 pods, resourceVersion=0', `${podsOf(namespace)}?resourceVersion=0`, count.lists)
}

/** The time from the spawn of a server to its first ok of /readyz, with many pods in the store. */
async function restart(engine: string): Promise<void> {
  const pods = Number(args.pods)
  const first = await start(engine)
  const client = http1Client(readTarget(first.kubeconfig), clients)
  await makeNamespace(client, 'bench-restart')
  await inParallel(pods, clients, createPods(client, 'bench-restart', 0))
  client.close()
  await stop(first)
  const again = await start(engine)
  const { rss, own } = resident(again.pid)
  report(`restart with ${pods} pods until ready, ${engine}`, again.startMs, 'ms', { cpuMs: rounded(cpuSeconds(again.pid) * 1000), residentMb: rounded(rss), ownMb: rounded(own) })
  await stop(again)
}

try {
  for (const engine of Object.keys(engines)) {
    const server = await start(engine)
    const bench = benchOf(server, engine)
    if (wants('creates')) await creates(bench)
    if (wants('lists')) await lists(bench)
    if (wants('reads')) {
      await reads(bench, [])
      if (engine !== 'embedded') {
        const second = await start(engine)
        await reads(bench, [second])
        await stop(second)
      }
    }
    await stop(server)
  }
  if (wants('restart')) await restart(`etcd of ${members}`)
} finally {
  for (const server of started) await server.stop()
  await etcd.stop()
}
