import { jsonText } from '../../api/json/index.ts'
import type { MergeType, OtherVersions } from '../../api/managed-fields/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { Registered, Registry } from '../registry/registry.ts'

const untyped: MergeType = { kind: 'untyped' }

/** Thrown when a conversion is asynchronous. The caller retries once `done` resolves. */
class ConversionPending extends Error {
  readonly done: Promise<void>

  constructor(done: Promise<void>) {
    super('a webhook converts the object')
    this.done = done
  }
}

/** The served versions of a kind, for one write. Results of conversion webhooks are cached for the retry. */
export class ObjectVersions implements OtherVersions {
  readonly #registry: Registry
  readonly #target: Registered
  #converted: Map<string, unknown> | undefined

  constructor(registry: Registry, target: Registered) {
    this.#registry = registry
    this.#target = target
  }

  typeOf(apiVersion: string): MergeType | undefined {
    const version = this.#served(apiVersion)
    return version && (version.type.mergeType ?? untyped)
  }

  convert(value: unknown, from: string, to: string): unknown {
    if (from === to) return value
    const [source, wanted] = [this.#served(from)!, this.#served(to)!]
    const object = value as KubeObject
    if (wanted.resource.conversion) return this.#byWebhook(object, wanted)
    // Merging and pruning may drop members that decoding always sets and conversions rely on.
    const decoded = source.type.decode(object as unknown as Json).object as unknown as KubeObject
    const stored = source.resource.storedAs ? source.resource.storedAs.toStored(decoded) : decoded
    return wanted.resource.storedAs ? wanted.resource.storedAs.fromStored(stored) : stored
  }

  #served(apiVersion: string): Registered | undefined {
    const found = this.#registry.find(apiVersion, this.#target.resource.plural)
    return found?.storage === this.#target.storage ? found : undefined
  }

  #byWebhook(object: KubeObject, { apiVersion, resource }: Registered): unknown {
    this.#converted ??= new Map()
    const name = `${apiVersion} ${jsonText(object)}`
    const known = this.#converted.get(name)
    if (known) return known
    throw new ConversionPending(resource.conversion!.take(object).then((made) => void this.#converted!.set(name, made)))
  }
}

/** Calls `run` again after each pending conversion. Synchronous if there is none. */
export function withConversions<T>(run: () => T | Promise<T>): T | Promise<T> {
  try {
    return run()
  } catch (e) {
    if (!(e instanceof ConversionPending)) throw e
    return e.done.then(() => withConversions(run))
  }
}
