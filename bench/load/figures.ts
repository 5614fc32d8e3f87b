import https from 'node:https'
import { type Client, type Protocol, http1Client, http2Client } from './client.ts'
import { type Spent, inParallel, quantile, rounded, spend } from './measure.ts'
import { podText } from './pod.ts'
import type { Target } from './target.ts'
import { Watcher, namePrefix } from './watcher.ts'

/** The common input of all figures. */
export interface Bench {
  target: Target
  /** Reads the CPU seconds of a server that is ours. */
  serverCpu: (() => number) | undefined
  report(figure: string, value: number, unit: string, detail?: Record<string, unknown>): void
}

export const clients = 32
/** For all clients together: with HTTP/2 the clients of a process share one connection. */
export const http2Connections = 4
const arrivalLimitMs = 30_000

export const podName = (index: number): string => `${namePrefix}${String(index).padStart(6, '0')}`
export const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`

/** Sends and takes anything but the code that is expected as the end of the run. */
export async function must(client: Client, code: number, method: string, path: string, body?: string, type?: string): Promise<number> {
  const answer = await client.send(method, path, body, type)
  if (answer.code !== code) throw new Error(`${method} ${path}: ${answer.code} ${answer.text}`)
  return answer.bytes
}

export async function makeNamespace(client: Client, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const { code, text } = await client.send('POST', '/api/v1/namespaces', body)
  if (code !== 201 && code !== 409) throw new Error(`namespace ${name}: ${code} ${text}`)
}

const cost = ({ serverMicros, loadCpu, othersCpu }: Spent) => ({
  ...(serverMicros === undefined ? {} : { serverCpuMicros: rounded(serverMicros) }),
  loadCores: rounded(loadCpu),
  ...(othersCpu === undefined ? {} : { othersCores: rounded(othersCpu) }),
})

/** The throughput of one kind of operation with many clients. */
export async function throughput(bench: Bench, figure: string, count: number, operation: (index: number) => Promise<unknown>): Promise<void> {
  const spent = await spend(count, bench.serverCpu, () => inParallel(count, clients, operation))
  bench.report(figure, count / spent.seconds, '1/s', { operations: count, clients, ...cost(spent) })
}

type Operation = (index: number) => Promise<unknown>

export function createPods(client: Client, namespace: string, from: number, text = podText): Operation {
  return (index) => must(client, 201, 'POST', podsOf(namespace), text(podName(from + index)))
}

export interface WatchedCreates {
  figure: string
  namespace: string
  from: number
  count: number
  watchers: number
  /** The number of concurrent writers. */
  width: number
  protocol: Protocol
  /**
   * The created objects. Default: pods with an owner. On a cluster with other pods, only those of the namespace are
   * watched.
   */
  text?: (name: string) => string
  watched?: string
}

/** Creates while so many watch: how fast, and how long until a watcher has an object that was sent. */
export async function watchedCreates(bench: Bench, options: WatchedCreates): Promise<void> {
  const { figure, namespace, from, count, watchers, width, protocol } = options
  const { text = podText, watched = '/api/v1/pods' } = options
  const client = protocol === 'HTTP/1.1' ? http1Client(bench.target, width) : await http2Client(bench.target, http2Connections)
  const sent = new Map<string, number>()
  const acknowledged = new Map<string, number>()
  const arrivals: { name: string; at: number }[] = []
  const wanted = count * watchers
  let allArrived = () => {}
  const arrived = new Promise<void>((resolve) => (allArrived = resolve))
  const onName = (name: string, at: number) => {
    arrivals.push({ name, at })
    if (arrivals.length === wanted) allArrived()
  }
  const path = `${watched}?watch=true&resourceVersion=`
  const { resourceVersion } = await newest(bench.target)
  const open = await Promise.all(Array.from({ length: watchers }, () => Watcher.open(bench.target, path + resourceVersion, protocol, onName)))
  let seconds = 0
  const spent = await spend(count, bench.serverCpu, async () => {
    const start = performance.now()
    await inParallel(count, width, async (index) => {
      const name = podName(from + index)
      sent.set(name, performance.now())
      await must(client, 201, 'POST', podsOf(namespace), text(name))
      acknowledged.set(name, performance.now())
    })
    seconds = (performance.now() - start) / 1000
    await within(arrivalLimitMs, arrived, () => `${arrivals.length} of ${wanted} deliveries arrived`)
  })
  for (const watcher of open) watcher.close()
  client.close()
  const sinceSent = arrivals.map(({ name, at }) => at - sent.get(name)!)
  const sinceAnswer = arrivals.map(({ name, at }) => at - acknowledged.get(name)!)
  bench.report(`creates, ${figure}`, count / seconds, '1/s', { operations: count, clients: width, watchers, ...cost(spent) })
  const detail = { deliveries: wanted, from: 'the moment the create was sent', clock: 'one process' }
  bench.report(`watch delivery p50, ${figure}`, quantile(sinceSent, 0.5), 'ms', detail)
  bench.report(`watch delivery p99, ${figure}`, quantile(sinceSent, 0.99), 'ms', { ...detail, max: rounded(quantile(sinceSent, 1)), p99SinceAcknowledged: rounded(quantile(sinceAnswer, 0.99)) })
  bench.report(`deliveries, ${figure}`, wanted / spent.seconds, '1/s')
}

function within(ms: number, work: Promise<void>, problem: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(problem())), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The start of a watch for future changes only. */
function newest({ url, tls, headers }: Target): Promise<{ resourceVersion: string }> {
  return new Promise((resolve, reject) => {
    https
      .get({ host: url.hostname, port: url.port, path: '/api/v1/pods?limit=1', headers, agent: false, ...tls }, async (response) => {
        let text = ''
        for await (const chunk of response) text += String(chunk)
        resolve((JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata)
      })
      .on('error', reject)
  })
}

/** The time until the whole body of a list is there. */
export async function listing(bench: Bench, figure: string, path: string, rounds: number): Promise<void> {
  const client = http1Client(bench.target, 1)
  const times: number[] = []
  let bytes = 0
  const spent = await spend(rounds, bench.serverCpu, async () => {
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      bytes = await must(client, 200, 'GET', path)
      times.push(performance.now() - start)
    }
  })
  client.close()
  bench.report(figure, quantile(times, 0.5), 'ms', { rounds, bytes, best: rounded(Math.min(...times)), worst: rounded(Math.max(...times)), ...cost(spent) })
}
