import {
  type Program,
  boolType,
  compile,
  dynType,
  kubernetesEnvironment,
  listType,
  mapType,
  objectType,
  stringType,
  toJson,
  toValue,
  untyped,
} from '../../../api/cel/index.ts'
import { type FieldError, duplicate, invalid, required } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'
import type { UserInfo } from '../../objects/objects.ts'
import { authenticatedGroup } from '../authenticators/anonymous.ts'
import { credentialId } from '../authenticators/client-certificate.ts'

/** A claim with a prefix, or a CEL expression. */
interface ClaimOrExpression {
  claim?: string
  prefix?: string
  expression?: string
}

/** One token issuer and its mapping of claims to users: JWTAuthenticator of apiserver.config.k8s.io/v1. */
export interface JwtConfig {
  issuer: {
    url: string
    discoveryURL?: string
    certificateAuthority?: string
    audiences: string[]
    audienceMatchPolicy?: string
  }
  claimValidationRules?: { claim?: string; requiredValue?: string; expression?: string; message?: string }[]
  claimMappings: {
    username: ClaimOrExpression
    groups?: ClaimOrExpression
    uid?: Omit<ClaimOrExpression, 'prefix'>
    extra?: { key: string; valueExpression: string }[]
  }
  userValidationRules?: { expression: string; message?: string }[]
  /** The --oidc-signing-algs flag. Default: every asymmetric algorithm of RFC 7518. */
  algorithms?: readonly string[]
}

export type JwtClaims = Readonly<Record<string, unknown>>

/** A verified token that the issuer's rules reject. */
class ClaimError extends Error {}

const claimsEnvironment = kubernetesEnvironment.extend({ claims: mapType(stringType, dynType) })
const userType = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
})
const userEnvironment = kubernetesEnvironment.extend({ user: userType })

interface Condition {
  program: Program
  message: string
}

/** The compiled rules of one issuer: validation of claims, and mapping of claims to a user. */
export class ClaimRules {
  readonly #config: JwtConfig
  readonly #username: Program | undefined
  readonly #groups: Program | undefined
  readonly #uid: Program | undefined
  readonly #extra: readonly { key: string; program: Program }[]
  readonly #claimConditions: readonly Condition[]
  readonly #userConditions: readonly Condition[]

