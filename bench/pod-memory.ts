// Measures the server's memory per pod. Pods are created by the API, bound and reported ready as on a node. One JSON line per figure.
// Run with --expose-gc, so that the memory is measured without garbage.
//   --pods N    the number of pods (20000)
//   --store S   lmdb or memory
//   --unowned   without managedFields
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { FeatureGates } from '../src/api/feature-gates.ts'
import type { Pod } from '../src/api/generated/types.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/logger.ts'
import { systemRandom } from '../src/base/random.ts'
import { SharedInformer, pods } from '../src/client/index.ts'
import { InProcessTransport } from '../src/cluster/index.ts'
import { ApiServer, Authenticator, admissionPlugins } from '../src/server/index.ts'
import { openLmdbStore, openMemoryStore } from '../src/store/index.ts'
import { inParallel, rounded } from './load/measure.ts'
import { podText } from './load/pod.ts'
import { podStatus } from './load/pod-status.ts'

const { values: args } = parseArgs({ options: { pods: { type: 'string', default: '20000' }, store: { type: 'string', default: 'lmdb' }, unowned: { type: 'boolean', default: false } } })
const count = Number(args.pods)
const user = { name: 'bench', groups: ['system:masters'] }
const namespace = '/api/v1/namespaces/default'

/** Bytes in use once everything unused is gone. */
async function used(): Promise<{ heap: number; external: number }> {
  if (!globalThis.gc) throw new Error('run node with --expose-gc')
  for (let i = 0; i < 4; i++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { heapUsed: heap, external } = process.memoryUsage()
  return { heap, external }
}

const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-pod-memory-'))
const store = args.store === 'memory' ? openMemoryStore() : await openLmdbStore({ dir })
const server = await ApiServer.open({
  store, gates: FeatureGates.of(), authenticator: new Authenticator(new Map()), admission: admissionPlugins, clock: systemClock, random: systemRandom,
  logger: silentLogger, release: 'bench', address: '127.0.0.1:1',
})
if (args.unowned) server.parts.ignoresOwnership = true
const transport = new InProcessTransport(server, user)
let before = await used()

async function report(figure: string): Promise<void> {
  const now = await used()
  const [heap, external] = [(now.heap - before.heap) / count, (now.external - before.external) / count]
  console.log(JSON.stringify({ figure, value: rounded(heap + external), unit: 'bytes a pod', detail: { pods: count, store: args.store, heap: rounded(heap), external: rounded(external) } }))
}

const cpu = process.cpuUsage()
await inParallel(count, 32, async (index) => {
  const name = `pod-${index}`
  await transport.send({ method: 'POST', path: `${namespace}/pods`, body: JSON.parse(podText(name)) as unknown })
  await transport.send({ method: 'POST', path: `${namespace}/pods/${name}/binding`, body: { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: `node-${index % 300}` } } })
  const contentType = 'application/merge-patch+json'
  await transport.send({ method: 'PATCH', path: `${namespace}/pods/${name}/status`, contentType, body: { status: podStatus(index, true) } })
})
const { user: spent, system } = process.cpuUsage(cpu)
console.log(JSON.stringify({ figure: 'CPU of create, bind and report', value: rounded((spent + system) / count), unit: 'µs a pod' }))
await store.compact(store.revision)
await report('server alone')
const informer = new SharedInformer<Pod>({ transport, type: pods, clock: systemClock, random: systemRandom, indexes: { node: (pod) => [pod.spec?.nodeName ?? ''] } })
informer.start()
await informer.synced()
await report('server and an informer in the process')
before = await used()
const second = new SharedInformer<Pod>({ transport, type: pods, clock: systemClock, random: systemRandom })
second.start()
await second.synced()
await report('another informer in the process')
if (informer.size !== count || second.size !== count) throw new Error('pods are missing')
informer.stop()
second.stop()
await transport.close()
server.close()
await store.close()
rmSync(dir, { recursive: true, force: true })
