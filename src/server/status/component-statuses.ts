import { ApiError } from '../../api/errors.ts'
import type { ComponentStatus, Lease } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { nameColumn } from '../answers/columns.ts'
import type { ObjectReader } from '../objects/objects.ts'
import { type Column, type Resource, type VirtualKind, defineVirtual } from '../registry/resource.ts'
import type { ActionAnswer, ActionContext } from '../subresources/action.ts'
import type { Tabular } from '../answers/table.ts'
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
  { name: 'Message', type: 'string', description: 'Message of the component conditions', cell: (s) => healthOf(s)?.message ?? '' },
  { name: 'Error', type: 'string', description: 'Error of the component conditions', cell: (s) => healthOf(s)?.error ?? '' },
]

const tabular: Tabular = { columns: columns as unknown as readonly Column<KubeObject>[] }

/** The parts of a control plane that Kubernetes tells of, and the lease that the leader of each renews. */
const leaseOf = { 'controller-manager': 'kube-controller-manager', scheduler: 'kube-scheduler' } as const

/** Answers what is wrong with a part, or nothing. */
export type ComponentCheck = () => string | undefined

export interface ComponentStatusesOptions {
  /** Asked for later: what reads objects needs the kinds first. */
  objects(): ObjectReader
  now(): number
  /** Parts of this process by name. What is not among them is judged by its lease. */
  checks: ReadonlyMap<string, ComponentCheck>
  /** Why the store can no longer be used. */
  lost(): Error | undefined
}

/** Answers `kubectl get componentstatuses`: how the parts of the control plane are. Nothing of it is stored. */
export class ComponentStatuses {
  readonly #o: ComponentStatusesOptions

  constructor(options: ComponentStatusesOptions) {
    this.#o = options
  }

  /** As a kind that a server answers. */
  resource(): Resource {
    return defineVirtual({ ...componentStatuses, answer: (ctx) => this.answer(ctx) })
  }

  async answer({ name, query, warnings }: Pick<ActionContext, 'name' | 'query' | 'warnings'>): Promise<ActionAnswer> {
    warnings.push(deprecation)
    const all = this.#statuses()
    if (name === '') {
      const items = all.filter(objectSelector(query)).map(({ kind: _kind, apiVersion: _version, ...item }) => item)
      return { code: 200, object: { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items }, table: tabular }
    }
    const found = all.find(({ metadata }) => metadata.name === name)
    if (!found) throw new ApiError(500, '', `Component not found: ${name}`)
    return { code: 200, object: found, table: tabular }
  }

  #statuses(): ComponentStatus[] {
    const { checks, lost } = this.#o
    const parts = Object.entries(leaseOf).map(([name, lease]) => [name, checks.get(name) ?? (() => this.#leaseProblem(lease))] as const)
    return [...parts, ['etcd-0', () => lost()?.message] as const].map(([name, check]) => statusOf(name, check()))
  }

  /** A part of another process is well while its leader renews its lease. */
  #leaseProblem(name: string): string | undefined {
    const { renewTime, leaseDurationSeconds = 15 } = this.#o.objects().get<Lease>('coordination.k8s.io', 'leases', 'kube-system', name)?.spec ?? {}
    if (!renewTime) return `nobody holds the lease kube-system/${name}`
    const sinceMs = this.#o.now() - Date.parse(renewTime)
    return sinceMs <= leaseDurationSeconds * 1000 ? undefined : `the lease kube-system/${name} was last renewed at ${renewTime}`
  }
}

const statusOf = (name: string, problem: string | undefined): ComponentStatus => ({
  kind: 'ComponentStatus',
  apiVersion: 'v1',
  metadata: { name },
  conditions: [{ type: 'Healthy', status: problem ? 'False' : 'True', message: problem ?? 'ok' }],
})
