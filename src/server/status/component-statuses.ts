import { ApiError } from '../../api/errors.ts'
import type { ComponentStatus, Lease } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { nameColumn } from '../answers/columns.ts'
import type { ObjectReader } from '../objects/objects.ts'
import {
  type ActionAnswer,
  type ActionContext,
  type Column,
  type Resource,
  type Tabular,
  type VirtualKind,
  defineVirtual,
} from '../registry/resource.ts'
import { objectSelector } from '../verbs/selection.ts'

const deprecation = 'v1 ComponentStatus is deprecated in v1.19+'

const componentStatuses: Omit<VirtualKind, 'answer'> = {
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  namespaced: false,
  verbs: ['get', 'list'],
  shortNames: ['cs'],
}

const healthOf = ({ conditions }: ComponentStatus) => conditions?.find((c) => c.type === 'Healthy')

function statusText(status: ComponentStatus): string {
  const health = healthOf(status)
  return health === undefined ? 'Unknown' : health.status === 'True' ? 'Healthy' : 'Unhealthy'
}

const columns: readonly Column<ComponentStatus>[] = [
  nameColumn(),
  { name: 'Status', type: 'string', description: 'Status of the component conditions', cell: statusText },
  {
    name: 'Message',
    type: 'string',
    description: 'Message of the component conditions',
    cell: (s) => healthOf(s)?.message ?? '',
  },
  {
    name: 'Error',
    type: 'string',
    description: 'Error of the component conditions',
    cell: (s) => healthOf(s)?.error ?? '',
  },
]

const tabular: Tabular = { columns: columns as unknown as readonly Column<KubeObject>[] }

/** The components that Kubernetes reports, and the leases of their leaders. */
const leaseOf = { 'controller-manager': 'kube-controller-manager', scheduler: 'kube-scheduler' } as const

/** Returns the problem of a component. Undefined if it is healthy. */
export type ComponentCheck = () => string | undefined

interface ComponentStatusesOptions {
  /** A function, because the kinds are registered before objects can be read. */
  objects(): ObjectReader
  now(): number
  /** Components of this process, by name. Others are checked by their lease. */
  checks: ReadonlyMap<string, ComponentCheck>
  /** The error that made the store unavailable. */
  lost(): Error | undefined
}

/** Serves `kubectl get componentstatuses`: the health of control plane components. Nothing is stored. */
export class ComponentStatuses {
  readonly #o: ComponentStatusesOptions

  constructor(options: ComponentStatusesOptions) {
    this.#o = options
  }

  /** The resource as a virtual kind. */
  resource(): Resource {
    return defineVirtual({ ...componentStatuses, answer: (ctx) => this.answer(ctx) })
  }

  async answer({ name, query, warnings }: Pick<ActionContext, 'name' | 'query' | 'warnings'>): Promise<ActionAnswer> {
    warnings.push(deprecation)
    const all = this.#statuses()
    if (name === '') {
      const items = all.filter(objectSelector(query)).map(({ kind: _kind, apiVersion: _version, ...item }) => item)
      return {
        code: 200,
        object: { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items },
        table: tabular,
      }
    }
    const found = all.find(({ metadata }) => metadata.name === name)
    if (!found) throw new ApiError(500, '', `Component not found: ${name}`)
    return { code: 200, object: found, table: tabular }
  }

  #statuses(): ComponentStatus[] {
    const { checks, lost } = this.#o
    const parts = Object.entries(leaseOf).map(
      ([name, lease]) => [name, checks.get(name) ?? (() => this.#leaseProblem(lease))] as const,
    )
    return [...parts, ['etcd-0', () => lost()?.message] as const].map(([name, check]) => statusOf(name, check()))
  }

  /** A component in another process is healthy while its leader renews its lease. */
  #leaseProblem(name: string): string | undefined {
    const { renewTime, leaseDurationSeconds = 15 } =
      this.#o.objects().get<Lease>('coordination.k8s.io', 'leases', 'kube-system', name)?.spec ?? {}
    if (!renewTime) return `the lease kube-system/${name} has no holder`
    const sinceMs = this.#o.now() - Date.parse(renewTime)
    return sinceMs <= leaseDurationSeconds * 1000
      ? undefined
      : `the lease kube-system/${name} was last renewed at ${renewTime}`
  }
}

const statusOf = (name: string, problem: string | undefined): ComponentStatus => ({
  kind: 'ComponentStatus',
  apiVersion: 'v1',
  metadata: { name },
  conditions: [{ type: 'Healthy', status: problem ? 'False' : 'True', message: problem ?? 'ok' }],
})
