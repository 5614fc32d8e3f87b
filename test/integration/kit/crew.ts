import type { ConfigMap, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import { configmaps, pods, replicasets } from '../../../src/client/index.ts'
import { type Step, defineController } from '../../../src/controllers/index.ts'

export interface Observed {
  set: ReplicaSet
  pods: Pod[]
  roster: ConfigMap | undefined
}

export type Action =
  | { kind: 'CreatePod' }
  | { kind: 'DeletePod'; pod: Pod }
  | { kind: 'CreateRoster'; names: string }
  | { kind: 'UpdateRoster'; roster: ConfigMap; names: string }
  | { kind: 'DeleteRoster'; roster: ConfigMap }

const byName = (a: Pod, b: Pod) => (a.metadata.name! < b.metadata.name! ? -1 : 1)

/** As many pods as wanted, then a roster that names them; nobody needs none. */
function plan({ set, pods: all, roster }: Observed): Step<Action> {
  const active = all.filter((p) => !p.metadata.deletionTimestamp).sort(byName)
  const wanted = set.spec?.replicas ?? 1
  const missing = wanted - active.length
  if (missing > 0) return { actions: Array.from({ length: missing }, () => ({ kind: 'CreatePod' })), wait: `${missing} pods to be seen` }
  if (missing < 0) return { actions: active.slice(wanted).map((pod) => ({ kind: 'DeletePod', pod })), wait: `${-missing} pods to go` }
  if (wanted === 0) return { actions: roster ? [{ kind: 'DeleteRoster', roster }] : [] }
  const names = active.map((p) => p.metadata.name).join(' ')
  if (!roster) return { actions: [{ kind: 'CreateRoster', names }] }
  return { actions: roster.data?.names === names ? [] : [{ kind: 'UpdateRoster', roster, names }] }
}

/** A demonstration of the kit that writes two kinds: the pods of a ReplicaSet, and a ConfigMap with their names. */
export const crew = defineController<ReplicaSet, Observed, Action>({
  name: 'crew',
  owner: replicasets,
  sources: { owns: [pods, configmaps] },
  consistency: { gate: 'StaleControllerConsistencyReplicaSet' },
  observe: ({ caches }, set) => ({
    set,
    pods: caches.owned(pods, set),
    roster: caches.owned(configmaps, set)[0],
  }),
  plan,
  apply: {
    CreatePod: {
      pace: 'slow start',
      run: ({ writer, owner }) => {
        const { metadata, spec } = owner.spec!.template!
        return writer.create(pods, { metadata: { generateName: `${owner.metadata.name}-`, labels: metadata?.labels }, spec: spec! })
      },
      failed: (error) => ({ reason: 'FailedCreate', message: `Error creating: ${error.message}` }),
    },
    DeletePod: { pace: 'all at once', run: ({ writer }, { pod }) => writer.delete(pods, pod) },
    CreateRoster: ({ writer, owner }, { names }) => writer.create(configmaps, { metadata: { name: `${owner.metadata.name}-roster` }, data: { names } }),
    UpdateRoster: ({ writer }, { roster, names }) => writer.update(configmaps, { ...roster, data: { names } }),
    DeleteRoster: ({ writer }, { roster }) => writer.delete(configmaps, roster),
  },
  status: {
    compute: ({ pods: all, set }) => ({
      ...set.status,
      replicas: all.length,
      fullyLabeledReplicas: all.length,
    }),
  },
})

/** A ReplicaSet for it. */
export const replicaSet = (name: string, replicas: number): Omit<ReplicaSet, 'status'> => ({
  metadata: { name, namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }] } },
  },
})
