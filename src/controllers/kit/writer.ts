import { deepEqual } from '../../api/deep-equal.ts'
import { type Status, conflict, isAlreadyExists, isAnotherUid, isInvalid, isNotFound } from '../../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import type { Random } from '../../base/random.ts'
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
} from '../../client/index.ts'
import { isFateUnknown } from './errors.ts'
import { generatedName } from './generated-name.ts'
import type { UnsettledWrite, UnsettledWrites } from './unsettled.ts'
import type { Subject, WriteLog } from './write-log.ts'

/** Whether an object is gone with its last finalizer: the answer is how it was, at a version that the cache may have had for long. */
const wasWaitingForThis = ({ metadata: { deletionTimestamp, deletionGracePeriodSeconds, finalizers } }: KubeObject): boolean =>
  deletionTimestamp !== undefined && !deletionGracePeriodSeconds && !finalizers?.length

/** How often a generated name is tried anew when it is taken. */
const nameAttempts = 8

export interface WriterParts {
  client: Client
  random: Random
  log: WriteLog
  unsettled: UnsettledWrites
  ownerType: ResourceType
  /** Kinds that get a reference to the owner when they are made. */
  owns: ReadonlySet<string>
  /** Manages what is applied, unless said otherwise. */
  fieldManager: string
  signal: AbortSignal
}

/** How a configuration is applied on behalf of an owner. */
export type ApplyingOptions = Partial<Pick<ApplyOptions, 'force' | 'fieldManager' | 'subresource'>>

/** Writes on behalf of one owner. What it writes is remembered: the owner is not looked at again before the caches have it. */
export class Writer {
  readonly #parts: WriterParts
  readonly #owner: KubeObject
  readonly #subject: Subject
  #liveCheck: Promise<void> | undefined

  constructor(parts: WriterParts, owner: KubeObject) {
    this.#parts = parts
    // Caches of some transports leave out what a list says once.
    this.#owner = { ...owner, apiVersion: apiVersionOf(parts.ownerType), kind: parts.ownerType.kind }
    this.#subject = { key: keyOf(owner), uid: owner.metadata.uid ?? '' }
  }

  /**
   * Makes an object, in the owner's namespace unless it names one. A kind that the controller owns gets a reference to the owner. One with
   * `generateName` is made once, even if an earlier attempt was not answered.
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

  /** A name as `create` would make it, for who has to know it before. One that was sent before and that no object has is used first. */
  newName(type: ResourceType, generateName: string, namespace = this.#owner.metadata.namespace ?? ''): string {
    const { unsettled, random } = this.#parts
    return unsettled.takeName(this.#subject, type, namespace, generateName) ?? generatedName(generateName, random)
  }

  /** Replaces an object, if it is still in the state it was read in. */
  async update<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.#change(type, object, () => this.#parts.client.update(type, object, this.#options()))
  }

