import { onTestFinished } from 'vitest'
import { FeatureGates } from '../../../src/api/feature-gates.ts'
import type { ClusterRole, PolicyRule } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import {
  type ResourceType, clonesets, clusterroles, cronjobs, daemonsets, deployments, jobs, replicasets,
  replicationcontrollers, statefulsets,
} from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, type TestCluster, VirtualClock, passTime, startCluster } from '../../../src/cluster/testing.ts'
import { monitorUser, nodeUser, schedulerUser } from '../../../src/cluster/parts/users.ts'
import { selectControllers } from '../../../src/controllers/index.ts'
import { Monitor } from '../../../src/monitor/index.ts'
import { NodeSources, simulatedNode } from '../../../src/node/index.ts'
import { Scheduler } from '../../../src/scheduler/index.ts'
import { type Attempt, refusalOf } from '../../../src/server/auth/authorize.ts'
import type { UserInfo } from '../../../src/server/objects/objects.ts'

/** One request of a part, as the authorizer judged it. */
export interface Judged {
  user: UserInfo
  attempt: Attempt
  allowed: boolean
  sentence: string
}

const isPart = ({ groups }: UserInfo) => !groups.includes('system:masters')
const nodeName = 'n1'

/** All parts in one process on a virtual clock, each with its own rights; every request of a part is recorded. */
export class PartsScene {
  readonly judged: Judged[] = []
  readonly clock: VirtualClock
  readonly cluster: TestCluster

  private constructor(clock: VirtualClock, cluster: TestCluster) {
    this.clock = clock
    this.cluster = cluster
  }

  static async start(): Promise<PartsScene> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const random = new SeededRandom(1)
    const controllers = [...selectControllers(['*'], { rootCa: 'PEM', timeZone: 'UTC', volumesDir: '/volumes' }).values()].flat()
    const cluster = await startCluster({ clock, random, controllers, authorization: [{ type: 'Node' }, { type: 'RBAC' }] })
    const scene = new PartsScene(clock, cluster)
    scene.#record()
    const as = (user: UserInfo) => new InProcessTransport(cluster.server, user)
    const scheduler = new Scheduler({ transport: as(schedulerUser), clock, random })
    const sources = new NodeSources({ transport: as(nodeUser(nodeName)), clock, random, nodeName })
    const monitor = new Monitor({ transport: as(monitorUser), clock, random, metrics: cluster.metrics, informerMetrics: cluster.metrics })
    sources.start()
    const agent = simulatedNode({ name: nodeName, index: 1, sources, clock, random, gates: FeatureGates.of() })
    const started = Promise.all([scheduler.start(), agent.start(), monitor.start()])
    await scene.pass(2000)
    await started
    onTestFinished(async () => {
      const stopped = Promise.all([agent.stop(), scheduler.stop(), monitor.stop()]).then(() => sources.stop()).then(() => cluster.stop())
      await scene.pass(15_000)
      await stopped
    })
    return scene
  }

  #record(): void {
    const { parts } = this.cluster.server
    const inner = parts.authorizer
    parts.authorizer = {
      authorize: (user, attempt) => {
        const decision = inner.authorize(user, attempt)
        if (decision instanceof Promise) throw new Error('nobody is asked who would have to be waited for')
        if (isPart(user)) this.judged.push({ user, attempt, allowed: decision.allowed, sentence: refusalOf(user, attempt, decision) })
        return decision
      },
    }
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let i = 0; i < 600; i++) {
      if (await isSo()) return
      await this.pass(200)
    }
    throw new Error(`it did not happen: ${what}; refused: ${this.refused().join('\n')}`)
  }

  /** The distinct messages of rejected requests. */
  refused(): string[] {
    return [...new Set(this.judged.filter(({ allowed }) => !allowed).map(({ sentence }) => sentence))]
  }

  create(type: ResourceType, metadata: object, rest: object): Promise<KubeObject> {
    return this.cluster.client.create(type, { metadata: { namespace: 'default', ...metadata }, ...rest } as unknown as KubeObject)
  }

  /** Takes rules of a role away, or puts others in their place. */
  async setRules(role: string, change: (rules: PolicyRule[]) => PolicyRule[]): Promise<void> {
    const { client } = this.cluster
    const known = await client.get<ClusterRole>(clusterroles, '', role)
    await client.update(clusterroles, { ...known, rules: change([...(known.rules ?? [])]) })
  }

  read<T extends KubeObject>(group: string, plural: string, name: string): T | undefined {
    return this.cluster.server.parts.access.get<T>(group, plural, 'default', name)
  }
}

const template = (app: string, image: string) => ({ metadata: { labels: { app } }, spec: { containers: [{ name: 'app', image }] } })
const selector = (app: string) => ({ matchLabels: { app } })

/** Every kind of workload: how one is made, and how a rollout of it is begun. */
export const workloads: Record<string, { type: ResourceType; spec(app: string, image: string): object }> = {
  deployment: { type: deployments, spec: (app, image) => ({ replicas: 2, selector: selector(app), template: template(app, image) }) },
  replicaset: { type: replicasets, spec: (app, image) => ({ replicas: 2, selector: selector(app), template: template(app, image) }) },
  replicationcontroller: { type: replicationcontrollers, spec: (app, image) => ({ replicas: 2, selector: { app }, template: template(app, image) }) },
  statefulset: {
    type: statefulsets,
    spec: (app, image) => ({
      replicas: 2, serviceName: app, selector: selector(app), template: template(app, image),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
    }),
  },
  daemonset: { type: daemonsets, spec: (app, image) => ({ selector: selector(app), template: template(app, image) }) },
  cloneset: { type: clonesets, spec: (app, image) => ({ replicas: 2, selector: selector(app), template: template(app, image) }) },
  job: { type: jobs, spec: (app, image) => ({ completions: 2, ttlSecondsAfterFinished: 5, template: { ...template(app, image), spec: { ...template(app, image).spec, restartPolicy: 'Never' } } }) },
  cronjob: {
    type: cronjobs,
    spec: (app, image) => ({ schedule: '* * * * *', jobTemplate: { spec: { template: { ...template(app, image), spec: { ...template(app, image).spec, restartPolicy: 'Never' } } } } }),
  },
}
