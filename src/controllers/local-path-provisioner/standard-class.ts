import { isAlreadyExists } from '../../api/errors.ts'
import type { StorageClass } from '../../api/generated/types.ts'
import { isDefaultStorageClass, localPathProvisioner, standardClass } from '../../api/kinds/volumes/storage-classes.ts'
import { type New, storageclasses } from '../../client/index.ts'
import { type FreeController, KeyLoop } from '../kit/index.ts'

const standard: New<StorageClass> = {
  metadata: { name: standardClass, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: localPathProvisioner,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
}

/**
 * Reports whether the cluster lacks a default class. An existing default, and a class of the same name, are left alone.
 */
export const isStandardMissing = (classes: readonly StorageClass[]): boolean =>
  !classes.some((one) => isDefaultStorageClass(one) || one.metadata.name === standardClass)

/**
 * Creates the class `standard` at the start if there is no default. If a user deletes it, it stays deleted until the
 * next start.
 */
export const standardClassMaker: FreeController = {
  name: 'local-path-standard-class',
  reads: [storageclasses],
  workers: 1,
  start(ctx) {
    const loop = new KeyLoop('local-path-standard-class', ctx, async (_key, signal) => {
      if (!isStandardMissing(ctx.caches.list(storageclasses))) return undefined
      try {
        await ctx.client.create(storageclasses, standard, { signal })
      } catch (e) {
        if (!isAlreadyExists(e)) throw e
      }
      return undefined
    })
    loop.queue.add(standardClass)
    loop.start()
    return { stop: () => loop.stop(), problems: () => loop.problems() }
  },
}
