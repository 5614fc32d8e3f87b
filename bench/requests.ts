// Measures the client's cost of a request: CPU of this process for a get over HTTP/2, by our client, by our HTTP/2 alone, and by Node's.
// The server is a separate process. Prints one JSON line per figure.
//   --program FILE  a program to run with node instead of bin/coxswain
import http2 from 'node:http2'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Client, HttpTransport, loadAccess, namespaces } from '../src/client/index.ts'
import { http2Client } from './load/client.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { startServer } from './load/server.ts'
import { type Target, readTarget } from './load/target.ts'

const { values: args } = parseArgs({ options: { program: { type: 'string', default: path.resolve('bin/coxswain') } } })
const count = 10_000
const rounds = 5

/** Microseconds of CPU for each of so many, all of this process. */
async function cpuEach(width: number, one: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await inParallel(count, width, one)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** Sends a get over Node's own HTTP/2. */
function overNode({ url, tls, headers }: Target): { get(path: string): Promise<void>; close(): void } {
  const session = http2.connect(url, tls)
  return {
    get: (at) =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ...headers, ':path': at })
        stream.on('data', () => {})
        stream.on('end', () => resolve())
        stream.on('error', reject)
      }),
    close: () => session.destroy(),
  }
}

const server = await startServer(args.program)
try {
  const client = new Client(new HttpTransport(await loadAccess({ file: server.kubeconfig })))
  const target = readTarget(server.kubeconfig)
  const bare = await http2Client(target, 1)
  const node = overNode(target)
  const ways: Record<string, () => Promise<unknown>> = {
    client: () => client.get(namespaces, '', 'default'),
    'HTTP/2 alone': () => bare.send('GET', '/api/v1/namespaces/default'),
    "Node's HTTP/2": () => node.get('/api/v1/namespaces/default'),
  }
  for (const width of [1, 16, 64]) {
    const figures: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((way) => [way, []]))
    // In turn, so that all see the same machine.
    for (let round = 0; round <= rounds; round++) {
      for (const [way, one] of Object.entries(ways)) {
        const each = await cpuEach(width, one)
        // The first is to warm up.
        if (round > 0) figures[way]!.push(each)
      }
    }
    for (const [way, values] of Object.entries(figures)) {
      console.log(JSON.stringify({ figure: `CPU of a get, ${way}`, value: rounded(quantile(values, 0.5)), unit: 'µs', detail: { atOnce: width, rounds, best: rounded(Math.min(...values)) } }))
    }
  }
  bare.close()
  node.close()
  await client.close()
} finally {
  await server.stop()
}
