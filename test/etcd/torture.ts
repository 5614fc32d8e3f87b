import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openEtcdStore } from '../../src/store/index.ts'
import { TlsClient } from '../e2e/tls-client.ts'
import { SeededRandom } from '../seeded-random.ts'
import { CutProxy } from './cut-proxy.ts'
import { EtcdCluster, freePorts } from './etcd-cluster.ts'
import { ApiReplica } from './api-replica.ts'
import { Clients } from './ledger-clients.ts'
import { type Operation, type Version, violations } from './linearizable.ts'
import { Follower } from './follower.ts'
import { PartProcess } from './part-process.ts'
import { type OwnedChange, Rollouts, judgeRollouts, podPrefix, setPrefix } from './rollouts.ts'

export interface TortureOptions {
  seconds: number
  seed: number
  say?(line: string): void
}

export interface TortureReport {
  /** Everything that must not happen. */
  problems: string[]
  faults: number
  acknowledged: number
  refused: number
  unknown: number
  reads: number
  events: number
  /**
   * Rollouts that were begun, the most pods that one Deployment had at a time, and how often another process has become
   * the leader.
   */
  rollouts: number
  mostPods: number
  leaders: number
}

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager'
/** Shorter than by default, so that a short run sees leaders change. */
const terms = ['--leader-elect-lease-duration', '5s', '--leader-elect-renew-deadline', '4s', '--leader-elect-retry-period', '1s']
/**
 * The time limit of rollouts after the faults: a lease has to expire, and requests without a response have to time out.
 */
const finishMs = 120_000

/** A run has at least this many faults. */
const fewestFaults = 5

export const torturedPath = '/api/v1/namespaces/default/configmaps'
const torturedPrefix = '/registry/configmaps/default/'

/**
 * Two API servers on three members of etcd, with a proxy on each link, and two replicas of the controllers, while all
 * of them are killed or stopped and links are cut at random. Answers what clients and watches saw that must not be.
 */
