import { deepEqual } from '../../api/deep-equal.ts'
import { isNotFound } from '../../api/errors.ts'
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { Schema } from '../../api/structural/index.ts'
import { timestamp } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Registered } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import { approvalCondition } from '../resources/apiextensions/approval.ts'
import {
  cleanupFinalizer,
  customresourcedefinitions,
  isTrue,
  withCondition,
} from '../resources/apiextensions/definitions.ts'
import type { ServerParts } from '../requests/request.ts'
import type { WebhookClient } from '../webhooks/client.ts'
import { customResource, storedAs } from './custom-resource.ts'
import { ConversionMetrics } from './conversion-metrics.ts'
import { type ConversionParts, ConversionReviews } from './conversion-review.ts'
import { convertedVersions, renaming } from './conversion.ts'
import { NameClaims } from './name-claims.ts'
import { grantNames, nameConditions } from './names.ts'

const { group, plural } = customresourcedefinitions

/** Number of instances deleted concurrently when a definition is deleted. */
const deletesAtOnce = 100
const retryMs = 1000

/** The served state of one definition. */
interface ServedDefinition {
  name: string
  /** Identifies the served content of the definition; see `formOf`. */
  form: string
  kinds: readonly Registered[]
  storage: Registered
}

/** Watches CustomResourceDefinitions and serves the kinds that they define. */
export class CustomResources {
  readonly #parts: ServerParts
  readonly #conversion: ConversionParts
  readonly #logger: Logger
  readonly #served = new Map<string, ServedDefinition>()
  /** A serial queue of work for each definition. */
  readonly #work = new Map<string, Promise<void>>()
  readonly #again = new Set<string>()
  /** Ends the listeners that wait for the last instance of a terminating definition. */
  readonly #waiting = new Map<string, () => void>()
  /** Set if several servers share the store. */
  readonly #claims: NameClaims | undefined
  #isEnded = false

  constructor(parts: ServerParts, webhooks: WebhookClient, metrics: MetricsRegistry, logger: Logger) {
    this.#parts = parts
    this.#conversion = { client: webhooks, random: parts.random, metrics: new ConversionMetrics(metrics) }
    this.#logger = logger
    this.#claims = parts.objects.isShared ? new NameClaims(parts.objects, (name) => this.#definition(name)) : undefined
  }

