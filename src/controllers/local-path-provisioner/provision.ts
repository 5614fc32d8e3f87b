import { isAlreadyExists } from '../../api/errors.ts'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts'
import { localPathProvisioner, storageClassOf } from '../../api/kinds/volumes/storage-classes.ts'
import {
  annotationOf,
  bindCompleted,
  claimKeyOf,
  provisionedBy,
  selectedNode,
  storageProvisioners,
} from '../../api/kinds/volumes/volume-binding.ts'
import { isDelayed } from '../../api/kinds/volumes/volume-matching.ts'
import {
  type New,
  keyOf,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  storageclasses,
} from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'
import { type Place, localPathVolume, volumeNameFor, whyRefused } from './volume.ts'

export interface Observed {
  claim: PersistentVolumeClaim
  storageClass: StorageClass | undefined
  isMade: boolean
  place: Place
  /** The reason of the last rejection of the claim. */
  refused: string | undefined
}

export type Action = { kind: 'Make'; volume: New<PersistentVolume> } | { kind: 'Refuse'; why: string }

/** Reports whether a claim waits for a local volume. */
const isAsked = (claim: PersistentVolumeClaim): boolean =>
  !claim.spec.volumeName &&
  !annotationOf(claim, bindCompleted) &&
  storageProvisioners.some((name) => annotationOf(claim, name) === localPathProvisioner)

/** Creates a volume for a claim as soon as its node is known. */
export function plan({ claim, storageClass, isMade, place, refused }: Observed): Step<Action> {
  if (!isAsked(claim) || isMade || storageClass?.provisioner !== localPathProvisioner) return { actions: [] }
  if (isDelayed(storageClass) && place.node === undefined) {
    return { actions: [], wait: 'no pod that uses the claim is scheduled yet' }
  }
  const why = whyRefused(claim, storageClass)
  if (why !== undefined) return { actions: why === refused ? [] : [{ kind: 'Refuse', why }], wait: why }
  return { actions: [{ kind: 'Make', volume: localPathVolume(claim, storageClass, place) }] }
}

const askedInClass = 'local-path-asked-in-class'

/** Creates volumes for claims, below this directory of their nodes. */
export const localPathMaker = (root: string) =>
  defineController<PersistentVolumeClaim, Observed, Action>({
    name: 'local-path-provisioner',
    owner: persistentvolumeclaims,
    sources: {
      looksAt: isAsked,
      watches: [
        watching(storageclasses, ({ metadata }, caches) =>
          caches.byIndex(persistentvolumeclaims, askedInClass, metadata.name!).map(keyOf),
        ),
        // A volume that a user deletes before the claim is bound is created again.
        watching(
          persistentvolumes,
          (volume) => (annotationOf(volume, provisionedBy) === localPathProvisioner ? [claimKeyOf(volume) ?? ''] : []),
          () => false,
        ),
      ],
      reads: [nodes],
      indexes: [
        indexing(persistentvolumeclaims, askedInClass, (claim) => (isAsked(claim) ? [storageClassOf(claim)] : [])),
      ],
    },
    observe({ caches, remembered }, claim) {
      const node = annotationOf(claim, selectedNode) || undefined
      return {
        claim,
        storageClass: caches.get(storageclasses, '', storageClassOf(claim)),
        isMade: caches.get(persistentvolumes, '', volumeNameFor(claim)) !== undefined,
        place: { root, node, nodeObject: node === undefined ? undefined : caches.get(nodes, '', node) },
        refused: remembered as string | undefined,
      }
    },
    plan,
    apply: {
      Make: {
        async run({ writer, event }, { volume }) {
          try {
            await writer.create(persistentvolumes, volume)
          } catch (e) {
            // The previous leader created it, and the cache will contain it.
            if (!isAlreadyExists(e)) throw e
          }
          event('Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${volume.metadata.name}`)
        },
        failed: (error, { volume }) => ({
          reason: 'ProvisioningFailed',
          message: failure(volume.spec?.storageClassName, error.message),
        }),
      },
      Refuse: async ({ event, owner }, { why }) =>
        event('Warning', 'ProvisioningFailed', failure(storageClassOf(owner), why)),
    },
    remember: ({ refused }, { done }) => done.find((action) => action.kind === 'Refuse')?.why ?? refused,
  })

const failure = (storageClass: string | undefined, why: string): string =>
  `failed to provision volume with StorageClass ${JSON.stringify(storageClass)}: ${why}`
