import { ApiError } from '../../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import type { Resource } from '../registry/resource.ts'

/** An object of any kind, without all but its metadata. */
export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata'
  apiVersion: string
  metadata: ObjectMeta
}

/** What a list says about itself. */
export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** The object's metadata, shared with it and not copied. */
export const asPartialMetadata = (obj: KubeObject, version: string): PartialObjectMetadata => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: obj.metadata,
})

/** The same of metadata that are encoded already. */
export const partialMetadataBytes = (metadata: Buffer, version: string): Buffer =>
  Buffer.concat([Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`), metadata, Buffer.from('}\n')])

/** The metadata of all objects of a list. */
export const asPartialMetadataList = (objects: readonly KubeObject[], listMeta: ListMeta, version: string) => ({
  kind: 'PartialObjectMetadataList' as const,
  apiVersion: `meta.k8s.io/${version}`,
  metadata: listMeta,
  // Kubernetes has no list at all where nothing is in it.
  items: objects.length ? objects.map((obj) => asPartialMetadata(obj, version)) : null,
})

/** The Go type that Kubernetes' messages name: `*core.ConfigMap`. */
function goType(resource: Pick<Resource, 'group' | 'kind'>): string {
  const known = resource.group === '' || resource.group === 'events.k8s.io' ? 'core' : resource.group.split('.', 1)[0]
  return `*${known}.${resource.kind}`
}

/** A list was asked for as if it were one object. */
export const isAList = (resource: Pick<Resource, 'group' | 'kind'>) =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadata, but the requested object is a list (${goType(resource)}List)`,
  )

/** One object was asked for as if it were a list. */
export const isNotAList = (resource: Pick<Resource, 'group' | 'kind'>) =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(resource)})`,
  )
