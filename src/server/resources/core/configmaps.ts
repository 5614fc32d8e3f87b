import { kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { ConfigMap } from '../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isConfigMapKey, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

/** The maximum size of all values of a ConfigMap or Secret. */
export const maxDataBytes = 1024 * 1024

/** The decoded size of a base64 value. */
export const base64Bytes = (text: string): number => Buffer.byteLength(text, 'base64')

export const immutableMessage = 'field is immutable when `immutable` is set'

const dataPath = Path.of('data')
const binaryPath = Path.of('binaryData')

const keyErrors = (key: string, path: Path): FieldError[] =>
  isConfigMapKey(key).map((p) => invalid(path.key(key), key, p))

function validate({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key of Object.keys(data).sort()) {
    errors.push(...keyErrors(key, dataPath))
    if (Object.hasOwn(binaryData, key))
      errors.push(invalid(dataPath.key(key), key, 'duplicate of key present in binaryData'))
    size += byteLength(data[key]!)
  }
  for (const key of Object.keys(binaryData).sort()) {
    errors.push(...keyErrors(key, binaryPath))
    size += base64Bytes(binaryData[key]!)
  }
  // As in Kubernetes, the error's field is the object, written as an empty index.
  if (size > maxDataBytes) errors.push({ ...tooLong(dataPath, maxDataBytes), field: '[]' })
  return errors
}

function validateUpdate(obj: ConfigMap, old: ConfigMap): FieldError[] {
  const errors: FieldError[] = []
  if (old.immutable) {
    if (!obj.immutable) errors.push(forbidden(Path.of('immutable'), immutableMessage))
    if (!deepEqual(obj.data, old.data)) errors.push(forbidden(dataPath, immutableMessage))
    if (!deepEqual(obj.binaryData, old.binaryData)) errors.push(forbidden(binaryPath, immutableMessage))
  }
  return [...errors, ...validate(obj)]
}

/** core/v1 ConfigMaps. */
export const configmaps = defineResource<ConfigMap>({
  ...kindNames.configmaps,
  nameRule: subdomainName,
  validate,
  validateUpdate,
  columns: [
    nameColumn(),
    {
      name: 'Data',
      type: 'string',
      description: () => describeField('ConfigMap', 'data'),
      cell: ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length,
    },
    ageColumn(),
  ],
})
