import type { DownwardAPIVolumeFile, ObjectFieldSelector, ResourceFieldSelector } from '../../generated/types.ts'
import { isZeroQuantity } from '../../numbers/quantity.ts'
import { type FieldError, invalid, notSupported, required } from '../../validation/field-error.ts'
import { isQualifiedName } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateFileMode, validateUserFilePath } from './file-paths.ts'

/** Pod fields that an environment variable can refer to. */
export const envFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

/** Pod fields that a file can refer to. */
const volumeFields: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
])

const knownFields = new Set([...envFields, ...volumeFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'])

const subscript = /^(.*)\['(.*)'\]$/s

/** The syntax error of a field path, before it is checked against the supported fields. */
function conversionProblem(apiVersion: string, fieldPath: string, subscripted: RegExpExecArray | null): string {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`
  if (subscripted) {
    const field = subscripted[1]!
    return field === 'metadata.annotations' || field === 'metadata.labels'
      ? ''
      : `field label does not support subscript: ${fieldPath}`
  }
  return knownFields.has(fieldPath) || fieldPath === 'spec.host' ? '' : `field label not supported: ${fieldPath}`
}

/** Validates a reference to a field of the pod. */
export function validateFieldRef(
  ref: ObjectFieldSelector,
  allowed: ReadonlySet<string>,
  path: Path,
  errors: FieldError[],
): void {
  if (!ref.apiVersion) {
    errors.push(required(path.child('apiVersion')))
    return
  }
  if (!ref.fieldPath) {
    errors.push(required(path.child('fieldPath')))
    return
  }
  if (allowed.has(ref.fieldPath) && ref.apiVersion === 'v1') return
  const subscripted = subscript.exec(ref.fieldPath)
  const problem = conversionProblem(ref.apiVersion, ref.fieldPath, subscripted)
  if (problem) {
    errors.push(invalid(path.child('fieldPath'), ref.fieldPath, `error converting fieldPath: ${problem}`))
  } else if (subscripted) {
    const key = subscripted[1] === 'metadata.annotations' ? subscripted[2]!.toLowerCase() : subscripted[2]!
    for (const sentence of isQualifiedName(key)) errors.push(invalid(path, key, sentence))
  } else {
    // `spec.host` is the old name of `spec.nodeName`.
    const field = ref.fieldPath === 'spec.host' ? 'spec.nodeName' : ref.fieldPath
    if (!allowed.has(field)) errors.push(notSupported(path.child('fieldPath'), field, [...allowed]))
  }
}

const resourceFields = new Set([
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
])

const isHugePagesField = (resource: string) =>
  resource.startsWith('requests.hugepages-') || resource.startsWith('limits.hugepages-')

const cpuDivisors = new Set(['1m', '1'])
const byteDivisorList = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']
const byteDivisors = new Set(byteDivisorList)

const divisorProblem = (resource: string, divisor: string): string => {
  const kind = resource.slice(resource.indexOf('.') + 1)
  if (kind === 'cpu')
    return cpuDivisors.has(divisor) ? '' : "only divisor's values 1m and 1 are supported with the cpu resource"
  const name =
    kind === 'memory'
      ? 'memory'
      : kind === 'ephemeral-storage'
        ? 'local ephemeral storage'
        : isHugePagesField(resource)
          ? 'hugepages'
          : ''
  if (name === '' || byteDivisors.has(divisor)) return ''
  return `only divisor's values ${byteDivisorList.join(', ')} are supported with the ${name} resource`
}

/** Validates a reference to a container's requests or limits. In a volume, it must name the container. */
export function validateResourceFieldRef(
  ref: ResourceFieldSelector,
  inVolume: boolean,
  path: Path,
  errors: FieldError[],
): void {
  if (inVolume && !ref.containerName) errors.push(required(path.child('containerName')))
  else if (!ref.resource) errors.push(required(path.child('resource')))
  else if (!resourceFields.has(ref.resource) && !isHugePagesField(ref.resource)) {
    errors.push(notSupported(path.child('resource'), ref.resource, [...resourceFields]))
  }
  if (ref.divisor === undefined || isZeroQuantity(ref.divisor) || !ref.resource) return
  const problem = divisorProblem(ref.resource, ref.divisor)
  if (problem) errors.push(invalid(path.child('divisor'), ref.resource, problem))
}

/** Validates one file of a downwardAPI volume. Kubernetes reports it at the volume, without an index. */
export function validateDownwardFile(file: DownwardAPIVolumeFile, path: Path, errors: FieldError[]): void {
  if (!file.path) errors.push(required(path.child('path')))
  validateUserFilePath(file.path ?? '', path.child('path'), errors)
  if (file.fieldRef) {
    validateFieldRef(file.fieldRef, volumeFields, path.child('fieldRef'), errors)
    if (file.resourceFieldRef) {
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
    }
  } else if (file.resourceFieldRef) {
    validateResourceFieldRef(file.resourceFieldRef, true, path.child('resourceFieldRef'), errors)
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  }
  validateFileMode(file.mode, path.child('mode'), errors)
}
