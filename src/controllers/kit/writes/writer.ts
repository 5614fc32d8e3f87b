import { deepEqual } from '../../../api/deep-equal.ts'
import { type Status, conflict, isAlreadyExists, isAnotherUid, isInvalid, isNotFound } from '../../../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../../../api/object.ts'
import type { Random } from '../../../base/random.ts'
import {
  type ApplyConfiguration,
  type ApplyOptions,
  type Client,
  type DeleteOptions,
  type New,
  type OwnerPatch,
  type PatchOptions,
  type ResourceType,
  adoptionPatch,
  apiVersionOf,
  controllerOf,
  isControlledBy,
  keyOf,
  ownerReference,
  releasePatch,
  resourceName,
} from '../../../client/index.ts'
import { isFateUnknown } from '../errors.ts'
import { generatedName } from '../../../api/generated-name.ts'
import type { Subject, UnsettledWrite, UnsettledWrites, WriteLog } from './unsettled.ts'

/**
 * True if removing the last finalizer deleted the object. The response then has a version that the cache may have had
 * for long.
 */
const wasWaitingForThis = ({
  metadata: { deletionTimestamp, deletionGracePeriodSeconds, finalizers },
}: KubeObject): boolean => deletionTimestamp !== undefined && !deletionGracePeriodSeconds && !finalizers?.length

/** The number of attempts to generate a name that is not taken. */
const nameAttempts = 8

export interface WriterParts {
  client: Client
  random: Random
  log: WriteLog
  unsettled: UnsettledWrites
  ownerType: ResourceType
  /** Kinds that are created with an owner reference. */
  owns: ReadonlySet<string>
  /** The default field manager of applies. */
  fieldManager: string
  signal: AbortSignal
}

/** Options of an apply on behalf of an owner. */
export type ApplyingOptions = Partial<Pick<ApplyOptions, 'force' | 'fieldManager' | 'subresource'>>

/**
 * Writes on behalf of one owner and records the writes: the owner is not reconciled again before the caches contain
 * them.
 */
export class Writer {
  readonly #parts: WriterParts
  readonly #owner: KubeObject
  readonly #subject: Subject
  #liveCheck: Promise<void> | undefined

  constructor(parts: WriterParts, owner: KubeObject) {
    this.#parts = parts
    // Some transports omit the apiVersion and kind of list items.
    this.#owner = { ...owner, apiVersion: apiVersionOf(parts.ownerType), kind: parts.ownerType.kind }
    this.#subject = { key: keyOf(owner), uid: owner.metadata.uid ?? '' }
  }

  /**
   * Creates an object, by default in the owner's namespace. Owned kinds get an owner reference. An object with
   * `generateName` is created once, even if the response of an earlier attempt was lost.
   */
  async create<T extends KubeObject>(type: ResourceType<T>, object: New<T>): Promise<T> {
    const metadata = this.#metadataOf(type, object)
    const { generateName } = metadata
    if (metadata.name || !generateName) return this.#createNamed(type, { ...object, metadata } as New<T>)
    for (let attempt = 1; ; attempt++) {
      const name = this.newName(type, generateName, metadata.namespace)
      try {
        return await this.#createNamed(type, { ...object, metadata: { ...metadata, name } } as New<T>)
      } catch (e) {
        if (!isAlreadyExists(e) || attempt === nameAttempts) throw e
      }
    }
  }

  /**
   * A name as `create` would generate it, for callers that need it before. A name that was sent earlier and has no
   * object is reused.
   */
  newName(type: ResourceType, generateName: string, namespace = this.#owner.metadata.namespace ?? ''): string {
    const { unsettled, random } = this.#parts
    return unsettled.takeName(this.#subject, type, namespace, generateName) ?? generatedName(generateName, random)
  }

  /** Replaces an object. Fails with a conflict if it has changed since it was read. */
  async update<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.#change(type, object, () => this.#parts.client.update(type, object, this.#options()))
  }

