import { conflict } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type ResourceType, addFinalizer, finalizersPatch, hasFinalizer, removeFinalizer } from '../../client/index.ts'
import type { Appliers, ApplyContext, Caches, Step } from '../kit/index.ts'

export interface Observed<T extends KubeObject> {
  object: T
  /** Who uses it, by name. */
  users: readonly string[]
  /** Whether the caches of its users are at least as new as the object: whoever used it when it was deleted is among them. */
  isCacheCurrent: boolean
}

export type Action = { kind: 'Protect' } | { kind: 'LetGo'; isSure: boolean }

/** Whether a cache has seen all that was there when the object was as it is: versions count for the whole cluster. */
export const isCacheCurrent = (caches: Caches, users: ResourceType, { metadata }: KubeObject): boolean =>
  compareResourceVersions(caches.of(users).lastSyncResourceVersion, metadata.resourceVersion ?? '') >= 0

/** Whether there is something to do about an object: one that stays needs its finalizer, one that goes has to lose it. */
export const isConcerned = (object: KubeObject, finalizer: string): boolean => (object.metadata.deletionTimestamp !== undefined) === hasFinalizer(object, finalizer)

/** What is deleted goes when nobody uses it any more. */
export const planProtection =
  (finalizer: string) =>
  ({ object, users, isCacheCurrent: isSure }: Observed<KubeObject>): Step<Action> => {
    if (!isConcerned(object, finalizer)) return { actions: [] }
    if (!object.metadata.deletionTimestamp) return { actions: [{ kind: 'Protect' }] }
    return users.length > 0 ? { actions: [], wait: `used by ${users.join(', ')}` } : { actions: [{ kind: 'LetGo', isSure }] }
  }

/** `isUsed` asks the server, where the caches are behind. */
export const protectionAppliers = <T extends KubeObject>(
  type: ResourceType<T>,
  finalizer: string,
  isUsed: (ctx: ApplyContext<T>) => Promise<boolean>,
): Appliers<T, Action> => ({
  Protect: ({ writer, owner }) => writer.patch(type, owner, finalizersPatch(addFinalizer(owner, finalizer)), { type: 'merge' }),
  async LetGo(ctx, { isSure }) {
    const { writer, owner } = ctx
    // Asked again until the caches have it: a user that is gone before they do leaves no trace in them.
    if (!isSure && (await isUsed(ctx))) throw conflict({ group: type.group, resource: type.plural }, owner.metadata.name ?? '', 'somebody uses it who is not in the cache yet')
    await writer.patch(type, owner, finalizersPatch(removeFinalizer(owner, finalizer)), { type: 'merge' })
  },
})