  /** Appends the configuration's validation errors to `errors`. */
  constructor(config: JwtConfig, path: Path, errors: FieldError[]) {
    this.#config = config
    const { username, groups = {}, uid = {}, extra = [] } = config.claimMappings
    const at = path.child('claimMappings')
    if (!username.claim && !username.expression) errors.push(required(at.child('username'), neitherSet))
    prefixErrors(username, at.child('username'), errors)
    prefixErrors(groups, at.child('groups'), errors)
    if (uid.claim && uid.expression) errors.push(invalid(at.child('uid'), '', bothSet))
    const claims = (text: string | undefined, where: Path, kinds: readonly string[] = ['string']) =>
      text ? compiled(text, where, claimsEnvironment, kinds, errors) : undefined
    this.#username = claims(username.expression, at.child('username', 'expression'))
    this.#groups = claims(groups.expression, at.child('groups', 'expression'), ['string', 'list'])
    this.#uid = claims(uid.expression, at.child('uid', 'expression'))
    this.#extra = extra.flatMap(({ key, valueExpression }, i) => {
      const where = at.child('extra').index(i)
      extraKeyErrors(
        key,
        where.child('key'),
        extra.slice(0, i).map((e) => e.key),
        errors,
      )
      if (!valueExpression) errors.push(required(where.child('valueExpression')))
      const program = claims(valueExpression, where.child('valueExpression'), ['string', 'list'])
      return program ? [{ key, program }] : []
    })
    this.#claimConditions = claimConditions(config, path.child('claimValidationRules'), errors)
    this.#userConditions = userConditions(config, path.child('userValidationRules'), errors)
    const checks = (config.claimValidationRules ?? []).map((rule) => rule.expression)
    const expressions = [username.expression, ...extra.map((e) => e.valueExpression), ...checks]
    const isVerified = expressions.some((text) => /\bemail_verified\b/.test(text ?? ''))
    if (/\bclaims\.\??email\b/.test(username.expression ?? '') && !isVerified) {
      errors.push(invalid(at.child('username', 'expression'), username.expression, unverifiedEmail))
    }
  }

  /** Returns the user of a token with these claims. Throws a ClaimError if a rule rejects it. */
  userOf(claims: JwtClaims): UserInfo {
    for (const { claim, requiredValue = '' } of this.#config.claimValidationRules ?? []) {
      if (!claim || claims[claim] === requiredValue) continue
      throw new ClaimError(`claim ${claim} is not ${JSON.stringify(requiredValue)}`)
    }
    const variables = { claims: untyped(claims as Record<string, unknown>) }
    for (const condition of this.#claimConditions) insist(condition, variables)
    const user = this.#mapped(claims, variables)
    const { name: username, uid = '', groups, extra = {} } = user
    const told = { user: toValue(userType, { username, uid, groups, extra }) }
    for (const condition of this.#userConditions) insist(condition, told)
    const all: Record<string, string[]> = { ...extra }
    if (typeof claims['jti'] === 'string') all[credentialId] = [`JTI=${claims['jti']}`]
    return { ...user, groups: [...groups, authenticatedGroup], ...(Object.keys(all).length > 0 ? { extra: all } : {}) }
  }

  #mapped(claims: JwtClaims, variables: Variables): UserInfo {
    const { username, groups: wanted = {}, uid: uidClaim = {} } = this.#config.claimMappings
    const { prefix = '', claim = '' } = username
    const name = this.#username ? textOf(this.#username, variables) : `${prefix}${usernameClaim(claims, claim)}`
    if (name === '') throw new ClaimError('username claim is empty')
    const uid = this.#uid ? textOf(this.#uid, variables) : uidClaim.claim ? textClaim(claims, uidClaim.claim) : ''
    const groups = this.#groups ? listOf(this.#groups, variables) : groupsClaim(claims, wanted)
    const values = this.#extra.map(({ key, program }) => [key, listOf(program, variables)] as const)
    const extra = Object.fromEntries(values.filter(([, list]) => list.length > 0))
    return {
      name,
      ...(uid ? { uid } : {}),
      groups,
      ...(Object.keys(extra).length > 0 ? { extra } : {}),
    }
  }
}

type Variables = Parameters<Program['evaluate']>[0]

const neitherSet = 'claim or expression is required'
const noPrefix = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
const noDomain = 'must be a domain-prefixed path (such as "acme.io/foo")'
const onlyWithExpression = 'may not be specified when claim is set'
const onlyWithClaim = 'may not be specified when expression is set'
const bothSet = "claim and expression can't both be set"
const unverifiedEmail =
  'claims.email_verified must be used in claimMappings.username.expression or ' +
  'claimMappings.extra[*].valueExpression or ' +
  'claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'

function prefixErrors({ claim, prefix, expression }: ClaimOrExpression, path: Path, errors: FieldError[]): void {
  if (claim && expression) errors.push(invalid(path, '', bothSet))
  else if (expression && prefix !== undefined) errors.push(invalid(path, '', "prefix and expression can't both be set"))
  else if (claim && prefix === undefined) errors.push(required(path.child('prefix'), noPrefix))
  else if (!claim && prefix) errors.push(invalid(path, '', 'claim is required when prefix is set'))
}

