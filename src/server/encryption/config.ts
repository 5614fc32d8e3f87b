import { parseDuration } from '../../base/duration.ts'
import { type FieldError, invalid, required } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type Shape, joinedErrors, readConfigDocument } from '../config-document.ts'

interface Key {
  name?: string
  /** Base64. */
  secret?: string
}

export interface KeysConfiguration {
  keys?: Key[]
}

export interface KmsConfiguration {
  apiVersion?: string
  name?: string
  cachesize?: number
  endpoint?: string
  timeout?: string
}

/** Exactly one member is set. */
export interface ProviderConfiguration {
  aesgcm?: KeysConfiguration
  aescbc?: KeysConfiguration
  secretbox?: KeysConfiguration
  identity?: object
  kms?: KmsConfiguration
}

interface ResourceConfiguration {
  /** Examples: `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, `*.*`. */
  resources?: string[]
  /** The first provider encrypts; all of them decrypt. */
  providers?: ProviderConfiguration[]
}

/** An EncryptionConfiguration of apiserver.config.k8s.io/v1. */
export interface EncryptionConfiguration {
  resources?: ResourceConfiguration[]
}

const keys: Shape = { fields: { keys: { each: { fields: { name: 'string', secret: 'string' } } } } }
const kms: Shape = {
  fields: { apiVersion: 'string', name: 'string', cachesize: 'int', endpoint: 'string', timeout: 'string' },
}
const provider: Shape = { fields: { aesgcm: keys, aescbc: keys, secretbox: keys, identity: { fields: {} }, kms } }
const resource: Shape = { fields: { resources: { each: 'string' }, providers: { each: provider } } }
const configuration: Shape = { fields: { resources: { each: resource } } }

/** Parses a configuration file. Throws with Kubernetes' message, which never contains a secret. */
export function readEncryptionConfiguration(text: string): EncryptionConfiguration {
  if (text.trim() === '') throw new Error('encryption provider configuration file is empty')
  const { document, unknown } = readConfigDocument(text, configuration)
  const { apiVersion, kind } = document
  if (apiVersion !== 'apiserver.config.k8s.io/v1' || kind !== 'EncryptionConfiguration') {
    throw new Error(`got unexpected config type: ${apiVersion}, Kind=${kind}`)
  }
  // A misspelt provider would store secrets in plain text.
  if (unknown.length > 0)
    throw new Error(
      `strict decoding error: ${unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ')}`,
    )
  const config = document.value as EncryptionConfiguration
  const errors = validateEncryptionConfiguration(config)
  if (errors.length > 0) throw new Error(joinedErrors(errors))
  return config
}

/** The validation errors of a configuration. */
function validateEncryptionConfiguration({ resources = [] }: EncryptionConfiguration): FieldError[] {
  const root = Path.of('resources')
  if (resources.length === 0) return [required(root, 'at least one resources is required')]
  const kmsNames = new Set<string>()
  return resources.flatMap((entry, i) => validateResource(entry, root.index(i), kmsNames))
}

function validateResource(
  { resources = [], providers = [] }: ResourceConfiguration,
  path: Path,
  kmsNames: Set<string>,
): FieldError[] {
  const names = path.child('resources')
  const list = path.child('providers')
  const errors: FieldError[] = []
  if (resources.length === 0) errors.push(required(names, `at least one ${names.toString()} is required`))
  errors.push(
    ...validateOverlap(resources, names),
    ...resources.flatMap((name, i) => validateName(name, names.index(i))),
  )
  if (providers.length === 0) errors.push(required(list, `at least one ${list.toString()} is required`))
  return [...errors, ...providers.flatMap((entry, i) => validateProvider(entry, list.index(i), kmsNames))]
}

interface GroupResource {
  group: string
  plural: string
}

/** Parses `deployments.apps`; `secrets` and `secrets.` are of the core group. */
export function parseGroupResource(text: string): GroupResource {
  const at = text.indexOf('.')
  return at < 0 ? { group: '', plural: text } : { group: text.slice(at + 1), plural: text.slice(0, at) }
}

function validateOverlap(resources: readonly string[], path: Path): FieldError[] {
  const parsed = resources.map(parseGroupResource)
  const pairs = parsed.flatMap((one, i) =>
    parsed.slice(i + 1).map((other): [GroupResource, GroupResource] => [one, other]),
  )
  const isSame = ([a, b]: [GroupResource, GroupResource]) => a.group === b.group && a.plural === b.plural
  const isAll = ({ group, plural }: GroupResource) => group === '*' && plural === '*'
  const overlaps = (pair: [GroupResource, GroupResource]) => {
    const [a, b] = pair
    if (isSame(pair)) return false
    return isAll(a) || isAll(b) || (a.group === b.group && (a.plural === '*' || b.plural === '*'))
  }
  const errors: FieldError[] = []
  if (pairs.some(isSame)) errors.push(invalid(path, resources, 'the same resource cannot be specified multiple times'))
  if (pairs.some(overlaps)) {
    errors.push(
      invalid(
        path,
        resources,
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
      ),
    )
  }
  return errors
}

