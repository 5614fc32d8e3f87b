import { kindNames } from '../../../api/kind-names.ts'
import { X509Certificate, createPrivateKey } from 'node:crypto'
import { deepEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Secret } from '../../../api/generated/types.ts'
import { parseJson } from '../../../api/json/index.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../api/validation/field-error.ts'
import { isConfigMapKey, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { base64Bytes, immutableMessage, maxDataBytes } from './configmaps.ts'

const dataPath = Path.of('data')
const serviceAccountName = 'kubernetes.io/service-account.name'

const textOf = (value: string | undefined) => Buffer.from(value ?? '', 'base64').toString()

/** Merges stringData into data. stringData is write-only. */
function defaults(secret: Secret): void {
  if (secret.stringData) {
    secret.data ??= {}
    for (const [key, text] of Object.entries(secret.stringData)) secret.data[key] = Buffer.from(text).toString('base64')
    secret.stringData = undefined
  }
  secret.type ||= 'Opaque'
}

/** Go's error for text that is not a JSON object; undefined if it is one. */
function jsonProblem(text: string): string | undefined {
  try {
    // Checks the nesting depth first: JSON.parse is slow for a million brackets.
    const { value } = parseJson(text)
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
  } catch {
    const start = text.trimStart()
    if (start === '') return 'unexpected end of JSON input'
    if (/^[{["\-\dtfn]/.test(start)) return 'invalid JSON'
    return `invalid character '${[...start][0]}' looking for beginning of value`
  }
}

function validateDockerConfig(data: Record<string, string>, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [required(dataPath.key(key))]
  const problem = jsonProblem(textOf(data[key]))
  return problem === undefined ? [] : [invalid(dataPath.key(key), '<secret contents redacted>', problem)]
}

/** Validates the keys that a type of secret requires. */
function validateForType({ type, data = {}, metadata }: Secret): FieldError[] {
  const missing = (...keys: string[]) =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(dataPath.key(key)))
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[serviceAccountName]
        ? []
        : [required(Path.of('metadata', 'annotations').key(serviceAccountName))]
    case 'kubernetes.io/dockercfg':
      return validateDockerConfig(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return validateDockerConfig(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth': {
      const absent = missing('username', 'password')
      return absent.length === 2 ? absent : []
    }
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required(dataPath.key('ssh-privatekey'))]
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key')
    default:
      return []
  }
}

function validate(secret: Secret): FieldError[] {
  const errors: FieldError[] = []
  const data = secret.data ?? {}
  let size = 0
  for (const key of Object.keys(data).sort()) {
    errors.push(...isConfigMapKey(key).map((p) => invalid(dataPath.key(key), key, p)))
    size += base64Bytes(data[key] ?? '')
  }
  if (size > maxDataBytes) errors.push(tooLong(dataPath, maxDataBytes))
  return [...errors, ...validateForType(secret)]
}

function validateUpdate(obj: Secret, old: Secret): FieldError[] {
  const errors = validateImmutableField(obj.type, old.type, Path.of('type'))
  if (old.immutable) {
    if (!obj.immutable) errors.push(forbidden(Path.of('immutable'), immutableMessage))
    if (!deepEqual(obj.data, old.data)) errors.push(forbidden(dataPath, immutableMessage))
  }
  return [...errors, ...validate(obj)]
}

/** Warnings for a certificate and key that a TLS server would reject. */
function keyPairWarnings({ type, data = {} }: Secret): string[] {
  if (type !== 'kubernetes.io/tls') return []
  const [certificate, key] = [textOf(data['tls.crt']), textOf(data['tls.key'])]
  if (!/-----BEGIN CERTIFICATE-----/.test(certificate)) return ['tls: failed to find any PEM data in certificate input']
  if (!/-----BEGIN .*PRIVATE KEY-----/.test(key)) return ['tls: failed to find any PEM data in key input']
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
      ? []
      : ['tls: private key does not match public key']
  } catch {
    return ['tls: failed to parse certificate or private key']
  }
}

/** core/v1 Secrets. */
export const secrets = defineResource<Secret>({
  ...kindNames.secrets,
  nameRule: subdomainName,
  defaults,
  validate,
  validateUpdate,
  warnings: keyPairWarnings,
  selectableFields: { type: (secret) => secret.type ?? '' },
  columns: [
    nameColumn(),
    { name: 'Type', type: 'string', description: () => describeField('Secret', 'type'), cell: (s) => s.type ?? '' },
    {
      name: 'Data',
      type: 'string',
      description: () => describeField('Secret', 'data'),
      cell: (s) => Object.keys(s.data ?? {}).length,
    },
    ageColumn(),
  ],
})