  /** Serves established definitions and begins to watch all definitions. */
  async start(): Promise<void> {
    this.#parts.access.follow(group, plural, ({ name }) => this.#wake(name))
    const all = this.#parts.access.list<CustomResourceDefinition>(group, plural, '')
    for (const { metadata } of all) this.#wake(metadata.name!)
    await Promise.all(this.#work.values())
  }

  end(): void {
    this.#isEnded = true
  }

  /** Resolves once every currently known definition is served. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work.values())
  }

  #wake(name: string): void {
    if (this.#isEnded) return
    if (this.#work.has(name)) {
      this.#again.add(name)
      return
    }
    const work = this.#sync(name)
      .catch((error: unknown) => {
        if (this.#isEnded) return
        this.#logger.error('failed to serve a custom resource', { name, error })
        this.#parts.clock.after(retryMs, () => this.#wake(name))
      })
      .finally(() => {
        this.#work.delete(name)
        if (this.#again.delete(name)) this.#wake(name)
      })
    this.#work.set(name, work)
  }

  #definition(name: string): CustomResourceDefinition | undefined {
    return this.#parts.access.get<CustomResourceDefinition>(group, plural, '', name)
  }

  async #sync(name: string): Promise<void> {
    const definition = this.#definition(name)
    if (!definition) this.#remove(name)
    else if (definition.metadata.deletionTimestamp) await this.#finish(definition)
    else await this.#establish(await this.#accept(definition))
  }

  /** Grants names and updates the status. */
  async #accept(definition: CustomResourceDefinition): Promise<CustomResourceDefinition> {
    const claimed = await this.#claims?.take(definition)
    const change = (copy: CustomResourceDefinition): CustomResourceDefinition => {
      const now = timestamp(this.#parts.clock.now())
      const all = this.#parts.access.list<CustomResourceDefinition>(group, plural, '')
      const others = all.filter(
        ({ metadata, spec }) => spec.group === copy.spec.group && metadata.name !== copy.metadata.name,
      )
      const { names, conflict } = grantNames(copy, others, claimed)
      const approval = approvalCondition(copy, now)
      for (const condition of nameConditions(copy, conflict, now)) withCondition(copy, condition)
      if (approval) withCondition(copy, approval)
      if (!deepEqual(names, copy.status.acceptedNames)) copy.status = { ...copy.status, acceptedNames: names }
      return copy
    }
    // `change` may replace only conditions and names.
    const next = change({ ...definition })
    if (deepEqual(next.status, definition.status)) return definition
    return this.#update(definition, change)
  }

  /** Serves a definition with accepted names and sets its Established condition. */
  async #establish(definition: CustomResourceDefinition): Promise<void> {
    const isEstablished = isTrue(definition, 'Established')
    if (!isEstablished && !isTrue(definition, 'NamesAccepted')) return
    await this.#serve(definition)
    if (isEstablished) return
    await this.#update(definition, (copy) => {
      withCondition(copy, {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
        lastTransitionTime: timestamp(this.#parts.clock.now()),
      })
      return copy
    })
  }

  async #update(
    { metadata }: CustomResourceDefinition,
    change: (copy: CustomResourceDefinition) => CustomResourceDefinition,
  ): Promise<CustomResourceDefinition> {
    return this.#parts.access.update<CustomResourceDefinition>(
      customresourcedefinitions,
      '',
      metadata.name!,
      (copy, stored) => {
        if (copy.metadata.uid !== metadata.uid) return stored
        return change(copy)
      },
      { isStatus: true },
    )
  }

  /** The resources of a definition, storage version first. */
  #resources(definition: CustomResourceDefinition): Resource[] {
    const { spec } = definition
    const stored = spec.versions.find((version) => version.storage)!
    const storage = customResource(definition, stored)
    const served = stored.served ? storage : { ...storage, isUnserved: true }
    const others = spec.versions.filter((version) => version.served && !version.storage)
    const further = others.map((version) => customResource(definition, version))
    if (isConverted(definition))
      return convertedVersions([served, ...further], new ConversionReviews(definition, this.#conversion))
    // Objects in an earlier storage version are read by that version until they are written again.
    if (isStoredInSeveral(definition)) return convertedVersions([served, ...further], renaming)
    return [served, ...further.map((resource) => storedAs(resource, storage))]
  }

  async #serve(definition: CustomResourceDefinition): Promise<void> {
    const name = definition.metadata.name!
    const { registry, objects } = this.#parts
    const known = this.#served.get(name)
    const form = formOf(definition)
    if (known?.form === form) return
    const { names } = definition.spec
    // A built-in kind takes precedence.
    if (!known && registry.stored(definition.spec.group, names.plural)) return
    const kinds = registry.declare(this.#resources(definition))
    const storage = kinds.find((kind) => kind.storage === kind)!
    if (!known) {
      await objects.openKind(storage)
      registry.publish(kinds)
    } else {
      if (isReadDifferently(known.storage, storage)) {
        await objects.reopenKind(storage)
      } else objects.adoptKind(storage)
      registry.replace(known.kinds, kinds)
    }
    this.#served.set(name, { name, form, kinds, storage })
  }

  #remove(name: string): void {
    const known = this.#served.get(name)
    if (!known) return
    this.#served.delete(name)
    this.#stopWaiting(name)
    this.#parts.registry.remove(known.kinds)
    this.#parts.objects.closeKind(known.storage)
  }

  /** Deletes the instances of a terminating definition, then removes its finalizer. */
  async #finish(definition: CustomResourceDefinition): Promise<void> {
    if (!definition.metadata.finalizers?.includes(cleanupFinalizer)) return
    const isEstablished = isTrue(definition, 'Established')
    if (isEstablished) await this.#serve(definition)
    const known = this.#served.get(definition.metadata.name!)
    if (known && this.#countOf(known) > 0) {
      this.#whenEmpty(known)
      // A retry keeps the error of the last attempt, because a change of the status starts the next attempt at once.
      if (reasonOf(definition) !== 'InstanceDeletionFailed')
        await this.#say(definition, 'True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress')
      await this.#deleteInstances(known).catch(async (error: unknown) => {
        const why = `could not issue all deletes: ${(error as Error).message}`
        await this.#say(definition, 'True', 'InstanceDeletionFailed', why)
        throw error
      })
      if (this.#countOf(known) > 0) return
    }
    await this.#update(definition, (copy) => {
      const finalizers = (copy.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer)
      copy.metadata = { ...copy.metadata, finalizers }
      if (isEstablished) this.#terminating(copy, 'False', 'InstanceDeletionCompleted', 'removed all instances')
      else this.#terminating(copy, 'False', 'NeverEstablished', 'resource was never established')
      return copy
    }).catch((e: unknown) => {
      if (!isNotFound(e)) throw e
    })
  }

  #countOf({ storage }: ServedDefinition): number {
    return this.#parts.objects.cache(storage).count(storage.prefix)
  }

  /** Checks again when the last instance is gone. A definition has one listener at most. */
  #whenEmpty(known: ServedDefinition): void {
    this.#stopWaiting(known.name)
    const cache = this.#parts.objects.cache(known.storage)
    const stop = cache.listen(() => {
      if (cache.count(known.storage.prefix) > 0) return
      this.#stopWaiting(known.name)
      this.#wake(known.name)
    })
    this.#waiting.set(known.name, stop)
  }

  #stopWaiting(name: string): void {
    this.#waiting.get(name)?.()
    this.#waiting.delete(name)
  }

  /** Deletes without admission, as in Kubernetes: the webhook of an operator that is gone cannot prevent it. */
  async #deleteInstances({ storage }: ServedDefinition): Promise<void> {
    const { access } = this.#parts
    const { resource } = storage
    const all = access.list(resource.group, resource.plural, '').filter(({ metadata }) => !metadata.deletionTimestamp)
    for (let i = 0; i < all.length; i += deletesAtOnce) {
      const some = all.slice(i, i + deletesAtOnce)
      await Promise.all(
        some.map(({ metadata }) =>
          access
            .delete(resource, metadata.namespace ?? '', metadata.name!, {}, { skipsAdmission: true })
            .catch((e: unknown) => {
              if (!isNotFound(e)) throw e
            }),
        ),
      )
    }
  }

  #terminating(copy: CustomResourceDefinition, status: string, reason: string, message: string): void {
    withCondition(copy, {
      type: 'Terminating',
      status,
      reason,
      message,
      lastTransitionTime: timestamp(this.#parts.clock.now()),
    })
  }

  async #say(definition: CustomResourceDefinition, status: string, reason: string, message: string): Promise<void> {
    const known = definition.status.conditions?.find(({ type }) => type === 'Terminating')
    if (known?.status === status && known.reason === reason && known.message === message) return
    await this.#update(definition, (copy) => {
      this.#terminating(copy, status, reason, message)
      return copy
    })
  }
}

