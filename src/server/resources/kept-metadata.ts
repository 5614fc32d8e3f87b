import type { ObjectMeta } from '../../api/object.ts'

const kept = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/** Restores the metadata that users write, in a status update. */
export function keepMetadata<T extends { metadata: ObjectMeta }>(obj: T, old: T): void {
  const metadata: ObjectMeta = { ...obj.metadata }
  for (const field of kept) {
    delete metadata[field]
    if (old.metadata[field]) Object.assign(metadata, { [field]: old.metadata[field] })
  }
  obj.metadata = metadata
}

/** Restores the spec and the metadata that users write, in a status update. */
export function keepAllButStatus<T extends { metadata: ObjectMeta; spec?: unknown }>(obj: T, old: T): void {
  obj.spec = old.spec
  keepMetadata(obj, old)
}
