// What a request costs the client that sends it: CPU of this process for a get over HTTP/2, by our client and by Node's alone.
// The server is a process of its own. Prints one JSON line per figure.
//   --program FILE  starts this program for node instead of bin/coxswain
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Client, HttpTransport, loadAccess, namespaces } from '../src/client/index.ts'
import { http2Client } from './load/client.ts'
import { inParallel, quantile, rounded } from './load/measure.ts'
import { startServer } from './load/server.ts'
import { readTarget } from './load/target.ts'

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

const server = await startServer(args.program)
try {
  const client = new Client(new HttpTransport(await loadAccess({ file: server.kubeconfig })))
  const bare = http2Client(readTarget(server.kubeconfig), 1)
  const ways = {
    client: () => client.get(namespaces, '', 'default'),
    'Node alone': () => bare.send('GET', '/api/v1/namespaces/default'),
  }
  for (const width of [1, 16, 64]) {
    const figures: Record<string, number[]> = { client: [], 'Node alone': [] }
    // In turn, so that both see the same machine.
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
  await client.close()
} finally {
  await server.stop()
}
