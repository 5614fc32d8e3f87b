import { deepEqual } from '../../../src/api/deep-equal.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { type ApiRequest, type Identity, type Transport, type WatchListener, asIdentity } from '../../../src/client/index.ts'

interface Status {
  conditions?: { type: string }[] | null
}

interface Workload extends KubeObject {
  status?: Status
}

/** The conditions that Kubernetes' own controllers write, by resource. All others are somebody else's. */
const stockConditions: Readonly<Record<string, readonly string[]>> = {
  statefulsets: [],
  daemonsets: [],
  deployments: ['Available', 'Progressing', 'ReplicaFailure'],
  replicasets: ['ReplicaFailure'],
  replicationcontrollers: ['ReplicaFailure'],
  jobs: ['Complete', 'Failed', 'Suspended', 'SuccessCriteriaMet', 'FailureTarget'],
}

/** Without zeroes: a status may leave them out. */
const told = (numbers: object): object => Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0 && value !== ''))

/**
 * Has our controllers write statuses as those of kube-controller-manager do, as recorded with 1.36.4: a StatefulSet's conditions
 * are gone with the controller's next write, which only a change of its numbers brings about; the controllers of DaemonSets,
 * Deployments, ReplicaSets, ReplicationControllers and Jobs keep conditions that they do not know.
 */
export class StockStatusTransport implements Transport {
  readonly #inner: Transport

  constructor(inner: Transport) {
    this.#inner = inner
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const [, resource] = /\/([a-z]+)\/[^/]+\/status$/.exec(request.path) ?? []
    const own = request.method === 'PUT' ? stockConditions[resource ?? ''] : undefined
    if (!own) return this.#inner.send<T>(request)
    const stored = await this.#inner.send<Workload>({ method: 'GET', path: request.path.replace(/\/status$/, '') })
    const { status: { conditions, ...numbers } = {}, ...object } = request.body as Workload
    const { status: { conditions: before, ...numbersBefore } = {} } = stored
    const kept = resource === 'statefulsets' ? [] : (before ?? []).filter(({ type }) => !own.includes(type))
    const said = (conditions ?? []).filter(({ type }) => own.includes(type))
    const saidBefore = (before ?? []).filter(({ type }) => own.includes(type))
    // No controller writes a status for the sake of conditions that are not its own.
    if (deepEqual(told(numbers), told(numbersBefore)) && deepEqual(said, saidBefore)) return stored as T
    const next = [...said, ...kept]
    return this.#inner.send<T>({ ...request, body: { ...object, status: { ...numbers, ...(next.length > 0 ? { conditions: next } : {}) } } })
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    return this.#inner.watch(request, listener)
  }

  as(identity: Identity): Transport {
    return new StockStatusTransport(asIdentity(this.#inner, identity))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}
