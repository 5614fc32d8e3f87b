import type { Node, PersistentVolume } from '../../api/generated/types.ts'
import {
  localPathFinalizer,
  localPathNode,
  localPathProvisioner,
  removesLocalPaths,
} from '../../api/kinds/volumes/storage-classes.ts'
import { annotationOf, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import { finalizersPatch, hasFinalizer, nodes, persistentvolumes, removeFinalizer } from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'

export interface Observed {
  volume: PersistentVolume
  /** The node with the directory. */
  node: Node | undefined
}

export type Action = { kind: 'Delete'; volume: PersistentVolume } | { kind: 'LetGo'; volume: PersistentVolume }

const isOurs = (volume: PersistentVolume): boolean => annotationOf(volume, provisionedBy) === localPathProvisioner

const removesDirectories = (node: Node): boolean => annotationOf(node, removesLocalPaths) === 'true'

/** Deletes a released volume. A node that supports it removes the directory first. */
export function plan({ volume, node }: Observed): Step<Action> {
  const { deletionTimestamp } = volume.metadata
  if (!isOurs(volume)) return { actions: [] }
  if (!deletionTimestamp) {
    const isDone = volume.status.phase === 'Released' && volume.spec.persistentVolumeReclaimPolicy === 'Delete'
    return { actions: isDone ? [{ kind: 'Delete', volume }] : [] }
  }
  if (!hasFinalizer(volume, localPathFinalizer) || volume.status.phase === 'Bound') return { actions: [] }
  if (node && removesDirectories(node)) {
    return { actions: [], wait: `node ${node.metadata.name} removes the directory ${volume.spec.hostPath?.path}` }
  }
  return { actions: [{ kind: 'LetGo', volume }] }
}

const byNode = 'local-path-node'

/** Deletes volumes of deleted claims. */
export const localPathRemover = defineController<PersistentVolume, Observed, Action>({
  name: 'local-path-remover',
  owner: persistentvolumes,
  sources: {
    looksAt: isOurs,
    watches: [
      watching(
        nodes,
        ({ metadata }, caches) =>
          caches.byIndex(persistentvolumes, byNode, metadata.name!).map((volume) => volume.metadata.name!),
        (before: Node, after: Node) => removesDirectories(before) !== removesDirectories(after),
      ),
    ],
    indexes: [
      indexing(persistentvolumes, byNode, (volume) =>
        isOurs(volume) && volume.metadata.deletionTimestamp ? [annotationOf(volume, localPathNode)] : [],
      ),
    ],
  },
  deletion: { isPlanned: true },
  observe({ caches }, volume) {
    const node = annotationOf(volume, localPathNode)
    return { volume, node: node ? caches.get(nodes, '', node) : undefined }
  },
  plan,
  apply: {
    // The version is checked, because a user may have decided to keep the volume.
    Delete: ({ writer }, { volume }) =>
      writer.delete(persistentvolumes, volume, { resourceVersion: volume.metadata.resourceVersion }),
    LetGo: ({ writer }, { volume }) =>
      writer.patch(persistentvolumes, volume, finalizersPatch(removeFinalizer(volume, localPathFinalizer)), {
        type: 'merge',
      }),
  },
})
