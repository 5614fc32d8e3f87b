import { randomBytes } from 'node:crypto'
import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { keyOf, nodes, pods } from '../../client/index.ts'
import { ownPods } from '../../insight/workload/own-pods.ts'
import type { Reader } from '../../insight/workload/reader.ts'
import { type Board, type BoardListener, rowKey, workloadNamed } from '../board/board.ts'
import { type CellAge, nodeValues, podValues, workloadValues } from '../board/values.ts'
import { type Scope, type Viewer, whatText } from '../login/viewer.ts'
import { Channel, type Subscriber, lingerMs } from './channel.ts'
import { nodeColumns, podColumns, workloadColumns } from './columns.ts'
import { type ColumnType, type Position, Table } from './table.ts'

interface Open {
  channel: Channel
  close(): void
  cancelLinger?: (() => void) | undefined
}

/** A subscription of one page to a channel. */
export interface Subscription {
  position(): Position | undefined
  end(): void
}

/** Thrown for a topic that is unknown or forbidden for this viewer. */
export class TopicRefused extends Error {}

/** Creates channels for topics, one for all viewers with the same permissions, and ends unused ones. */
export class Topics {
  readonly #board: Board
  readonly #clock: Clock
  readonly #reader: Reader
  readonly #id = randomBytes(6).toString('base64url')
  readonly #open = new Map<string, Open>()
  #count = 0

  constructor(board: Board, reader: Reader, clock: Clock) {
    this.#board = board
    this.#reader = reader
    this.#clock = clock
  }

  /** Subscribes to `workloads`, `nodes` or `pods Deployment default/web`. */
  async subscribe(topic: string, viewer: Viewer, subscriber: Subscriber, position?: Position): Promise<Subscription> {
    const open = await this.#find(topic, viewer)
    open.cancelLinger?.()
    open.cancelLinger = undefined
    open.channel.subscribe(subscriber, position)
    return {
      position: () => open.channel.positionOf(subscriber),
      end: () => {
        open.channel.unsubscribe(subscriber)
        if (open.channel.subscribers === 0) open.cancelLinger = this.#clock.after(lingerMs, () => this.#drop(open))
      },
    }
  }

  /** Returns the namespaces with workloads. */
  namespaces(): string[] {
    return [...new Set([...this.#board.rows.values()].map(({ object }) => object.metadata.namespace ?? ''))]
  }

  close(): void {
    for (const open of this.#open.values()) this.#drop(open)
  }

  async #find(topic: string, viewer: Viewer): Promise<Open> {
    if (topic === 'workloads') {
      const scope = await viewer.scope(this.namespaces())
      return this.#known(`${topic} ${scope.key}`, () => this.#workloads(topic, scope))
    }
    if (topic === 'nodes') {
      await this.#allow(viewer, { group: '', resource: 'nodes' }, whatText(nodes, ''))
      return this.#known(topic, () => this.#nodes(topic))
    }
    const workload = topic.startsWith('pods ') ? workloadNamed(topic.slice(5)) : undefined
    if (!workload) throw new TopicRefused(`topic ${JSON.stringify(topic)} does not exist`)
    const {
      kind: { kind },
      namespace,
      name,
    } = workload
    await this.#allow(viewer, { group: '', resource: 'pods', namespace }, whatText(pods, namespace))
    return this.#known(topic, () => this.#pods(topic, rowKey(kind, `${namespace}/${name}`)))
  }

  async #allow(
    viewer: Viewer,
    what: { group: string; resource: string; namespace?: string },
    text: string,
  ): Promise<void> {
    if (!(await viewer.may({ verb: 'list', ...what })))
      throw new TopicRefused(`User ${JSON.stringify(viewer.name)} cannot list ${text}`)
  }

  #known(key: string, make: () => Omit<Open, 'cancelLinger'>): Open {
    let open = this.#open.get(key)
    if (!open) this.#open.set(key, (open = make()))
    return open
  }

  #drop(open: Open): void {
    open.cancelLinger?.()
    open.close()
    open.channel.close()
    for (const [key, other] of this.#open) if (other === open) this.#open.delete(key)
  }

  #tableOf(columns: Readonly<Record<string, ColumnType>>): Table {
    return new Table(Object.values(columns), `${this.#id}.${++this.#count}`)
  }

  #channel(topic: string, columns: Readonly<Record<string, ColumnType>>): Channel {
    return new Channel(topic, this.#tableOf(columns), this.#clock)
  }

  #workloads(topic: string, scope: Scope): Open {
    const channel = this.#channel(topic, workloadColumns)
    const row: BoardListener['row'] = (key, shown) => {
      const { namespace = '' } = shown?.object.metadata ?? {}
      if (!shown) channel.table.delete(key)
      else if (scope.shows(shown.kind.kind, namespace))
        channel.table.set(key, workloadValues(shown, scope.showsPods(namespace)))
      channel.touch()
    }
    for (const [key, shown] of this.#board.rows) row(key, shown)
    return { channel, close: this.#board.listen({ row }) }
  }

  #nodes(topic: string): Open {
    const channel = this.#channel(topic, nodeColumns)
    const node = (name: string) => {
      const object = this.#board.caches.nodes.get(name)
      if (object) channel.table.set(name, nodeValues(object, this.#board.podsOnNode.get(name) ?? 0))
      else channel.table.delete(name)
      channel.touch()
    }
    for (const { metadata } of this.#board.caches.nodes.list()) node(metadata.name ?? '')
    return { channel, close: this.#board.listen({ node }) }
  }

  #pods(topic: string, root: string): Open {
    const { caches } = this.#board
    const { kind, namespace, name } = workloadNamed(root)!
    let ageOf: (pod: Pod) => CellAge = () => 0
    /**
     * Pods that may have changed since the last update of the table. A starting pod changes many times in short
     * succession.
     */
    const changed = new Set<string>()
    const isOwn = (pod: Pod) => {
      const owner = caches.rootOf(pod)
      return owner !== undefined && rowKey(owner.kind, owner.key) === root
    }
    const table = this.#tableOf(podColumns)
    const fill = () => {
      if (changed.size === 0) return
      const { spec } = caches.workload(kind.kind, `${namespace}/${name}`) ?? {}
      const around = {
        nowMs: this.#clock.now(),
        minReadySeconds: spec?.minReadySeconds ?? 0,
        runsToCompletion: kind.kind === 'Job' || kind.kind === 'CronJob',
        lifecycle: spec?.lifecycle,
      }
      for (const key of changed) {
        const pod = caches.pods.get(key)
        if (pod && isOwn(pod)) table.set(key, podValues(pod, ageOf(pod), around))
        else table.delete(key)
      }
      changed.clear()
    }
    const channel = new Channel(topic, table, this.#clock, fill)
    /** Determines again which pods have the newest revision. */
    const readAll = async () => {
      const object = caches.workload(kind.kind, `${namespace}/${name}`)
      const own = object && (await ownPods(this.#reader, caches.sourceOf(kind, object), kind, object))
      const isUpdated = own?.isUpdated
      ageOf = (pod) => (isUpdated && !isUpdated(pod) ? 1 : 0)
      for (const key of table.keys()) changed.add(key)
      for (const pod of own?.pods ?? []) changed.add(keyOf(pod))
      channel.touch()
    }
    void readAll()
    const close = this.#board.listen({
      pod: (key, pod) => {
        if (key !== root) return
        changed.add(keyOf(pod))
        channel.touch()
      },
      revisions: (key) => void (key === root && readAll()),
    })
    return { channel, close }
  }
}
