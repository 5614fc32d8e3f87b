import type {
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  Namespace,
  ResourceClaimSpec,
} from '../../../api/generated/types.ts'
import { type FieldError, forbidden } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import type { ObjectReader } from '../../objects/objects.ts'

const adminLabel = 'resource.kubernetes.io/admin-access'

/** Applies defaults to the device requests of a claim. */
export function defaultClaimSpec(spec: ResourceClaimSpec | undefined): void {
  for (const request of spec?.devices?.requests ?? []) {
    if (request.exactly) defaultRequest(request.exactly)
    for (const alternative of request.firstAvailable ?? []) defaultRequest(alternative)
  }
}

function defaultRequest(request: ExactDeviceRequest | DeviceSubRequest): void {
  request.allocationMode ||= 'ExactCount'
  if (request.allocationMode === 'ExactCount') request.count ||= 1
  defaultTolerations(request.tolerations)
}

export function defaultTolerations(tolerations: readonly DeviceToleration[] = []): void {
  for (const toleration of tolerations) toleration.operator ||= 'Equal'
}

/** Validates adminAccess, which only labelled namespaces may request. */
export function checkAdminAccess(
  spec: ResourceClaimSpec | undefined,
  namespace: string,
  reader: ObjectReader,
): FieldError[] {
  if (!spec?.devices?.requests?.some((request) => request.exactly?.adminAccess)) return []
  const labels = reader.get<Namespace>('', 'namespaces', '', namespace)?.metadata.labels
  if (labels?.[adminLabel] === 'true') return []
  const why = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`
  return [forbidden(Path.of(''), why)]
}
