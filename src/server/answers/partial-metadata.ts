import { ApiError } from '../../api/errors.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import type { Resource } from '../registry/resource.ts'

/** Type and metadata of an object. */
export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata'
  apiVersion: string
  metadata: ObjectMeta
}

/** The metadata of a list. */
export interface ListMeta {
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** Shares the object's metadata. */
export const asPartialMetadata = (obj: KubeObject, version: string): PartialObjectMetadata => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: obj.metadata,
})

/** The same from encoded metadata. */
export const partialMetadataBytes = (metadata: Buffer, version: string): Buffer =>
  Buffer.concat([
    Buffer.from(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`),
    metadata,
    Buffer.from('}\n'),
  ])

export const asPartialMetadataList = (objects: readonly KubeObject[], listMeta: ListMeta, version: string) => ({
  kind: 'PartialObjectMetadataList' as const,
  apiVersion: `meta.k8s.io/${version}`,
  metadata: listMeta,
  // Kubernetes encodes an empty list as null here.
  items: objects.length ? objects.map((obj) => asPartialMetadata(obj, version)) : null,
})

/** The Go type in Kubernetes' messages: `*core.ConfigMap`. */
function goType(resource: Pick<Resource, 'group' | 'kind'>): string {
  const known = resource.group === '' || resource.group === 'events.k8s.io' ? 'core' : resource.group.split('.', 1)[0]
  return `*${known}.${resource.kind}`
}

/** The error for a list that was requested as a single object. */
export const isAList = (resource: Pick<Resource, 'group' | 'kind'>) =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadata, but the requested object is a list (${goType(resource)}List)`,
  )

/** The error for a single object that was requested as a list. */
export const isNotAList = (resource: Pick<Resource, 'group' | 'kind'>) =>
  new ApiError(
    406,
    'NotAcceptable',
    `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(resource)})`,
  )
