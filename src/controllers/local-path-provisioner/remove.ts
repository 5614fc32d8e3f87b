import type { Node, PersistentVolume } from '../../api/generated/types.ts'
import { localPathFinalizer, localPathNode, localPathProvisioner, removesLocalPaths } from '../../api/kinds/local-path.ts'
import { annotationOf, provisionedBy } from '../../api/kinds/volume-binding.ts'
import { finalizersPatch, hasFinalizer, nodes, persistentvolumes, removeFinalizer } from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'

export interface Observed {
  volume: PersistentVolume
  /** The one that has the directory. */
  node: Node | undefined
}

export type Action = { kind: 'Delete'; volume: PersistentVolume } | { kind: 'LetGo'; volume: PersistentVolume }

const isOurs = (volume: PersistentVolume): boolean => annotationOf(volume, provisionedBy) === localPathProvisioner

const removesDirectories = (node: Node): boolean => annotationOf(node, removesLocalPaths) === 'true'

/** Deletes a volume that was released. Its node has the directory removed, if it does such things, before the volume is gone. */
export function plan({ volume, node }: Observed): Step<Action> {
  const { deletionTimestamp } = volume.metadata
  if (!isOurs(volume)) return { actions: [] }
  if (!deletionTimestamp) {
    const isDone = volume.status.phase === 'Released' && volume.spec.persistentVolumeReclaimPolicy === 'Delete'
    return { actions: isDone ? [{ kind: 'Delete', volume }] : [] }
  }
  if (!hasFinalizer(volume, localPathFinalizer) || volume.status.phase === 'Bound') return { actions: [] }
  if (node && removesDirectories(node)) return { actions: [], wait: `node ${node.metadata.name} removes the directory ${volume.spec.hostPath?.path}` }
  return { actions: [{ kind: 'LetGo', volume }] }
}

const byNode = 'local-path-node'

/** Deletes volumes that were made for claims which are gone. */
export const localPathRemover = defineController<PersistentVolume, Observed, Action>({
  name: 'local-path-remover',
  owner: persistentvolumes,
  looksAt: isOurs,
  watches: [
    watching(
      nodes,
      ({ metadata }, caches) => caches.byIndex(persistentvolumes, byNode, metadata.name!).map((volume) => volume.metadata.name!),
      (before: Node, after: Node) => removesDirectories(before) !== removesDirectories(after),
    ),
  ],
  indexes: [indexing(persistentvolumes, byNode, (volume) => (isOurs(volume) && volume.metadata.deletionTimestamp ? [annotationOf(volume, localPathNode)] : []))],
  plansDeletion: true,
  observe({ caches }, volume) {
    const node = annotationOf(volume, localPathNode)
    return { volume, node: node ? caches.get(nodes, '', node) : undefined }
  },
  plan,
  apply: {
    // In the very state that was judged: somebody may have decided to keep it.
    Delete: ({ writer }, { volume }) => writer.delete(persistentvolumes, volume, { resourceVersion: volume.metadata.resourceVersion }),
    LetGo: ({ writer }, { volume }) => writer.patch(persistentvolumes, volume, finalizersPatch(removeFinalizer(volume, localPathFinalizer)), { type: 'merge' }),
  },
})