/** The reason of the condition Terminating. */
const reasonOf = ({ status }: CustomResourceDefinition): string | undefined =>
  status.conditions?.find(({ type }) => type === 'Terminating')?.reason

/** The definition's content as text, equal for definitions that are served alike. */
const formOf = ({ metadata, status }: CustomResourceDefinition): string =>
  JSON.stringify([
    metadata.uid,
    metadata.generation,
    Boolean(metadata.deletionTimestamp),
    status.acceptedNames,
    status.storedVersions,
  ])

/** True if objects may be stored in several versions with different schemas. */
const isStoredInSeveral = ({ status }: CustomResourceDefinition): boolean => (status.storedVersions?.length ?? 0) > 1

const isConverted = ({ spec }: CustomResourceDefinition): boolean => spec.conversion?.strategy === 'Webhook'

/** True if a changed definition makes stored objects read differently. */
function isReadDifferently(before: Registered, after: Registered): boolean {
  if (before.apiVersion !== after.apiVersion) return true
  if (Boolean(before.resource.conversion) !== Boolean(after.resource.conversion)) return true
  return readsDiffer(schemaIn(before), schemaIn(after))
}

const schemaIn = ({ resource }: Registered): Schema => resource.objectType!.schema as Schema

const flags = ['nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const

/** True if a schema change makes stored objects read differently, by defaults or pruning. */
function readsDiffer(before: Schema, after: Schema): boolean {
  if (!deepEqual(before.default, after.default)) return true
  if (flags.some((flag) => Boolean(before[flag]) !== Boolean(after[flag]))) return true
  if (Boolean(before.items) !== Boolean(after.items)) return true
  if (before.items && readsDiffer(before.items, after.items!)) return true
  const [values, next] = [before.additionalProperties, after.additionalProperties]
  if (typeof values !== typeof next) return true
  if (typeof values === 'object' && readsDiffer(values, next as Schema)) return true
  const properties = after.properties ?? {}
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    if (!Object.hasOwn(properties, name) || readsDiffer(property, properties[name]!)) return true
  }
  return Object.entries(properties).some(([name, property]) => !before.properties?.[name] && fillsIn(property))
}

/** A new property changes an object without it only by its default. */
const fillsIn = (schema: Schema): boolean => schema.default !== undefined
