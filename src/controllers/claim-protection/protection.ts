import { conflict } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type ResourceType, addFinalizer, finalizersPatch, hasFinalizer, removeFinalizer } from '../../client/index.ts'
import type { Appliers, ApplyContext, Caches, Step } from '../kit/index.ts'

export interface Observed<T extends KubeObject> {
  object: T
  /** The names of its users. */
  users: readonly string[]
  /**
   * True if the caches of its users are at least as new as the object, so that they contain every user at its deletion.
   */
  isCacheCurrent: boolean
}

export type Action = { kind: 'Protect' } | { kind: 'LetGo'; isSure: boolean }

/** Reports whether a cache is at least as new as an object. Resource versions apply to the whole cluster. */
export const isCacheCurrent = (caches: Caches, users: ResourceType, { metadata }: KubeObject): boolean =>
  compareResourceVersions(caches.of(users).lastSyncResourceVersion, metadata.resourceVersion ?? '') >= 0

/** Reports whether an object needs an action: to get its finalizer, or to lose it when it is deleted. */
export const isConcerned = (object: KubeObject, finalizer: string): boolean =>
  (object.metadata.deletionTimestamp !== undefined) === hasFinalizer(object, finalizer)

/** A deleted object loses its finalizer when it has no users. */
export const planProtection =
  (finalizer: string) =>
  ({ object, users, isCacheCurrent: isSure }: Observed<KubeObject>): Step<Action> => {
    if (!isConcerned(object, finalizer)) return { actions: [] }
    if (!object.metadata.deletionTimestamp) return { actions: [{ kind: 'Protect' }] }
    return users.length > 0
      ? { actions: [], wait: `used by ${users.join(', ')}` }
      : { actions: [{ kind: 'LetGo', isSure }] }
  }

/** `isUsed` asks the server if the caches are behind. */
export const protectionAppliers = <T extends KubeObject>(
  type: ResourceType<T>,
  finalizer: string,
  isUsed: (ctx: ApplyContext<T>) => Promise<boolean>,
): Appliers<T, Action> => ({
  Protect: ({ writer, owner }) =>
    writer.patch(type, owner, finalizersPatch(addFinalizer(owner, finalizer)), { type: 'merge' }),
  async LetGo(ctx, { isSure }) {
    const { writer, owner } = ctx
    // The check repeats until the cache contains the user: a user that is deleted before leaves no trace in it.
    if (!isSure && (await isUsed(ctx))) {
      throw conflict(
        { group: type.group, resource: type.plural },
        owner.metadata.name ?? '',
        'a user of it is not in the cache yet',
      )
    }
    await writer.patch(type, owner, finalizersPatch(removeFinalizer(owner, finalizer)), { type: 'merge' })
  },
})
