// Measures the cost that authorization with an audit log, and field ownership, add to a write. Two servers in this process, otherwise equal,
// are called alternately without sockets, each with a durable store. Prints one JSON line per figure. CPU is that of the whole process,
// including the garbage collector.
//   --only access,ownership   a part of it
//   --rounds N                rounds of both servers (30)
//   --writes N                writes of each kind in a round (500)
//   --trials N                runs of the whole, each with servers of its own (3)
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FeatureGates } from '../src/api/feature-gates.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/logger.ts'
import { systemRandom } from '../src/base/random.ts'
import { openAudit } from '../src/cluster/serving/audit.ts'
import { ApiServer, type ApiServerOptions, Authenticator, admissionPlugins } from '../src/server/index.ts'
import type { Body } from '../src/server/http/exchange/exchange.ts'
import { openLmdbStore } from '../src/store/index.ts'
import { type Headers, MemoryExchange, type Sent } from '../test/integration/exchange.ts'
import { inParallel, rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'
import { podStatus } from './load/pod-status.ts'

const { values: args } = parseArgs({
  options: {
    only: { type: 'string', default: 'access,ownership' },
    rounds: { type: 'string', default: '30' },
    writes: { type: 'string', default: '500' },
    trials: { type: 'string', default: '3' },
  },
})
const [rounds, writes, trials] = [Number(args.rounds), Number(args.writes), Number(args.trials)]
const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-writes-'))
const pods = '/api/v1/namespaces/default/pods'
const masters = { commonName: 'admin', organizations: ['system:masters'] }
/** An ordinary user: a member of system:masters would be waved through. */
const writer = { commonName: 'writer', organizations: ['team'] }

type Side = 'without' | 'with'

/** An exchange whose client looks at nothing but the code. */
class HastyExchange extends MemoryExchange {
  code = 0

  override respond(code: number, _headers: Headers, _body: Body): void {
    this.code = code
  }
}

async function open(options: Partial<ApiServerOptions>): Promise<ApiServer> {
  const store = await openLmdbStore({ dir: mkdtempSync(path.join(dir, 'store-')) })
  const server = await ApiServer.open({
    store, gates: FeatureGates.of(), authenticator: new Authenticator(new Map()), admission: admissionPlugins,
    clock: systemClock, random: systemRandom, logger: silentLogger, release: 'bench', address: '127.0.0.1:1', ...options,
  })
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['create', 'patch'] }]
  const roles = `/apis/${apiGroup}/v1/namespaces/default`
  const metadata = { name: 'writer' }
  const subjects = [{ kind: 'Group', apiGroup, name: 'team' }]
  await send(server, 'POST', `${roles}/roles`, { metadata, rules }, masters)
  await send(server, 'POST', `${roles}/rolebindings`, { metadata, subjects, roleRef: { apiGroup, kind: 'Role', name: 'writer' } }, masters)
  return server
}

async function send(server: ApiServer, method: string, url: string, body: object | string, user: NonNullable<Sent['user']> = writer): Promise<void> {
  const type = method === 'PATCH' ? (url.endsWith('/status') ? 'strategic-merge-patch+json' : 'merge-patch+json') : 'json'
  const headers = { 'content-type': `application/${type}`, 'user-agent': 'bench/v1', accept: 'application/json' }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const exchange = new HastyExchange({ method, url, headers, user, body: Buffer.from(text) })
  await server.handle(exchange)
  if (exchange.code >= 300 || exchange.code === 0) throw new Error(`${method} ${url}: ${exchange.code}`)
}

/** Kinds of writes, each of the pod of a number. The second status of a pod is the one that most writes of a node are like. */
const kinds: Record<string, (server: ApiServer, index: number) => Promise<void>> = {
  create: (server, index) => send(server, 'POST', pods, podText(`pod-${index}`)),
  patch: (server, index) => send(server, 'PATCH', `${pods}/pod-${index}`, { metadata: { annotations: { 'example.com/owner': `team-${index}` } } }),
  'first status': (server, index) => send(server, 'PATCH', `${pods}/pod-${index}/status`, { status: podStatus(index, false) }),
  'next status': (server, index) => send(server, 'PATCH', `${pods}/pod-${index}/status`, { status: podStatus(index, true) }),
}

interface Pair {
  servers: Record<Side, ApiServer>
  close(): Promise<void>
}

/** Batches are what mode blocking does without. */
const unused = { bufferSize: 1, maxBatchSize: 1, maxBatchWaitMs: 1, throttle: undefined, maxBatchBytes: 1 }

const pairs: Record<string, () => Promise<Pair>> = {
  async access() {
    const policyFile = path.join(dir, 'policy.yaml')
    writeFileSync(policyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
    const log = { path: path.join(dir, 'audit.log'), maxAgeMs: 0, maxBackups: 0, maxBytes: 1e9, mode: 'blocking' as const, batch: unused, truncate: undefined }
    const audit = (await openAudit({ policyFile, log, webhook: undefined }, { clock: systemClock, random: systemRandom, logger: silentLogger }))!
    const guarded = await open({ authorization: [{ type: 'Node' }, { type: 'RBAC' }], audit })
    return { servers: { without: await open({}), with: guarded }, close: () => audit.close() }
  },
  async ownership() {
    const without = await open({})
    without.parts.ignoresOwnership = true
    return { servers: { without, with: await open({}) }, close: async () => {} }
  },
}

/** A mean, since a garbage collection is a part of what the writes before it cost. */
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

async function cpuMicros(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / writes
}

const report = (figure: string, value: number, unit: string, detail: object) => console.log(JSON.stringify({ figure, value: rounded(value), unit, detail }))

try {
  for (let trial = 1; trial <= trials; trial++) {
    for (const what of args.only.split(',')) {
      const { servers, close } = await pairs[what]!()
      const seen = new Map(Object.keys(kinds).map((kind) => [kind, { without: [] as number[], with: [] as number[] }]))
      for (let round = 0; round < rounds; round++) {
        const sides: Side[] = round % 2 ? ['with', 'without'] : ['without', 'with']
        for (const [kind, act] of Object.entries(kinds)) {
          for (const side of sides) {
            const load = () => inParallel(writes, 32, (index) => act(servers[side], round * writes + index))
            seen.get(kind)![side].push(await cpuMicros(load))
          }
        }
      }
      // The first rounds are those in which V8 learns what is hot.
      const settled = (values: number[]) => mean(values.slice(Math.floor(rounds / 3)))
      for (const [kind, sides] of seen) {
        const [without, withIt] = [settled(sides.without), settled(sides.with)]
        report(`${what}: ${kind}`, withIt - without, 'µs more', { trial, without: rounded(without), with: rounded(withIt), ratio: rounded(withIt / without) })
      }
      servers.without.close()
      servers.with.close()
      await close()
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}
