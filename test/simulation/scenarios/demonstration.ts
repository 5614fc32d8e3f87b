import type { ConfigMap, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { configmaps, replicasets } from '../../../src/client/index.ts'
import { defineController } from '../../../src/controllers/kit/index.ts'
import { type Family, familyRules } from '../owned-children.ts'
import type { SimulatedController } from '../simulated-controller.ts'
import { createSet, deleteSet, deleteSome, replicasOf, scaleSet, statusIsTrue } from './replica-sets.ts'

interface Observed {
  owner: ReplicaSet
  children: ConfigMap[]
}

type Action = { kind: 'Create' } | { kind: 'Delete'; child: ConfigMap }

const byName = (a: KubeObject, b: KubeObject) => (a.metadata.name! < b.metadata.name! ? -1 : 1)

/** So many ConfigMaps for each ReplicaSet, by generated names; it takes them along when it is deleted. */
const controller = defineController<ReplicaSet, Observed, Action>({
  name: 'demonstration',
  owner: replicasets,
  sources: { owns: [configmaps] },
  deletion: { finalizer: 'simulation/children' },
  timing: { workers: 2 },
  observe: ({ caches }, owner) => ({ owner, children: caches.owned(configmaps, owner).sort(byName) }),
  plan({ owner, children }) {
    const wanted = owner.metadata.deletionTimestamp ? 0 : replicasOf(owner)
    const missing = Math.max(0, wanted - children.length)
    return {
      actions: [
        ...Array.from({ length: missing }, (): Action => ({ kind: 'Create' })),
        ...children.slice(wanted).map((child): Action => ({ kind: 'Delete', child })),
      ],
    }
  },
  apply: {
    Create: {
      pace: 'slow start',
      run: ({ owner, writer }) => writer.create(configmaps, { metadata: { generateName: `${owner.metadata.name}-` }, data: {} }),
    },
    Delete: { pace: 'all at once', run: ({ writer }, { child }) => writer.delete(configmaps, child) },
  },
  status: { compute: ({ children }) => ({ replicas: children.length }) },
})

const family: Family = { owner: replicasets, child: configmaps, wantedBy: replicasOf }

/** A controller that makes and deletes, with a finalizer. */
export const demonstration: SimulatedController = {
  name: 'demonstration',
  controllers: () => [controller],
  touched: [replicasets, configmaps],
  userActions: [createSet, scaleSet, deleteSet, deleteSome(configmaps, 2)],
  invariants: () => familyRules(family, statusIsTrue),
}