  async updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.#change(type, object, () => this.#parts.client.updateStatus(type, object, this.#options()))
  }

  /** Changes an object. Of how it is then, the metadata come back. */
  async patch(type: ResourceType, object: KubeObject, patch: unknown, options: Pick<PatchOptions, 'type' | 'subresource' | 'force' | 'fieldManager'>): Promise<KubeObject> {
    return this.#patch(type, object, patch, { ...options, metadataOnly: true })
  }

  /**
   * Applies a configuration: the object, which is made if it is not there, has these fields afterwards, and those that were applied before and are
   * not now are removed. The manager is the controller's name unless said otherwise; fields of others are taken unless `force` is false.
   */
  async apply<T extends KubeObject>(type: ResourceType<T>, config: ApplyConfiguration<T>, options: ApplyingOptions = {}): Promise<T> {
    const { force = true, fieldManager = this.#parts.fieldManager, subresource = '' } = options
    // The owner is a reference that the configuration says each time: what is not said is removed.
    const said = config.metadata as ObjectMeta
    const metadata = subresource ? this.#inNamespace(type, said) : this.#metadataOf(type, { metadata: said })
    const object = { ...config, metadata } as ApplyConfiguration<T>
    return this.#change(type, object as KubeObject, () => this.#parts.client.apply(type, object, { force, fieldManager, subresource, ...this.#options() }))
  }

  /** Deletes this very object. One that is gone already is fine. */
  async delete<T extends KubeObject>(type: ResourceType<T>, object: T, options: Omit<DeleteOptions, 'uid' | 'signal' | 'dryRun' | 'metadataOnly'> = {}): Promise<void> {
    const { namespace = '', name = '', uid } = object.metadata
    const { client, log } = this.#parts
    try {
      this.#deleted(type, object, await client.delete(type, namespace, name, { ...options, uid, metadataOnly: true, ...this.#options() }))
    } catch (e) {
      if (isFateUnknown(e)) this.#remember({ verb: 'delete', type, namespace, name, last: object })
      // Gone, or another one has its name: the cache is behind.
      if (!isNotFound(e) && !isAnotherUid(e)) throw e
      log.removed(this.#subject, type, object)
    }
  }

  /**
   * Makes the owner manage an object, which gets the finalizer with it, after asking the server whether the owner itself is still there. Returns how
   * the object is now. Fails with a conflict if it is gone or going, or has other labels: whatever was decided counted on it.
   */
  async adopt<T extends KubeObject>(type: ResourceType<T>, object: T, finalizer?: string): Promise<T> {
    await (this.#liveCheck ??= this.#checkOwner())
    const { name = '', labels } = object.metadata
    const adopted = await this.#patchOwners(type, object, adoptionPatch(type, object, ownerReference(this.#owner, { controller: true }), finalizer))
    if (adopted && !adopted.metadata.deletionTimestamp && deepEqual(adopted.metadata.labels, labels)) return adopted
    throw conflict({ group: type.group, resource: type.plural }, name, 'it is not what it was when it was to be adopted')
  }

  /** Makes the owner let go of an object, which loses the finalizer with it. False if the object is gone. */
  async release(type: ResourceType, object: KubeObject, finalizer?: string): Promise<boolean> {
    return (await this.#patchOwners(type, object, releasePatch(type, object, this.#subject.uid, finalizer))) !== undefined
  }

  /** Undefined if the object is gone. */
  async #patchOwners<T extends KubeObject>(type: ResourceType<T>, object: KubeObject, { type: patchType, patch }: OwnerPatch): Promise<T | undefined> {
    try {
      return await this.#patch(type, object, patch, { type: patchType })
    } catch (e) {
      // Invalid: it has no such reference any more, or another object has its name.
      if (!isNotFound(e) && !isInvalid(e)) throw e
      return undefined
    }
  }

  /** Nobody is adopted by an owner that exists in the cache only. */
  async #checkOwner(): Promise<void> {
    const { client, ownerType } = this.#parts
    const { namespace = '', name = '', uid } = this.#owner.metadata
    const live = await client.get(ownerType, namespace, name, this.#options())
    const what = `${ownerType.kind} ${namespace}/${name}`
    if (live.metadata.uid !== uid) throw new Error(`original ${what} is gone: got uid ${live.metadata.uid}, wanted ${uid}`)
    if (live.metadata.deletionTimestamp) throw new Error(`${namespace}/${name} has just been deleted at ${live.metadata.deletionTimestamp}`)
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
      // Refused: the next attempt has the same name, so that it is refused in the same words and told once.
      else if (generateName && !isAlreadyExists(e)) this.#parts.unsettled.keepName(this.#subject, type, namespace, generateName, name)
      if (!isAlreadyExists(e) || !this.#parts.owns.has(resourceName(type))) throw e
      // The plan did not know of it: it is our own whose answer was lost, or somebody else's. Either way the cache should have it next time.
      const there = await client.get(type, namespace, name, this.#options())
      log.wrote(this.#subject, type, there.metadata)
      if (isControlledBy(there, this.#owner) && !there.metadata.deletionTimestamp) return there
      throw e
    }
  }

  #patch<T extends KubeObject>(type: ResourceType<T>, object: KubeObject, patch: unknown, options: PatchOptions): Promise<T> {
    const { namespace = '', name = '' } = object.metadata
    return this.#change(type, object, () => this.#parts.client.patch(type, namespace, name, patch, { ...options, ...this.#options() }))
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
    // Asked for before, and nothing changed by it.
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
