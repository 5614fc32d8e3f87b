import type { Client } from './client.ts'
import { makeNamespace, must } from './figures.ts'
import { type Seen, watchObjects } from './object-watch.ts'
import type { Target } from './target.ts'

const template = (app: string, image: string, restartPolicy: 'Always' | 'Never') => ({
  metadata: { labels: { app } },
  spec: { restartPolicy, containers: [{ name: 'main', image, resources: { requests: { cpu: '100m', memory: '128Mi' } }, ports: [{ containerPort: 8080 }] }] },
})

export const deployment = (name: string, replicas: number, rollingUpdate?: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, strategy: { rollingUpdate }, selector: { matchLabels: { app: name } }, template: template(name, 'registry.example.com/web:1', 'Always') },
})

export const statefulSet = (name: string, replicas: number, policy: 'OrderedReady' | 'Parallel', maxUnavailable: number | string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name },
  spec: {
    replicas,
    serviceName: name,
    podManagementPolicy: policy,
    selector: { matchLabels: { app: name } },
    template: template(name, 'registry.example.com/db:1', 'Always'),
    updateStrategy: { rollingUpdate: { maxUnavailable } },
  },
})

export const cloneSet = (name: string, replicas: number, type: 'ReCreate' | 'InPlaceIfPossible') => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'CloneSet',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: template(name, 'registry.example.com/web:1', 'Always'),
    updateStrategy: { type, maxUnavailable: '25%' },
  },
})

/** On every node with the label, whatever else is said of it. */
export const daemonSet = (name: string, nodeLabel: string) => {
  const { metadata, spec } = template(name, 'registry.example.com/agent:1', 'Always')
  const placed = { ...spec, nodeSelector: { [nodeLabel]: 'yes' }, tolerations: [{ operator: 'Exists' }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: { metadata, spec: placed }, updateStrategy: { rollingUpdate: { maxUnavailable: '10%' } } },
  }
}

export const job = (name: string, completions: number, parallelism: number) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { completions, parallelism, template: template(name, 'registry.example.com/task:1', 'Never') },
})

/** The condition that `kubectl rollout status` waits for. */
export function isRolledOut({ metadata, spec, status = {} }: Seen): boolean {
  const wanted = spec.replicas ?? 1
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  return observedGeneration >= (metadata.generation ?? 0) && updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted
}

/** The same for a DaemonSet on so many nodes. */
export const isOnAll = (nodes: number) => ({ metadata, status = {} }: Seen): boolean => {
  const { observedGeneration = 0, desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status
  return observedGeneration >= (metadata.generation ?? 0) && desiredNumberScheduled === nodes && updatedNumberScheduled === nodes && numberAvailable === nodes
}

export const isComplete = ({ status }: Seen): boolean => status?.conditions?.some((c) => c.type === 'Complete' && c.status === 'True') ?? false

/** Workloads of one kind in a namespace of their own, watched. */
export class Workloads {
  readonly #client: Client
  readonly #path: string
  readonly #objects = new Map<string, Seen>()
  readonly #listeners = new Set<() => void>()
  #end = () => {}

  private constructor(client: Client, path: string) {
    this.#client = client
    this.#path = path
  }

  static async open(target: Target, client: Client, namespace: string, kind: 'apps/v1 deployments' | 'apps.kruise.io/v1alpha1 clonesets' | 'apps/v1 statefulsets' | 'apps/v1 daemonsets' | 'batch/v1 jobs'): Promise<Workloads> {
    const [version, plural] = kind.split(' ')
    await makeNamespace(client, namespace)
    const workloads = new Workloads(client, `/apis/${version}/namespaces/${namespace}/${plural}`)
    workloads.#end = await watchObjects(target, workloads.#path, (_type, object) => workloads.#see(object))
    return workloads
  }

  create(object: object): Promise<number> {
    return must(this.#client, 201, 'POST', this.#path, JSON.stringify(object))
  }

  patch(name: string, patch: object): Promise<number> {
    return must(this.#client, 200, 'PATCH', `${this.#path}/${name}`, JSON.stringify(patch), 'application/merge-patch+json')
  }

  /** Resolves when so many of them are as they should be, at a generation no older than `generation`. */
  async until(is: (object: Seen) => boolean, count = 1, generation = 1): Promise<void> {
    for (;;) {
      let done = 0
      for (const object of this.#objects.values()) if ((object.metadata.generation ?? 1) >= generation && is(object)) done++
      if (done >= count) return
      await new Promise<void>((resolve) => this.#listeners.add(resolve))
    }
  }

  /** The same for the one of this name. */
  async untilOf(name: string, is: (object: Seen) => boolean, generation = 1): Promise<void> {
    return this.until((object) => object.metadata.name === name && is(object), 1, generation)
  }

  close(): void {
    this.#end()
  }

  #see(object: Seen): void {
    this.#objects.set(object.metadata.name, object)
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
  }
}