  async updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.#change(type, object, () => this.#parts.client.updateStatus(type, object, this.#options()))
  }

  /** Patches an object. Returns its metadata after the patch. */
  async patch(
    type: ResourceType,
    object: KubeObject,
    patch: unknown,
    options: Pick<PatchOptions, 'type' | 'subresource' | 'force' | 'fieldManager'>,
  ): Promise<KubeObject> {
    return this.#patch(type, object, patch, { ...options, metadataOnly: true })
  }

  /**
   * Applies a configuration with server-side apply. A missing object is created, and fields that were applied before
   * and are no longer set are removed. The default manager is the controller's name. Fields of other managers are taken
   * over unless `force` is false.
   */
  async apply<T extends KubeObject>(
    type: ResourceType<T>,
    config: ApplyConfiguration<T>,
    options: ApplyingOptions = {},
  ): Promise<T> {
    const { force = true, fieldManager = this.#parts.fieldManager, subresource = '' } = options
    // Every apply must contain the owner reference: fields that are not set are removed.
    const said = config.metadata as ObjectMeta
    const metadata = subresource ? this.#inNamespace(type, said) : this.#metadataOf(type, { metadata: said })
    const object = { ...config, metadata } as ApplyConfiguration<T>
    return this.#change(type, object as KubeObject, () =>
      this.#parts.client.apply(type, object, { force, fieldManager, subresource, ...this.#options() }),
    )
  }

  /** Deletes this very object. A missing object is not an error. */
  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    options: Omit<DeleteOptions, 'uid' | 'signal' | 'dryRun' | 'metadataOnly'> = {},
  ): Promise<void> {
    const { namespace = '', name = '', uid } = object.metadata
    const { client, log } = this.#parts
    try {
      this.#deleted(
        type,
        object,
        await client.delete(type, namespace, name, { ...options, uid, metadataOnly: true, ...this.#options() }),
      )
    } catch (e) {
      if (isFateUnknown(e)) this.#remember({ verb: 'delete', type, namespace, name, last: object })
      // The object is gone, or another object has its name: the cache is behind.
      if (!isNotFound(e) && !isAnotherUid(e)) throw e
      log.removed(this.#subject, type, object)
    }
  }

  /**
   * Makes the owner the controller of an object and adds the finalizer, after checking that the owner still exists.
   * Returns the current object. Fails with a conflict if the object is deleted or its labels have changed, because the
   * plan depended on both.
   */
  async adopt<T extends KubeObject>(type: ResourceType<T>, object: T, finalizer?: string): Promise<T> {
    await (this.#liveCheck ??= this.#checkOwner())
    const { name = '', labels } = object.metadata
    const adopted = await this.#patchOwners(
      type,
      object,
      adoptionPatch(type, object, ownerReference(this.#owner, { controller: true }), finalizer),
    )
    if (adopted && !adopted.metadata.deletionTimestamp && deepEqual(adopted.metadata.labels, labels)) return adopted
    throw conflict(
      { group: type.group, resource: type.plural },
      name,
      'it has changed since it was selected for adoption',
    )
  }

  /** Removes the owner reference and the finalizer from an object. Returns false if the object is gone. */
  async release(type: ResourceType, object: KubeObject, finalizer?: string): Promise<boolean> {
    return (
      (await this.#patchOwners(type, object, releasePatch(type, object, this.#subject.uid, finalizer))) !== undefined
    )
  }

  /** Undefined if the object is gone. */
  async #patchOwners<T extends KubeObject>(
    type: ResourceType<T>,
    object: KubeObject,
    { type: patchType, patch }: OwnerPatch,
  ): Promise<T | undefined> {
    try {
      return await this.#patch(type, object, patch, { type: patchType })
    } catch (e) {
      // Invalid: the reference is missing, or another object has the name.
      if (!isNotFound(e) && !isInvalid(e)) throw e
      return undefined
    }
  }

  /** An owner that exists only in the cache must not adopt objects. */
  async #checkOwner(): Promise<void> {
    const { client, ownerType } = this.#parts
    const { namespace = '', name = '', uid } = this.#owner.metadata
    const live = await client.get(ownerType, namespace, name, this.#options())
    const what = `${ownerType.kind} ${namespace}/${name}`
    if (live.metadata.uid !== uid) {
      throw new Error(`original ${what} is gone: got uid ${live.metadata.uid}, wanted ${uid}`)
    }
    if (live.metadata.deletionTimestamp) {
      throw new Error(`${namespace}/${name} has just been deleted at ${live.metadata.deletionTimestamp}`)
    }
  }

  async #createNamed<T extends KubeObject>(type: ResourceType<T>, object: New<T>): Promise<T> {
    const { client, log } = this.#parts
    const { namespace = '', name = '', generateName } = object.metadata
    try {
      const made = await client.create(type, object, { namespace, ...this.#options() })
      log.wrote(this.#subject, type, made.metadata)
      return made
    } catch (e) {
      if (isFateUnknown(e)) this.#remember({ verb: 'create', type, namespace, name, generateName })
      // After a rejection the next attempt uses the same name, so that the message is the same and is reported once.
      else if (generateName && !isAlreadyExists(e)) {
        this.#parts.unsettled.keepName(this.#subject, type, { namespace, name, generateName })
      }
      if (!isAlreadyExists(e) || !this.#parts.owns.has(resourceName(type))) throw e
      // The plan did not know this object: the response of our create was lost, or it belongs to another owner. In
      // either case the cache should contain it at the next reconcile.
      const there = await client.get(type, namespace, name, this.#options())
      log.wrote(this.#subject, type, there.metadata)
      if (isControlledBy(there, this.#owner) && !there.metadata.deletionTimestamp) return there
      throw e
    }
  }

  #patch<T extends KubeObject>(
    type: ResourceType<T>,
    object: KubeObject,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    return this.#change(type, object, () =>
      this.#parts.client.patch(type, namespace, name, patch, { ...options, ...this.#options() }),
    )
  }

  async #change<T extends KubeObject>(type: ResourceType, object: KubeObject, send: () => Promise<T>): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    try {
      const changed = await send()
      this.#parts.log.wrote(this.#subject, type, changed.metadata)
      if (wasWaitingForThis(changed)) this.#parts.log.removed(this.#subject, type, changed)
      return changed
    } catch (e) {
      if (isFateUnknown(e)) this.#remember({ verb: 'change', type, namespace, name, last: object })
      if (isNotFound(e)) this.#parts.log.removed(this.#subject, type, object)
      throw e
    }
  }

  #deleted(type: ResourceType, object: KubeObject, answer: KubeObject | Status): void {
    const { log } = this.#parts
    const { metadata } = answer as KubeObject
    const { resourceVersion, deletionTimestamp } = metadata
    const isStatus = answer.kind === 'Status'
    const isChanged = resourceVersion && resourceVersion !== object.metadata.resourceVersion
    if (!isStatus && isChanged) return log.wrote(this.#subject, type, metadata)
    // The deletion was requested before, and nothing changed.
    if (!isStatus && deletionTimestamp && object.metadata.deletionTimestamp) return
    log.removed(this.#subject, type, object)
  }

  #remember(write: UnsettledWrite): void {
    this.#parts.unsettled.add(this.#subject, write)
  }

  #inNamespace(type: ResourceType, metadata: ObjectMeta): ObjectMeta {
    const result: ObjectMeta = { ...metadata }
    if (type.namespaced) result.namespace ??= this.#owner.metadata.namespace
    return result
  }

  #metadataOf(type: ResourceType, { metadata }: { metadata: ObjectMeta }): ObjectMeta {
    const result = this.#inNamespace(type, metadata)
    if (this.#parts.owns.has(resourceName(type)) && !controllerOf({ metadata })) {
      result.ownerReferences = [...(metadata.ownerReferences ?? []), ownerReference(this.#owner, { controller: true })]
    }
    return result
  }

  #options(): { signal: AbortSignal } {
    return { signal: this.#parts.signal }
  }
}
