import type { APIResource, APIService, APIServiceSpec } from '../../api/generated/types.ts'

/** A group version of an extension API server. */
export interface Remote {
  /** The name of the APIService. */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly spec: APIServiceSpec
  /** The Available condition. Requests are forwarded only while it is True. */
  isAvailable: boolean
  /** The resources from the last discovery. */
  resources: readonly APIResource[]
}

/** True if an extension API server serves the APIService. */
export const isRemote = ({ spec }: APIService): boolean => spec.service !== undefined

const isAvailable = ({ status }: APIService): boolean =>
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
