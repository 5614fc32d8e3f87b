import { notFound } from '../../api/errors.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { timestamp } from '../../api/object.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { printDuration } from '../../base/duration.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { type ActionAnswer, type ActionContext, type Resource, defineVirtual } from '../registry/resource.ts'
import { objectSelector } from '../verbs/selection.ts'
import { apiVersion, group, type MetricsKind, metricsTabular, nodeMetrics, podMetrics } from './kinds.ts'
import type { NodeScraper } from './node-scraper.ts'
import type { NodeUsage } from './usage.ts'

interface MetricsApiOptions {
  /** A function, because the kinds are registered before objects can be read. */
  objects(): ObjectReader
  scraper: NodeScraper
  clock: Clock
}

/** Serves `metrics.k8s.io`: the current usage of nodes and pods, read from kubelets. Nothing is stored. */
export class MetricsApi {
  readonly #o: MetricsApiOptions

  constructor(options: MetricsApiOptions) {
    this.#o = options
  }

  /** The `nodes` and `pods` resources of the group. */
  resources(): Resource[] {
    return [nodeMetrics, podMetrics].map((kind) => defineVirtual({ ...kind, answer: (ctx) => this.answer(kind, ctx) }))
  }

  async answer(
    kind: MetricsKind,
    { namespace, name, query }: Pick<ActionContext, 'namespace' | 'name' | 'query'>,
  ): Promise<ActionAnswer> {
    if (name !== '') {
      const [found] = await this.#metrics(kind, namespace, (object) => object.metadata.name === name)
      if (!found)
        throw notFound({ group, resource: kind.kind.toLowerCase() }, kind.namespaced ? `${namespace}/${name}` : name)
      return { code: 200, object: found, table: metricsTabular }
    }
    // Items in lists carry their kind.
    const items = (await this.#metrics(kind, namespace, objectSelector(query))).map(
      ({ kind: _kind, apiVersion: _version, ...item }) => item,
    )
    return { code: 200, object: { kind: `${kind.kind}List`, apiVersion, metadata: {}, items }, table: metricsTabular }
  }

  #metrics(kind: MetricsKind, namespace: string, isWanted: (object: KubeObject) => boolean): Promise<KubeObject[]> {
    return kind === nodeMetrics ? this.#ofNodes(isWanted) : this.#ofPods(namespace, isWanted)
  }

  async #ofNodes(isWanted: (object: KubeObject) => boolean): Promise<KubeObject[]> {
    const nodes = this.#o.objects().list<Node>('', 'nodes', '').filter(isWanted)
    const usages = await this.#o.scraper.read(nodes)
    return nodes.flatMap((node) => {
      const usage = usages.get(node.metadata.name!)
      return usage?.node ? [{ ...this.#head(nodeMetrics, node, usage), usage: usage.node }] : []
    })
  }

  /** Only nodes that run one of the pods are scraped. */
  async #ofPods(namespace: string, isWanted: (object: KubeObject) => boolean): Promise<KubeObject[]> {
    const pods = this.#o
      .objects()
      .list<Pod>('', 'pods', namespace)
      .filter((pod) => pod.status?.phase === 'Running' && isWanted(pod))
    const names = new Set(pods.map((pod) => pod.spec.nodeName ?? ''))
    const usages = await this.#o.scraper.read(
      [...names].flatMap((name) => this.#o.objects().get<Node>('', 'nodes', '', name) ?? []),
    )
    return pods.flatMap((pod) => {
      const usage = usages.get(pod.spec.nodeName ?? '')
      const containers = usage?.pods.get(`${pod.metadata.namespace}/${pod.metadata.name}`)
      return usage && containers
        ? [
            {
              ...this.#head(podMetrics, pod, usage),
              containers: [...containers].sort(byName).map(([name, used]) => ({ name, usage: used })),
            },
          ]
        : []
    })
  }

  #head({ kind }: MetricsKind, { metadata }: KubeObject, { atMs, windowMs }: NodeUsage) {
    const { name, namespace, labels } = metadata
    return {
      kind,
      apiVersion,
      metadata: {
        name,
        ...(namespace ? { namespace } : {}),
        creationTimestamp: timestamp(this.#o.clock.now()),
        ...(labels ? { labels } : {}),
      },
      timestamp: timestamp(atMs),
      window: printDuration(windowMs),
    } as KubeObject
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)
