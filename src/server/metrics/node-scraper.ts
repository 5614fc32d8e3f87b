import type { IncomingMessage } from 'node:http'
import { Agent } from 'node:https'
import type { Node } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { KeyPair } from '../auth/certificates.ts'
import { nodeRequest } from '../http/node/node-request.ts'
import { nodeAddress } from '../http/node/node-address.ts'
import { type Scrape, parseResourceMetrics } from './exposition.ts'
import { type NodeUsage, usageBetween } from './usage.ts'

/** A younger reading is reused, so two readings are at least this far apart. */
const freshMs = 1000
/** An older reading is not used as the start of an interval. */
const staleMs = 60_000
/** The timeout of a scrape. */
const patienceMs = 2000
/** The maximum number of connections to one machine, which may run a thousand nodes. */
const mostConnections = 8
const mostBytes = 16 << 20

interface Known {
  scrape: Scrape
  usage: NodeUsage | undefined
}

/** Scrapes a node. Undefined if it does not respond. */
type AskNode = (node: Node) => Promise<Scrape | undefined>

/**
 * Computes the usage of nodes, which are scraped only on request. Usage needs two readings: without an earlier one, it
 * takes a second.
 */
export class NodeScraper {
  readonly #ask: AskNode
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()
  readonly #reading = new Map<string, Promise<NodeUsage | undefined>>()

  constructor(clock: Clock, ask: AskNode) {
    this.#clock = clock
    this.#ask = ask
  }

  /** By node name. Nodes that do not respond are left out. */
  async read(nodes: readonly Node[]): Promise<Map<string, NodeUsage>> {
    const found = await Promise.all(
      nodes.map(async (node) => [node.metadata.name!, await this.#readOnce(node)] as const),
    )
    return new Map(found.flatMap(([name, usage]) => (usage ? [[name, usage] as const] : [])))
  }

  /** Concurrent requests for one node share a scrape. */
  #readOnce(node: Node): Promise<NodeUsage | undefined> {
    const key = node.metadata.uid ?? node.metadata.name!
    let reading = this.#reading.get(key)
    if (!reading) {
      reading = this.#read(key, node).finally(() => this.#reading.delete(key))
      this.#reading.set(key, reading)
    }
    return reading
  }

  async #read(key: string, node: Node): Promise<NodeUsage | undefined> {
    this.#forgetStale()
    const known = this.#known.get(key)
    const age = known ? this.#clock.now() - known.scrape.atMs : Infinity
    if (known?.usage && age < freshMs) return known.usage
    const first = known?.scrape ?? (await this.#ask(node))
    if (!first) return undefined
    const leftMs = first.atMs + freshMs - this.#clock.now()
    if (leftMs > 0) await new Promise<void>((resolve) => this.#clock.after(leftMs, resolve))
    const second = await this.#ask(node)
    if (!second) {
      this.#known.delete(key)
      return undefined
    }
    const usage = usageBetween(first, second)
    this.#known.set(key, { scrape: second, usage })
    return usage
  }

  #forgetStale(): void {
    const beforeMs = this.#clock.now() - staleMs
    for (const [key, { scrape }] of this.#known) if (scrape.atMs < beforeMs) this.#known.delete(key)
  }
}

/** Scrapes kubelets over TLS. */
export function askOverTls(identity: KeyPair | undefined, clock: Clock): AskNode {
  const agent = new Agent({ keepAlive: true, maxSockets: mostConnections, timeout: patienceMs })
  return async (node) => {
    try {
      const text = await fetchText(identity, agent, nodeAddress(node, metricsPath.slice(1)))
      return parseResourceMetrics(text, clock.now())
    } catch {
      // An unreachable node is left out, like one that has not been scraped yet.
      return undefined
    }
  }
}

const metricsPath = '/metrics/resource'

async function fetchText(
  identity: KeyPair | undefined,
  agent: Agent,
  { host, port }: { host: string; port: number },
): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    nodeRequest(identity, { host, port, path: metricsPath, method: 'GET', agent, timeoutMs: patienceMs })
      .once('response', resolve)
      .once('error', reject)
      .end()
  })
  let text = ''
  for await (const piece of response.setEncoding('utf8')) {
    text += piece as string
    if (text.length > mostBytes) throw new Error('the answer of the node is too large')
  }
  if (response.statusCode !== 200) throw new Error(text)
  return text
}
