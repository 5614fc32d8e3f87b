// Measures the cost of server-side apply and custom resources: applies without changes, alternating creates of a custom resource and of a
// ConfigMap, and 200 definitions of 50 KB. It is the CPU time of the server, a separate process: `per second of CPU` is the rate of one core.
// Prints one JSON line per figure.
//   --rounds N      rounds of each figure (5)
//   --program FILE  a program to run with node instead of bin/coxswain
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { http2Client } from './load/client.ts'
import { clients, http2Connections, makeNamespace, must } from './load/figures.ts'
import { inParallel, quantile, rounded, spend } from './load/measure.ts'
import { cpuSeconds, startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'
import { TestServer } from '../test/integration/server.ts'

const { values: args } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, program: { type: 'string', default: path.resolve('bin/coxswain') } } })
const rounds = Number(args.rounds)
const namespace = 'bench'
const group = 'example.com'

const report = (figure: string, value: number, unit: string, detail?: object): void =>
  console.log(JSON.stringify({ bench: 'apply', figure, value: rounded(value), unit, ...detail }))

/** A definition whose schema has so many fields with descriptions: 400 are 50 KB. */
function definition(name: string, fields: number): string {
  const described = { type: 'string', description: 'A field with a text as long as those that generators write for fields of custom kinds.' }
  const properties = Object.fromEntries(Array.from({ length: fields }, (_, i) => [`field${i}`, described]))
  const schema = { type: 'object', properties: { spec: { type: 'object', properties }, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }
  const kind = `Kind${name}`
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${kind.toLowerCase()}s.${group}` },
    spec: {
      group, scope: 'Namespaced', names: { plural: `${kind.toLowerCase()}s`, kind },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
    },
  })
}

const memoryMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const applyType = 'application/apply-patch+yaml'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const server = await startServer(args.program)
const client = await http2Client(readTarget(server.kubeconfig), http2Connections)
const serverCpu = () => cpuSeconds(server.pid)

/** Microseconds of the server's CPU for each of so many requests. */
async function microsOf(count: number, one: (index: number) => Promise<unknown>): Promise<number> {
  return (await spend(count, serverCpu, () => inParallel(count, clients, one))).serverMicros!
}

const data = { color: 'red', size: '7', name: 'a boat with some text in it' }
const custom = (name: string) => JSON.stringify({ apiVersion: `${group}/v1`, kind: 'KindBoat', metadata: { name }, spec: { field0: data.color, field1: data.size, field2: data.name } })
const plain = (name: string) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const maps = `/api/v1/namespaces/${namespace}/configmaps`
const boats = `/apis/${group}/v1/namespaces/${namespace}/kindboats`

async function served(url: string): Promise<void> {
  for (let tries = 0; tries < 10_000; tries++) if ((await client.send('GET', url)).code === 200) return
  throw new Error(`${url} is not served`)
}

try {
  await makeNamespace(client, namespace)
  await must(client, 201, 'POST', definitions, definition('Boat', 20))
  await served(boats)

  const deployment = JSON.stringify({
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' },
    spec: { replicas: 1, selector: { matchLabels: { app: 'd' } }, template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] } } },
  })
  const unchanged: [what: string, url: string, body: string][] = [
    ['a ConfigMap', `${maps}/unchanged`, plain('unchanged')], ['a custom resource', `${boats}/unchanged`, custom('unchanged')],
    ['a Deployment', `/apis/apps/v1/namespaces/${namespace}/deployments/d`, deployment],
  ]
  for (const [what, url, body] of unchanged) {
    const apply = (code: number) => must(client, code, 'PATCH', `${url}?fieldManager=bench`, body, applyType)
    await apply(201)
    const found: number[] = []
    await microsOf(3000, () => apply(200))
    for (let round = 0; round < rounds; round++) found.push(await microsOf(3000, () => apply(200)))
    report(`applies of ${what} that change nothing`, 1e6 / quantile(found, 0.5), 'per second of CPU', { micros: found.map(rounded) })
  }

  const made: Record<'custom' | 'plain', number[]> = { custom: [], plain: [] }
  let next = 0
  const create = (url: string, text: (name: string) => string) => microsOf(2000, () => must(client, 201, 'POST', url, text(`n${next++}`)))
  for (let round = -1; round < rounds; round++) {
    const [one, other] = [await create(boats, custom), await create(maps, plain)]
    if (round < 0) continue
    made.custom.push(one)
    made.plain.push(other)
  }
  report('creates of a custom resource, as a share of those of a ConfigMap', quantile(made.plain, 0.5) / quantile(made.custom, 0.5), '×', {
    custom: made.custom.map(rounded), plain: made.plain.map(rounded),
  })

  const texts = Array.from({ length: 200 }, (_, i) => definition(String(i), 400))
  const before = memoryMb(server.pid)
  const startedMs = performance.now()
  const micros = await microsOf(texts.length, (i) => must(client, 201, 'PATCH', `${definitions}/kind${i}s.${group}?fieldManager=bench`, texts[i]!, applyType))
  await Promise.all(texts.map((_, i) => served(`/apis/${group}/v1/namespaces/${namespace}/kind${i}s`)))
  report('200 definitions applied and served', (performance.now() - startedMs) / 1000, 's', { cpuSeconds: rounded((micros * 200) / 1e6), kilobytes: rounded(texts[0]!.length / 1024) })
  report('resident memory that they add at once, garbage included', memoryMb(server.pid) - before, 'MB')
} finally {
  client.close()
  await server.stop()
}

/** The memory of 200 definitions after a garbage collection, in a server in this process with a store in memory. */
async function retained(gc: () => void): Promise<number> {
  const inside = await TestServer.start()
  const used = () => {
    gc()
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 2 ** 20
  }
  const before = used()
  for (let i = 0; i < 200; i++) {
    const body = Buffer.from(definition(String(i), 400))
    const { code, text } = await inside.send({ method: 'PATCH', url: `${definitions}/kind${i}s.${group}?fieldManager=bench`, headers: { 'content-type': applyType }, body })
    if (code !== 201) throw new Error(text)
  }
  // Decoded objects are held weakly, and until the end of a turn.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const after = used()
  await inside.close()
  return after - before
}

if (globalThis.gc) report('memory that 200 definitions keep', await retained(() => globalThis.gc!()), 'MB')