export async function torture({ seconds, seed, say = () => {} }: TortureOptions): Promise<TortureReport> {
  const random = new SeededRandom(seed)
  const dir = mkdtempSync(path.join(tmpdir(), 'torture-'))
  const cluster = await EtcdCluster.start({ members: 3 })
  const links: CutProxy[][] = []
  const replicas: ApiReplica[] = []
  const parts: PartProcess[] = []
  const ports = await freePorts(2)
  try {
    for (const [i, port] of ports.entries()) {
      const proxies = cluster.members.map(({ clientPort }) => new CutProxy(clientPort))
      const urls = await Promise.all(proxies.map((proxy) => proxy.listen()))
      links.push(proxies)
      // Each prefers another member.
      replicas.push(new ApiReplica(path.join(dir, `server-${i}`), port, [...urls.slice(i), ...urls.slice(0, i)]))
    }
    for (const replica of replicas) await replica.start()
    const conf = (i: number, name: string) => ['--kubeconfig', path.join(dir, `server-${i}`, name), '--log-level', 'error']
    const controllers = [0, 1].map((i) => new PartProcess(`controllers-${i}`, ['controllers', ...conf(i, 'controller-manager.conf'), '--use-service-account-credentials', ...terms]))
    const node = new PartProcess('nodes', ['node', ...conf(0, 'kubeconfig'), '--runtime', 'simulated', '--nodes', '2', '--node-name', 'n'])
    parts.push(...controllers, new PartProcess('scheduler', ['scheduler', ...conf(1, 'scheduler.conf'), ...terms]), node)
    for (const part of parts) part.start()
    const witness = await openEtcdStore({ servers: cluster.urls })
    const history: { key: string; revision: number; value: string | undefined; previous: number }[] = []
    await witness.watch(torturedPrefix, witness.revision, (events) => {
      for (const event of events) history.push({ key: event.key, revision: event.revision, value: event.type === 'put' ? valueOf(event.value) : undefined, previous: event.previous?.revision ?? 0 })
    })
    const owned: OwnedChange[] = []
    for (const prefix of [podPrefix, setPrefix]) {
      await witness.watch(prefix, witness.revision, (events) => {
        for (const event of events) owned.push({ key: event.key, revision: event.revision, object: event.type === 'put' ? (JSON.parse(event.value.toString()) as OwnedChange['object']) : undefined })
      })
    }
    const start = witness.revision
    const tls = replicas.map(({ kubeconfig }) => new TlsClient(kubeconfig, 32, 8000))
    const followers = tls.map((client) => new Follower(client, start))
    for (const follower of followers) follower.start()
    const clients = new Clients(tls, random)
    clients.start(6)
    const rollouts = new Rollouts(tls, random)
    await rollouts.start()
    const faults = await disturb({ cluster, links, replicas, controllers, random, endMs: Date.now() + seconds * 1000, say })
    await heal({ cluster, links, replicas, controllers })
    await Promise.all([clients.stop(), rollouts.stop()])
    const healedMs = Date.now()
    const unfinished = await rollouts.unfinished(tls[0]!, finishMs)
    say(`rollouts have ended after ${Date.now() - healedMs} ms`)
    const leaders = (JSON.parse((await tls[0]!.http1({ path: leasePath })).text) as { spec: { leaseTransitions?: number } }).spec.leaseTransitions ?? 0
    await Promise.all(tls.map((_, server) => clients.readAll(server)))
    await witness.waitUntilSeen!(await witness.currentRevision!())
    const newest = history.at(-1)?.revision ?? start
    for (const follower of followers) await follower.reach(newest)
    const judged = judgeRollouts(owned.toSorted((a, b) => a.revision - b.revision))
    const problems = [...judge(clients, history, followers), ...judged.problems, ...unfinished, ...parts.flatMap((part) => part.problems)]
    for (const client of tls) client.close()
    await witness.close()
    return { problems, faults, ...clients.counts, events: history.length, rollouts: rollouts.begun, mostPods: judged.mostPods, leaders }
  } finally {
    for (const part of parts) await part.kill()
    for (const replica of replicas) await replica.kill()
    for (const proxy of links.flat()) await proxy.close()
    await cluster.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

interface Disturbed {
  cluster: EtcdCluster
  links: readonly (readonly CutProxy[])[]
  replicas: readonly ApiReplica[]
  controllers: readonly PartProcess[]
}

const waitMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * One fault after the other, each for a while (`moreMs` longer, where a lease is to run out); sometimes two at once.
 * Answers how many.
 */
async function disturb({ cluster, links, replicas, controllers, random, endMs, say }: Disturbed & { random: SeededRandom; endMs: number; say(line: string): void }): Promise<number> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)]!
  const faults: (() => { what: string; begin(): unknown; end(): unknown; moreMs?: number })[] = [
    () => {
      const member = pick(cluster.members)
      return { what: `kill ${member.name}`, begin: () => member.kill(), end: () => member.start() }
    },
    () => {
      const member = pick(cluster.members)
      return { what: `stop ${member.name}`, begin: () => member.pause(), end: () => member.resume() }
    },
    () => {
      const link = pick(links.flat())
      const mode = pick(['refuse', 'silent', 'swallow answers'] as const)
      return { what: `cut a link: ${mode}`, begin: () => link.set(mode), end: () => { link.set('pass'); link.cut() } }
    },
    () => {
      const all = pick(links)
      return { what: 'cut a server off', begin: () => all.forEach((link) => link.set('refuse')), end: () => all.forEach((link) => link.set('pass')) }
    },
    () => {
      const replica = pick(replicas)
      return { what: 'stop a server', begin: () => replica.pause(), end: () => replica.resume() }
    },
    () => {
      const replica = pick(replicas)
      return { what: 'kill a server', begin: () => replica.kill(), end: () => replica.start() }
    },
    () => {
      const part = pick(controllers)
      return { what: `stop ${part.name}`, begin: () => part.pause(), end: () => part.resume(), moreMs: 6000 }
    },
    () => {
      const part = pick(controllers)
      return { what: `kill ${part.name}`, begin: () => part.kill(), end: () => part.start() }
    },
  ]
  let made = 0
  // A busy machine may take longer for a few faults than a short run lasts.
  while (Date.now() < endMs || made < fewestFaults) {
    const chosen = Array.from({ length: random.next() < 0.2 ? 2 : 1 }, () => pick(faults)())
    say(chosen.map(({ what }) => what).join(', '))
    made += chosen.length
    for (const { begin } of chosen) await begin()
    const moreMs = Math.max(...chosen.map((one) => one.moreMs ?? 0))
    await waitMs(300 + random.next() * (1700 + moreMs))
    // Together: a server that is started again may need a link that the other fault has cut.
    await Promise.all(chosen.map(({ end }) => end()))
    await waitMs(random.next() * 700)
  }
  return made
}

