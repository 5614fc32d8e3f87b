import {
  type FieldError,
  duplicate,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { pemBlocks } from '../../../api/x509/index.ts'
import type { AnonymousConfig } from '../authenticators/anonymous.ts'
import { ClaimRules, type JwtConfig } from './claim-rules.ts'
import { type Fields, isFields } from '../../../api/object.ts'

interface AuthenticationConfig {
  jwt: JwtConfig[]
  anonymous?: AnonymousConfig | undefined
}

/** A validated issuer with its compiled rules. */
export interface CheckedJwt {
  config: JwtConfig
  rules: ClaimRules
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)
const mostIssuers = 64

/** Reads a parsed AuthenticationConfiguration. Throws an error with one sentence if it is malformed. */
export function readAuthenticationConfig(value: unknown): AuthenticationConfig {
  const isKind = isFields(value) && value['kind'] === 'AuthenticationConfiguration'
  if (!isKind || !versions.includes(String(value['apiVersion']))) {
    throw new Error(`must be an AuthenticationConfiguration of ${versions[0]}`)
  }
  const { jwt = [], anonymous, apiVersion: _version, kind: _kind, ...strange } = value
  const [unknown] = Object.keys(strange)
  if (unknown !== undefined) throw new Error(`unknown field ${JSON.stringify(unknown)}`)
  if (!Array.isArray(jwt) || !jwt.every(isFields)) throw new Error('jwt: must be a list of authenticators')
  if (anonymous !== undefined && (!isFields(anonymous) || typeof anonymous['enabled'] !== 'boolean')) {
    throw new Error('anonymous.enabled: must be true or false')
  }
  return { jwt: jwt.map(withParts), anonymous: anonymous as AnonymousConfig | undefined }
}

/** Fills absent parts with empty values, so that validation reports them as missing. */
const withParts = (given: Fields): JwtConfig => {
  const issuer = isFields(given['issuer']) ? given['issuer'] : {}
  const mappings = isFields(given['claimMappings']) ? given['claimMappings'] : {}
  return {
    ...given,
    issuer: { ...issuer, url: issuer['url'] ?? '', audiences: issuer['audiences'] ?? [] },
    claimMappings: { ...mappings, username: mappings['username'] ?? {} },
  } as unknown as JwtConfig
}

function urlErrors(path: Path, text: string, own: readonly string[]): FieldError[] {
  if (text === '') return [required(path)]
  if (!URL.canParse(text)) return [invalid(path, text, 'must be a URL')]
  const url = new URL(text)
  const problems = [
    own.includes(text) && `URL must not overlap with disallowed issuers: [${own.join(' ')}]`,
    url.protocol !== 'https:' && 'URL scheme must be https',
    (url.username || url.password) && 'URL must not contain a username or password',
    url.search && 'URL must not contain a query',
    url.hash && 'URL must not contain a fragment',
  ]
  return problems.filter((problem) => problem).map((problem) => invalid(path, text, String(problem)))
}

function issuerErrors({ issuer }: JwtConfig, path: Path, own: readonly string[]): FieldError[] {
  const { url, discoveryURL = '', audiences, audienceMatchPolicy: policy = '', certificateAuthority = '' } = issuer
  const errors = urlErrors(path.child('url'), url, own)
  const at = { discovery: path.child('discoveryURL'), audiences: path.child('audiences') }
  if (discoveryURL !== '') {
    if (trimmed(url) === trimmed(discoveryURL)) {
      errors.push(invalid(at.discovery, discoveryURL, 'discoveryURL must be different from URL'))
    }
    errors.push(...urlErrors(at.discovery, discoveryURL, []))
  }
  if (audiences.length === 0) errors.push(required(at.audiences, 'at least one issuer.audiences is required'))
  for (const [i, audience] of audiences.entries()) {
    if (audience === '') errors.push(required(at.audiences.index(i)))
    else if (audiences.indexOf(audience) < i) errors.push(duplicate(at.audiences.index(i), audience))
  }
  if (policy !== '' && policy !== 'MatchAny') {
    errors.push(notSupported(path.child('audienceMatchPolicy'), policy, ['MatchAny']))
  } else if (audiences.length > 1 && policy === '') {
    const problem = 'audienceMatchPolicy must be MatchAny for multiple audiences'
    errors.push(invalid(path.child('audienceMatchPolicy'), policy, problem))
  }
  if (certificateAuthority !== '' && pemBlocks(certificateAuthority).length === 0) {
    const problem = 'data does not contain any valid certificates'
    errors.push(invalid(path.child('certificateAuthority'), '<omitted>', problem))
  }
  return errors
}

const trimmed = (url: string) => url.replace(/\/+$/, '')

/**
 * Validates a configuration and compiles its expressions. `own` are this server's issuers, which another issuer cannot
 * use.
 */
export function checkAuthenticationConfig(config: AuthenticationConfig, own: readonly string[]): CheckedJwt[] {
  const errors: FieldError[] = []
  const root = Path.of('jwt')
  if (config.jwt.length > mostIssuers) errors.push(tooMany(root, config.jwt.length, mostIssuers))
  const checked: CheckedJwt[] = []
  const seen = { url: new Set<string>(), discoveryURL: new Set<string>() }
  for (const [i, jwt] of config.jwt.slice(0, mostIssuers).entries()) {
    const path = root.index(i)
    errors.push(...issuerErrors(jwt, path.child('issuer'), own))
    for (const field of ['url', 'discoveryURL'] as const) {
      const value = jwt.issuer[field]
      if (value && seen[field].has(value)) errors.push(duplicate(path.child('issuer', field), value))
      if (value) seen[field].add(value)
    }
    checked.push({ config: jwt, rules: new ClaimRules(jwt, path, errors) })
  }
  const { anonymous } = config
  if (anonymous && !anonymous.enabled && anonymous.conditions?.length) {
    const problem = 'enabled should be set to true when conditions are defined'
    errors.push(invalid(Path.of('anonymous', 'conditions'), anonymous.conditions, problem))
  }
  if (errors.length > 0) throw new Error(errors.map(({ field, message }) => `${field}: ${message}`).join('; '))
  return checked
}
