import type { Clock } from '../../base/clock.ts'
import {
  controllerrevisions,
  events,
  jobs,
  nodes,
  persistentvolumeclaims,
  poddisruptionbudgets,
} from '../../client/index.ts'
import { type ToldCause, explainWorkload } from '../../insight/workload/explanation.ts'
import type { WorkloadKind } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { askingSource } from '../../insight/workload/own-pods.ts'
import { Reader } from '../../insight/workload/reader.ts'
import type { Viewer } from '../login/viewer.ts'
import type { Caches } from './caches.ts'

/** An explanation is kept for this multiple of its own cost, which limits each workload to about 2% of a core. */
const restFactor = 50
const leastMs = 2000
const causesShown = 10

/** The causes of a workload's state, as far as a viewer may read them. */
export interface Explained {
  causes: readonly ToldCause[]
  /** Kinds that could not be read. */
  unread: readonly string[]
}

interface Entry {
  answer: Promise<Explained>
  /** Infinity while it is computed. */
  untilMs: number
}

/** Requests of an explanation, besides pods. */
const readKinds = [
  { verb: 'get', type: nodes, isClusterWide: true },
  { verb: 'list', type: nodes, isClusterWide: true },
  { verb: 'get', type: persistentvolumeclaims, isClusterWide: false },
  { verb: 'list', type: persistentvolumeclaims, isClusterWide: false },
  { verb: 'list', type: poddisruptionbudgets, isClusterWide: false },
  { verb: 'list', type: events, isClusterWide: false },
  { verb: 'list', type: controllerrevisions, isClusterWide: false },
  { verb: 'get', type: jobs, isClusterWide: false },
  { verb: 'list', type: jobs, isClusterWide: false },
]

/**
 * Explanations of workload pages. Viewers with the same permissions share them, so that the cost of a large rollout
 * does not grow with the number of its viewers.
 */
export class Explanations {
  readonly #caches: Caches
  readonly #clock: Clock
  /** The machine's time in milliseconds, for costs. */
  readonly #stopwatchMs: () => number
  readonly #known = new Map<string, Entry>()

  constructor(caches: Caches, clock: Clock, stopwatchMs: () => number = () => performance.now()) {
    this.#caches = caches
    this.#clock = clock
    this.#stopwatchMs = stopwatchMs
  }

  /** Explains a workload to a viewer who may list its pods. */
  async of(viewer: Viewer, kind: WorkloadKind, object: Workload): Promise<Explained> {
    const { namespace = '', uid, generation } = object.metadata
    const rights = await Promise.all(
      readKinds.map(({ verb, type, isClusterWide }) =>
        viewer.may({ verb, group: type.group, resource: type.plural, ...(isClusterWide ? {} : { namespace }) }),
      ),
    )
    const key = [uid, generation, ...rights.map(Number)].join(' ')
    const nowMs = this.#clock.now()
    for (const [old, { untilMs }] of this.#known) if (untilMs <= nowMs) this.#known.delete(old)
    for (let known = this.#known.get(key); known; known = this.#known.get(key)) {
      const explained = await known.answer.catch(() => undefined)
      if (explained) return explained
      // The error may be due to the credentials of the other viewer.
      if (this.#known.get(key) === known) this.#known.delete(key)
    }
    const made: Entry = { answer: this.#explain(viewer, kind, object), untilMs: Infinity }
    this.#known.set(key, made)
    const startedMs = this.#stopwatchMs()
    made.answer.then(
      () => (made.untilMs = this.#clock.now() + Math.max(leastMs, restFactor * (this.#stopwatchMs() - startedMs))),
      () => this.#known.get(key) === made && this.#known.delete(key),
    )
    return made.answer
  }

  async #explain({ client }: Viewer, kind: WorkloadKind, object: Workload): Promise<Explained> {
    const clock = this.#clock
    const reader = new Reader(client, { clock, maxAgeMs: Infinity })
    const isCached = this.#caches.covers(object.metadata.namespace ?? '')
    const source = isCached ? this.#caches.sourceOf(kind, object) : askingSource(reader)
    const { causes } = await explainWorkload({ client, clock, program: 'coxswain' }, kind, object, { reader, source })
    return { causes: causes.slice(0, causesShown), unread: reader.unread }
  }
}