function extraKeyErrors(key: string, path: Path, before: readonly string[], errors: FieldError[]): void {
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/\S+$/i.test(key)) errors.push(invalid(path, key, noDomain))
  if (key !== key.toLowerCase()) errors.push(invalid(path, key, 'must be lowercase'))
  if (/^([^/]+\.)?(k8s|kubernetes)\.io\//.test(key)) {
    errors.push(invalid(path, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'))
  }
  if (before.includes(key)) errors.push(duplicate(path, key))
}

function compiled(
  text: string,
  path: Path,
  environment: typeof claimsEnvironment,
  kinds: readonly string[],
  errors: FieldError[],
): Program | undefined {
  const { program, error } = compile(text, environment)
  if (!program) {
    errors.push(invalid(path, text, `compilation failed: ${error.message}`))
    return undefined
  }
  const { kind } = program.type
  if (kind === 'dyn' || kinds.includes(kind)) return program
  errors.push(invalid(path, text, `must evaluate to ${kinds.join(' or ')}`))
  return undefined
}

function claimConditions({ claimValidationRules = [] }: JwtConfig, path: Path, errors: FieldError[]): Condition[] {
  return claimValidationRules.flatMap(({ claim, requiredValue, expression, message }, i) => {
    const at = path.index(i)
    if (claim && expression) errors.push(invalid(at, claim, bothSet))
    else if (!claim && !expression) errors.push(required(at, neitherSet))
    else if (claim && message) errors.push(invalid(at.child('message'), message, onlyWithExpression))
    else if (requiredValue && !claim) errors.push(invalid(at.child('requiredValue'), requiredValue, onlyWithClaim))
    const first = claim ? claimValidationRules.findIndex((rule) => rule.claim === claim) : i
    if (first < i) errors.push(duplicate(at.child('claim'), claim))
    if (!expression) return []
    const program = compiled(expression, at.child('expression'), claimsEnvironment, [boolType.kind], errors)
    return program ? [{ program, message: message ?? '' }] : []
  })
}

function userConditions({ userValidationRules = [] }: JwtConfig, path: Path, errors: FieldError[]): Condition[] {
  return userValidationRules.flatMap(({ expression, message }, i) => {
    const at = path.index(i).child('expression')
    if (!expression) errors.push(required(at, 'expression is required'))
    const first = userValidationRules.findIndex((rule) => rule.expression === expression)
    if (first < i) errors.push(duplicate(at, expression))
    const program = expression ? compiled(expression, at, userEnvironment, [boolType.kind], errors) : undefined
    return program ? [{ program, message: message ?? '' }] : []
  })
}

function valueOf(program: Program, variables: Variables): unknown {
  const { value, error } = program.evaluate(variables)
  if (error !== undefined) throw new ClaimError(`expression ${JSON.stringify(program.expression)}: ${error}`)
  return toJson(value)
}

function insist({ program, message }: Condition, variables: Variables): void {
  if (valueOf(program, variables) === true) return
  const why = message ? `: ${message}` : ''
  throw new ClaimError(`validation expression ${JSON.stringify(program.expression)} failed${why}`)
}

function textOf(program: Program, variables: Variables): string {
  const value = valueOf(program, variables)
  if (typeof value === 'string') return value
  throw new ClaimError(`expression ${JSON.stringify(program.expression)} must return a string`)
}

/** Evaluates to a string or a list of strings. As in Kubernetes, null and empty strings are no values. */
function listOf(program: Program, variables: Variables): string[] {
  const values = [valueOf(program, variables) ?? []].flat()
  if (!values.every((value) => typeof value === 'string')) {
    throw new ClaimError(`expression ${JSON.stringify(program.expression)} must return a string or a list of strings`)
  }
  return values.filter((value) => value !== '')
}

function textClaim(claims: JwtClaims, name: string): string {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (typeof value !== 'string') throw new ClaimError(`claim ${name} is missing or not a string`)
  return value
}

/** An e-mail address is rejected if `email_verified` is present and not true. */
function usernameClaim(claims: JwtClaims, name: string): string {
  const value = textClaim(claims, name)
  const verified = claims['email_verified']
  if (name === 'email' && verified !== undefined && verified !== true) throw new ClaimError('email not verified')
  if (value === '') throw new ClaimError('username claim is empty')
  return value
}

function groupsClaim(claims: JwtClaims, { claim: name = '', prefix = '' }: ClaimOrExpression): string[] {
  const value = name !== '' && Object.hasOwn(claims, name) ? claims[name] : undefined
  if (value === undefined || value === null) return []
  const groups = [value].flat()
  const isTexts = groups.every((group) => typeof group === 'string')
  if (!isTexts) throw new ClaimError(`claim ${name} is not a list of strings`)
  return groups.map((group) => `${prefix}${group}`)
}
