import type { KubeObject } from '../../api/object.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import { isPodFinished } from '../../api/kinds/pods/pod-availability.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { type Client, type InformerHandler, type SharedInformer, keyOf } from '../../client/index.ts'
import { type KindName, type WorkloadKind, kindNamed, workloadKinds } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { type Row, isOwned, needsExplanation, rowOf } from '../../insight/workload/row.ts'
import { standingWith } from '../../insight/workload/standing.ts'
import type { Caches } from './caches.ts'
import { Explainer } from './explainer.ts'

/** Returns the key of a row: `Deployment default/web`. */
export const rowKey = (kind: KindName, key: string): string => `${kind} ${key}`

export interface BoardListener {
  row?(key: string, row: Row | undefined): void
  /** A pod of a workload changed or was removed. */
  pod?(root: string, pod: Pod): void
  /** The template or the revisions of a workload may have changed. */
  revisions?(key: string): void
  node?(name: string): void
}

/** Minimum interval between evaluations of rows. */
const judgeEveryMs = 250

/** The state of all workloads, computed from the shared caches. Listeners are notified of changes. */
export class Board {
  readonly caches: Caches
  readonly rows = new Map<string, Row>()
  /** Number of pods by node, without finished ones, which use nothing of it. */
  readonly podsOnNode = new Map<string, number>()
  readonly #clock: Clock
  readonly #listeners = new Set<BoardListener>()
  readonly #dirty = new Map<string, { kind: WorkloadKind; key: string }>()
  readonly #explainer: Explainer
  readonly #undo: (() => void)[] = []
  #cancel: (() => void) | undefined

  constructor(caches: Caches, client: Client, clock: Clock, logger: Logger) {
    this.caches = caches
    this.#clock = clock
    this.#explainer = new Explainer({
      caches,
      client,
      clock,
      logger,
      rowOf: (key) => this.rows.get(key),
      explained: (key, row) => this.#explained(key, row),
    })
    for (const kind of workloadKinds) this.#follow(caches.workloads.get(kind.kind)!, this.#workloadHandler(kind))
    this.#follow(caches.pods, this.#podHandler())
    const node = (object: Node) => this.#tell((listener) => listener.node?.(object.metadata.name ?? ''))
    this.#follow(caches.nodes, { add: node, update: (_, object) => node(object), delete: node })
  }

  listen(listener: BoardListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Evaluates pending changes now, so that the first page is complete. */
  judgeNow(): void {
    this.#cancel?.()
    this.#judge()
  }

  stop(): void {
    this.#cancel?.()
    this.#explainer.stop()
    for (const undo of this.#undo.splice(0)) undo()
  }

  #follow<T extends KubeObject>(informer: SharedInformer<T>, handler: InformerHandler<T>): void {
    this.#undo.push(informer.addHandler(handler))
  }

  #tell(say: (listener: BoardListener) => void): void {
    for (const listener of this.#listeners) say(listener)
  }

  #workloadHandler(kind: WorkloadKind): InformerHandler<Workload> {
    const changed = (object: Workload, hasRevision: boolean) => {
      const key = keyOf(object)
      this.#dirty.set(rowKey(kind.kind, key), { kind, key })
      this.#cancel ??= this.#clock.after(judgeEveryMs, () => this.#judge())
      if (!hasRevision) return
      const root = isOwned({ kind, object }) ? this.caches.rootOf(object) : { kind: kind.kind, key }
      if (root) this.#tell((listener) => listener.revisions?.(rowKey(root.kind, root.key)))
    }
    return {
      add: (object) => changed(object, true),
      update: (old, object) => changed(object, mayHaveRevision(kind, old, object)),
      delete: (object) => changed(object, true),
    }
  }

  #podHandler(): InformerHandler<Pod> {
    const nodeOf = (pod: Pod) => (isPodFinished(pod) ? undefined : pod.spec?.nodeName)
    const count = (pod: Pod, by: number) => {
      const name = nodeOf(pod)
      if (!name) return
      this.podsOnNode.set(name, (this.podsOnNode.get(name) ?? 0) + by)
      this.#tell((listener) => listener.node?.(name))
    }
    const changed = (pod: Pod) => {
      const root = this.caches.rootOf(pod)
      if (!root) return
      const key = rowKey(root.kind, root.key)
      const row = this.rows.get(key)
      if (row && needsExplanation(row)) this.#explainer.ask(key)
      this.#tell((listener) => listener.pod?.(key, pod))
    }
    return {
      add: (pod) => {
        count(pod, 1)
        changed(pod)
      },
      update: (old, pod) => {
        if (nodeOf(old) !== nodeOf(pod)) {
          count(old, -1)
          count(pod, 1)
        }
        changed(pod)
      },
      delete: (pod) => {
        count(pod, -1)
        changed(pod)
      },
    }
  }

  #judge(): void {
    this.#cancel = undefined
    const nowMs = this.#clock.now()
    for (const [key, { kind, key: name }] of this.#dirty) {
      const object = this.caches.workload(kind.kind, name)
      if (!object || isOwned({ kind, object })) this.#remove(key)
      else {
        const row = rowOf(kind, object, nowMs, this.rows.get(key)?.causes)
        this.#set(key, standingWith(row, row.causes))
      }
    }
    this.#dirty.clear()
  }

  #set(key: string, row: Row): void {
    const needs = needsExplanation(row)
    const shown = needs ? row : { ...row, causes: [] }
    this.rows.set(key, shown)
    this.#tell((listener) => listener.row?.(key, shown))
    if (needs) this.#explainer.ask(key)
    else this.#explainer.forget(key)
  }

  #explained(key: string, row: Row): void {
    // The row may have been re-evaluated or removed while its details were read.
    const current = this.rows.get(key)
    if (!current || !needsExplanation(current)) return
    const shown = current.object === row.object ? row : { ...current, causes: row.causes }
    this.rows.set(key, shown)
    this.#tell((listener) => listener.row?.(key, shown))
  }

  #remove(key: string): void {
    this.#explainer.forget(key)
    if (this.rows.delete(key)) this.#tell((listener) => listener.row?.(key, undefined))
  }
}

const revisionNumber = 'deployment.kubernetes.io/revision'

/** Returns true if an update may have changed which pods have the newest revision. */
function mayHaveRevision({ kind }: WorkloadKind, old: Workload, object: Workload): boolean {
  // The generation of a ReplicaSet changes with each step of a rollout.
  if (kind === 'ReplicaSet')
    return old.metadata.annotations?.[revisionNumber] !== object.metadata.annotations?.[revisionNumber]
  return (
    old.metadata.generation !== object.metadata.generation ||
    old.status?.updateRevision !== object.status?.updateRevision
  )
}

/** Parses the key of a workload; undefined if it is invalid. */
export function workloadNamed(text: string): { kind: WorkloadKind; namespace: string; name: string } | undefined {
  const [kindName = '', rest = ''] = text.split(' ')
  const [namespace = '', name = ''] = rest.split('/')
  if (!workloadKinds.some(({ kind }) => kind === kindName) || !namespace || !name) return undefined
  return { kind: kindNamed(kindName as KindName), namespace, name }
}
