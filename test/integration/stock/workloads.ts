import type { DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet } from '../../../src/api/generated/types.ts'
import type { New } from '../../../src/client/index.ts'

const template = (app: string) => ({ metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } })
const head = (name: string) => ({ metadata: { name, namespace: 'default' } })

/** Workloads as users of a stock cluster write them. */
export const statefulSet = (name: string, replicas = 2): New<StatefulSet> =>
  ({ ...head(name), spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: template(name) } }) as New<StatefulSet>

export const daemonSet = (name: string): New<DaemonSet> =>
  ({ ...head(name), spec: { selector: { matchLabels: { app: name } }, template: template(name) } }) as New<DaemonSet>

export const deployment = (name: string, replicas = 2): New<Deployment> =>
  ({ ...head(name), spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) } }) as New<Deployment>

export const replicaSet = (name: string, replicas = 2): New<ReplicaSet> =>
  ({ ...head(name), spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) } }) as New<ReplicaSet>

export const replicationController = (name: string, replicas = 2): New<ReplicationController> =>
  ({ ...head(name), spec: { replicas, selector: { app: name }, template: template(name) } }) as New<ReplicationController>

export const job = (name: string, completions = 1): New<Job> => {
  const { metadata, spec } = template(name)
  return { ...head(name), spec: { completions, parallelism: completions, template: { metadata, spec: { ...spec, restartPolicy: 'Never' } } } } as New<Job>
}
