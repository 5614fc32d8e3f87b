import type { Json, KubeObject } from '../../api/object.ts'
import { type Head, type StoredObject, headOf, parseObject } from '../objects/stored-object.ts'
import type { Conversion, Resource } from '../registry/resource.ts'
import type { ConversionReviews } from './conversion-review.ts'

/** Maximum number of objects in one webhook call. */
const batchSize = 500

const apiVersionOf = ({ group, version }: Resource): string => `${group}/${version}`

/** Reads an object by a version's schema: prunes unknown fields and applies defaults. */
export function readAs(resource: Resource, object: KubeObject): KubeObject {
  const { object: read } = resource.objectType!.decode(object as unknown as Json)
  const decoded = Object.assign(read as unknown as KubeObject, {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
  })
  resource.defaults?.(decoded, undefined as never)
  return decoded
}

/** Converts objects between versions, in the same order. */
type Converter = Pick<ConversionReviews, 'convert'>

/** The conversion strategy None: only apiVersion changes. */
export const renaming: Converter = {
  convert: async (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
}

/**
 * Resources for the versions of a definition whose objects are stored in several versions, the storage version first.
 * `reviews` converts between them.
 */
export function convertedVersions(versions: readonly Resource[], reviews: Converter): Resource[] {
  const [storage] = versions
  const heads = versions.map((resource) => headOf(apiVersionOf(resource), resource.kind, true))
  const byVersion = new Map(versions.map((resource) => [apiVersionOf(resource), resource]))
  const shared = {
    storage: storage!,
    headOf(value: Buffer): Head {
      const known = heads.find(({ text }) => value.toString('utf8', 0, Buffer.byteLength(text)) === text)
      if (known) return known
      const { apiVersion = '', kind = '' } = parseObject(value)
      return headOf(apiVersion, kind, true)
    },
    readOther(object: KubeObject): KubeObject {
      const resource = byVersion.get(object.apiVersion ?? '')
      return resource ? readAs(resource, object) : object
    },
  }
  const convert = async (to: Resource, objects: readonly KubeObject[]) =>
    (await reviews.convert(objects, apiVersionOf(to))).map((object) => readAs(to, object))
  return versions.map((resource, i): Resource => {
    const shows = new ShownObjects(heads[i]!, (objects) => convert(resource, objects))
    const conversion: Conversion = {
      ...shared,
      isStorage: resource === storage,
      show: (stored) => shows.of(stored),
      store: (object) =>
        resource === storage ? object : convert(storage!, [object]).then(([converted]) => converted!),
      take: (object) => convert(resource, [object]).then(([converted]) => converted!),
    }
    return { ...resource, conversion }
  })
}

/** Converts stored objects to one version. Each is converted once for all readers and watchers. */
class ShownObjects {
  readonly #head: Head
  readonly #convert: (objects: readonly KubeObject[]) => Promise<KubeObject[]>
  /** Converted objects live as long as their source. */
  readonly #known = new WeakMap<StoredObject, StoredObject | Promise<StoredObject>>()

  constructor(head: Head, convert: (objects: readonly KubeObject[]) => Promise<KubeObject[]>) {
    this.#head = head
    this.#convert = convert
  }

  of(stored: readonly StoredObject[]): readonly StoredObject[] | Promise<readonly StoredObject[]> {
    const missing: StoredObject[] = []
    let isReady = true
    for (const one of stored) {
      if (one.isOf(this.#head)) continue
      const known = this.#known.get(one)
      if (!known) missing.push(one)
      if (!known || known instanceof Promise) isReady = false
    }
    if (isReady) return stored.map((one) => (one.isOf(this.#head) ? one : (this.#known.get(one) as StoredObject)))
    for (let i = 0; i < missing.length; i += batchSize) this.#convertBatch(missing.slice(i, i + batchSize))
    return Promise.all(stored.map((one) => (one.isOf(this.#head) ? one : this.#known.get(one)!)))
  }

  /** Converts a batch by one call. Concurrent readers share the promise; a failure is not cached. */
  #convertBatch(batch: readonly StoredObject[]): void {
    const answer = this.#convert(batch.map(({ object }) => object))
    for (const [i, one] of batch.entries()) {
      const made = answer.then(
        (objects) => {
          const converted = one.converted(objects[i]!, this.#head)
          this.#known.set(one, converted)
          return converted
        },
        (e: unknown) => {
          this.#known.delete(one)
          throw e
        },
      )
      // Each reader handles the rejection itself.
      made.catch(() => {})
      this.#known.set(one, made)
    }
  }
}
