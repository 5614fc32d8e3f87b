import type { APIResource, APIService, APIServiceSpec } from '../../api/generated/types.ts'

/** A group and version that another API server serves. */
export interface Remote {
  /** The name of its APIService. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly spec: APIServiceSpec
  /** The condition Available: requests are passed on only while it is True. */
  isAvailable: boolean
  /** The resources that the server told of last. */
  resources: readonly APIResource[]
}

/** True if an APIService is served by another server. */
export const isRemote = ({ spec }: APIService): boolean => spec.service !== undefined

export const isAvailable = ({ status }: APIService): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True') ?? false

export function remoteOf(service: APIService): Remote {
  const { metadata, spec } = service
  return {
    name: metadata.name!,
    group: spec.group ?? '',
    version: spec.version ?? '',
    spec,
    isAvailable: isAvailable(service),
    resources: [],
  }
}

/** `/apis/metrics.k8s.io/v1beta1` */
export const rootOf = ({ group, version }: Remote): string => (group ? `/apis/${group}/${version}` : `/api/${version}`)