const withoutApi = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'])

function validateName(name: string, path: Path): FieldError[] {
  const { group, plural } = parseGroupResource(name)
  if (name.toLowerCase() !== name) return [invalid(path, name, 'resource name should not contain capital letters')]
  if (name === '*')
    return [
      invalid(path, name, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
    ]
  if (withoutApi.has(name)) return [invalid(path, name, 'resources which do not have REST API/s cannot be encrypted')]
  if (group === 'events.k8s.io') {
    return [
      invalid(
        path,
        name,
        "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
      ),
    ]
  }
  if (group === 'extensions')
    return [invalid(path, name, "'extensions' group has been removed and cannot be used for encryption")]
  if (group === '*' && plural !== '*')
    return [invalid(path, name, 'encrypting the same resource across groups is not supported')]
  return []
}

const aesSizes = [16, 24, 32]

function validateProvider(entry: ProviderConfiguration, path: Path, kmsNames: Set<string>): FieldError[] {
  const found = Object.keys(entry)
  if (found.length === 0) {
    return [
      invalid(
        path,
        entry,
        'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
      ),
    ]
  }
  if (found.length > 1) {
    return [
      invalid(
        path,
        'REDACTED',
        'more than one provider specified in a single element, should split into different list elements',
      ),
    ]
  }
  if (entry.kms) return validateKms(entry.kms, path.child('kms'), kmsNames)
  if (entry.aesgcm) return validateKeys(entry.aesgcm, path.child('aesgcm', 'keys'), aesSizes)
  if (entry.aescbc) return validateKeys(entry.aescbc, path.child('aescbc', 'keys'), aesSizes)
  return entry.secretbox ? validateKeys(entry.secretbox, path.child('secretbox', 'keys'), [32]) : []
}

function validateKeys({ keys: list = [] }: KeysConfiguration, path: Path, sizes: readonly number[]): FieldError[] {
  if (list.length === 0) return [required(path, 'at least one keys is required')]
  return list.flatMap((key, i) => validateKey(key, path.index(i), sizes))
}

function validateKey({ name = '', secret = '' }: Key, path: Path, sizes: readonly number[]): FieldError[] {
  const errors = name === '' ? [required(path.child('name'), 'name is a mandatory field for a key')] : []
  const at = path.child('secret')
  if (secret === '') return [...errors, required(at, 'secret is a mandatory field for a key')]
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(secret))
    return [...errors, invalid(at, 'REDACTED', 'secrets must be base64 encoded')]
  const { length } = Buffer.from(secret, 'base64')
  if (sizes.includes(length)) return errors
  return [
    ...errors,
    invalid(
      at,
      'REDACTED',
      `secret is not of the expected length, got ${length}, expected one of [${sizes.join(' ')}]`,
    ),
  ]
}

/** The timeout of calls to a KMS plug-in. */
export const kmsTimeoutMs = ({ timeout }: KmsConfiguration): number | undefined =>
  timeout === undefined ? 3000 : parseDuration(timeout)

function validateKms(config: KmsConfiguration, path: Path, names: Set<string>): FieldError[] {
  const { apiVersion = 'v1', name = '', cachesize, endpoint = '', timeout } = config
  const errors: FieldError[] = []
  if (name === '') errors.push(required(path.child('name'), 'name is a mandatory field for a provider'))
  if (name.includes(':'))
    errors.push(invalid(path.child('name'), name, `invalid KMS provider name ${name}, must not contain ':'`))
  if (names.has(name))
    errors.push(invalid(path.child('name'), name, `duplicate KMS provider name ${name}, names must be unique`))
  names.add(name)
  if (!((kmsTimeoutMs(config) ?? 0) > 0))
    errors.push(invalid(path.child('timeout'), timeout, 'timeout should be a positive value'))
  errors.push(...validateEndpoint(endpoint, path.child('endpoint')))
  if (cachesize !== undefined)
    errors.push(invalid(path.child('cachesize'), cachesize, 'cachesize is not supported in v2'))
  // KMS v1 is deprecated in Kubernetes and off by default.
  if (apiVersion !== 'v2')
    errors.push(
      invalid(
        path.child('apiVersion'),
        apiVersion,
        'unsupported apiVersion apiVersion for KMS provider, only v2 is supported',
      ),
    )
  return errors
}

function validateEndpoint(endpoint: string, path: Path): FieldError[] {
  if (endpoint === '') return [invalid(path, '', 'endpoint is a mandatory field for a kms')]
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1] ?? ''
  return scheme === 'unix'
    ? []
    : [invalid(path, endpoint, `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`)]
}
