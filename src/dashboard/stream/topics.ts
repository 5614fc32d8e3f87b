import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { nodes, pods } from '../../client/index.ts'
import type { Reader } from '../../insight/workload/reader.ts'
import { type Board, type BoardListener, rowKey, workloadNamed } from '../board/board.ts'
import { nodeValues, workloadValues } from '../board/values.ts'
import { type Scope, type Viewer, whatText } from '../login/viewer.ts'
import { Channel, type Subscriber, lingerMs } from './channel.ts'
import { nodeColumns, podColumns, workloadColumns } from './columns.ts'
import { PodRows } from './pod-rows.ts'
import { type ColumnType, type Position, Table } from './table.ts'

interface Open {
  channel: Channel
  close(): void
  cancelLinger?: (() => void) | undefined
}

/** The permission to see a topic. Viewers with the same key share a channel. */
export interface Grant {
  readonly key: string
  make(): Open
}

/** A subscription of one page to a channel. */
export interface Subscription {
  /** The key of its grant. */
  readonly key: string
  position(): Position | undefined
  end(): void
}

/** Thrown for a topic that is unknown (400) or forbidden for this viewer (403). */
export class TopicRefused extends Error {
  readonly code: 400 | 403

  constructor(message: string, code: 400 | 403 = 403) {
    super(message)
    this.code = code
  }
}

/** Creates channels for topics, one for all viewers with the same permissions, and ends unused ones. */
export class Topics {
  readonly #board: Board
  readonly #clock: Clock
  readonly #reader: Reader
  readonly #logger: Logger
  readonly #id = randomBytes(6).toString('base64url')
  readonly #open = new Map<string, Open>()
  #count = 0

  constructor(board: Board, reader: Reader, clock: Clock, logger: Logger) {
    this.#board = board
    this.#reader = reader
    this.#clock = clock
    this.#logger = logger
  }

  /** Subscribes to the channel of a grant. */
  subscribe(grant: Grant, subscriber: Subscriber, position?: Position): Subscription {
    const open = this.#known(grant)
    open.cancelLinger?.()
    open.cancelLinger = undefined
    open.channel.subscribe(subscriber, position)
    return {
      key: grant.key,
      position: () => open.channel.positionOf(subscriber),
      end: () => {
        open.channel.unsubscribe(subscriber)
        if (open.channel.subscribers > 0) return
        open.cancelLinger?.()
        open.cancelLinger = this.#clock.after(lingerMs, () => this.#drop(open))
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

  /**
   * Determines what a viewer may see of `workloads`, `nodes` or `pods Deployment default/web`. Rejects with TopicRefused
   * if it is nothing.
   */
  async grant(topic: string, viewer: Viewer): Promise<Grant> {
    const { caches } = this.#board
    // Without this, a cluster that does not answer would seem to be empty.
    if (!caches.isSettled) throw new Error('the API server has not sent all workloads and pods yet')
    if (topic === 'workloads') {
      const scope = await viewer.scope(this.namespaces())
      return { key: `${topic} ${scope.key}`, make: () => this.#workloads(topic, scope) }
    }
    if (topic === 'nodes') {
      await this.#allow(viewer, { group: '', resource: 'nodes' }, whatText(nodes, ''))
      const { absence, hasSynced } = caches.nodes
      if (absence) throw new TopicRefused(absence.message)
      if (!hasSynced) throw new Error('the API server has not sent all nodes yet')
      const isCounted = caches.namespace === '' && (await viewer.may({ verb: 'list', group: '', resource: 'pods' }))
      return { key: `${topic} ${isCounted}`, make: () => this.#nodes(topic, isCounted) }
    }
    const workload = topic.startsWith('pods ') ? workloadNamed(topic.slice(5)) : undefined
    if (!workload) throw new TopicRefused(`topic ${JSON.stringify(topic)} does not exist`, 400)
    const {
      kind: { kind },
      namespace,
      name,
    } = workload
    if (!caches.covers(namespace))
      throw new TopicRefused(`this dashboard shows only namespace ${JSON.stringify(caches.namespace)}`, 400)
    await this.#allow(viewer, { group: '', resource: 'pods', namespace }, whatText(pods, namespace))
    if (!caches.hasPods) throw new Error('the API server has not sent all pods yet')
    return { key: topic, make: () => this.#pods(topic, rowKey(kind, `${namespace}/${name}`)) }
  }

  async #allow(
    viewer: Viewer,
    what: { group: string; resource: string; namespace?: string },
    text: string,
  ): Promise<void> {
    if (!(await viewer.may({ verb: 'list', ...what })))
      throw new TopicRefused(`User ${JSON.stringify(viewer.name)} cannot list ${text}`)
  }

  #known({ key, make }: Grant): Open {
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
        channel.table.set(
          key,
          workloadValues(shown, (of) => scope.shows(of, of === 'Node' ? '' : namespace)),
        )
      channel.touch()
    }
    for (const [key, shown] of this.#board.rows) row(key, shown)
    return { channel, close: this.#board.listen({ row }) }
  }

  #nodes(topic: string, isCounted: boolean): Open {
    const channel = this.#channel(topic, nodeColumns)
    const node = (name: string) => {
      const object = this.#board.caches.nodes.get(name)
      if (object) channel.table.set(name, nodeValues(object, isCounted ? (this.#board.podsOnNode.get(name) ?? 0) : -1))
      else channel.table.delete(name)
      channel.touch()
    }
    for (const { metadata } of this.#board.caches.nodes.list()) node(metadata.name ?? '')
    return { channel, close: this.#board.listen({ node }) }
  }

  #pods(topic: string, root: string): Open {
    const table = this.#tableOf(podColumns)
    const channel: Channel = new Channel(topic, table, this.#clock, () => rows.fill())
    const rows = new PodRows({
      board: this.#board,
      reader: this.#reader,
      clock: this.#clock,
      logger: this.#logger,
      root,
      table,
      touch: () => channel.touch(),
    })
    void rows.readAll()
    return { channel, close: () => rows.close() }
  }
}