/** Everything runs and is connected again, and both servers answer. */
async function heal({ cluster: { members }, links, replicas, controllers }: Disturbed): Promise<void> {
  for (const part of controllers) part.start()
  for (const member of members) member.resume()
  for (const link of links.flat()) link.set('pass')
  for (const replica of replicas) await replica.start()
  for (const replica of replicas) await replica.untilAnswering(torturedPath)
}

const valueOf = (bytes: Buffer): string => (JSON.parse(bytes.toString()) as { data?: { value?: string } }).data?.value ?? ''

function judge(clients: Clients, history: readonly { key: string; revision: number; value: string | undefined; previous: number }[], followers: readonly Follower[]): string[] {
  const problems: string[] = []
  const written = new Map<string, number[]>()
  const deletedFrom = new Map<number, number>()
  const versions = new Map<string, Version[]>()
  for (const { key, revision, value, previous } of history) {
    const name = key.slice(torturedPrefix.length)
    if (!clients.keys.includes(name)) continue
    versions.set(name, [...(versions.get(name) ?? []), { version: revision, isAbsent: value === undefined }])
    if (value === undefined) deletedFrom.set(previous, revision)
    else written.set(value, [...(written.get(value) ?? []), revision])
  }
  for (const [value, revisions] of written) if (revisions.length > 1) problems.push(`written twice: ${value} at ${revisions.join(', ')}`)
  for (const { value, revision } of clients.acknowledged) if (written.get(value)?.[0] !== revision) problems.push(`acknowledged at ${revision} and lost: ${value}`)
  for (const value of clients.refused) if (written.has(value)) problems.push(`refused, and written all the same: ${value} at ${written.get(value)!.join(', ')}`)
  const operations: Operation[] = clients.operations.map((operation) => ({ ...operation, version: operation.deletes === undefined ? operation.version : deletedFrom.get(operation.deletes) }))
  for (const { key, deletes, isAcknowledged } of clients.operations) if (deletes !== undefined && isAcknowledged && !deletedFrom.has(deletes)) problems.push(`deleted, and still there: ${key} at ${deletes}`)
  problems.push(...violations(operations, versions))
  const all = history.map(({ key, revision, value }) => `${value === undefined ? 'DELETED' : 'set'} ${key.slice(torturedPrefix.length)} ${revision}`)
  for (const [i, follower] of followers.entries()) {
    problems.push(...follower.problems.map((problem) => `watch ${i}: ${problem}`))
    const at = follower.seen.findIndex((line, j) => line !== all[j])
    if (at >= 0) problems.push(`watch ${i}: saw ${follower.seen[at]} where ${all[at]} happened`)
    else if (follower.seen.length !== all.length) problems.push(`watch ${i}: saw ${follower.seen.length} of ${all.length} events`)
  }
  return problems
}
