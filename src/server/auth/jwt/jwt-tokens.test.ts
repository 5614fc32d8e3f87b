import { createHmac } from 'node:crypto'
import { SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../base/logger.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import type { TokenReader } from '../authenticate.ts'
import type { JwtConfig } from './claim-rules.ts'
import { checkAuthenticationConfig, readAuthenticationConfig } from './config.ts'
import { jwtTokens } from './jwt-tokens.ts'

const issuer = 'https://id.example.com'
const own = ['https://kubernetes.default.svc.cluster.local']
const keys = {
  rsa: await generateKeyPair('RS256', { extractable: true }),
  ec: await generateKeyPair('ES256', { extractable: true }),
  stranger: await generateKeyPair('RS256', { extractable: true }),
}
let clock: VirtualClock
/** The issuer's documents by URL, and the number of requests. */
let served: Record<string, unknown>
let asked: string[]

const jwkOf = async (name: keyof typeof keys, alg: string) => ({
  ...(await exportJWK(keys[name].publicKey)), kid: name, alg,
})

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  asked = []
  served = {
    [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
    [`${issuer}/keys`]: { keys: [await jwkOf('rsa', 'RS256')] },
  }
})

const base: JwtConfig = {
  issuer: { url: issuer, audiences: ['kubectl'] },
  claimMappings: { username: { claim: 'sub', prefix: 'oidc:' }, groups: { claim: 'groups', prefix: 'oidc:' } },
}

function readerOf(config: Partial<JwtConfig> = {}): TokenReader {
  const fetch = async (url: string) => {
    asked.push(url)
    if (!(url in served)) throw new Error(`${url}: answered 404`)
    return served[url]
  }
  const checked = checkAuthenticationConfig({ jwt: [{ ...base, ...config }] }, own)
  return jwtTokens(checked, { clock, logger: silentLogger, own, fetch: () => fetch })
}

interface Wanted {
  key?: keyof typeof keys
  alg?: string
  kid?: string
  claims?: Record<string, unknown>
}

const usual = () => ({
  iss: issuer, sub: 'ann', aud: 'kubectl', groups: ['crew'], iat: clock.now() / 1000, exp: clock.now() / 1000 + 600,
})
const sign = ({ key = 'rsa', alg = 'RS256', kid = key, claims = {} }: Wanted = {}) =>
  new SignJWT({ ...usual(), ...claims }).setProtectedHeader({ alg, kid }).sign(keys[key].privateKey)
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const userOf = async (token: string, config?: Partial<JwtConfig>) => (await readerOf(config)(token, own))?.user

describe('jwtTokens()', () => {
  it('knows the user of a token', async () => {
    expect(await readerOf()(await sign({ claims: { jti: 'j1' } }), own)).toEqual({
      user: {
        name: 'oidc:ann',
        groups: ['oidc:crew', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'] },
      },
      audiences: own,
    })
  })

  const hour = 3600
  it.each<[string, () => Promise<string> | string]>([
    ['that another key has signed', () => sign({ key: 'stranger', kid: 'rsa' })],
    ['with a key that the issuer does not have', () => sign({ key: 'stranger' })],
    ['that was changed', async () => (await sign()).replace(/\.[^.]+\./, `.${encode({ ...usual(), sub: 'admin' })}.`)],
    ['with alg none', () => `${encode({ alg: 'none' })}.${encode(usual())}.`],
    ['with alg none and a signature', () => `${encode({ alg: 'none' })}.${encode(usual())}.YQ`],
    ['signed by HS256 with the public key', async () => {
      const text = `${encode({ alg: 'HS256', kid: 'rsa' })}.${encode(usual())}`
      return `${text}.${createHmac('sha256', await exportSPKI(keys.rsa.publicKey)).update(text).digest('base64url')}`
    }],
    ['for another audience', () => sign({ claims: { aud: 'vault' } })],
    ['without an audience', () => sign({ claims: { aud: undefined } })],
    ['of another issuer', () => sign({ claims: { iss: 'https://evil.example.com' } })],
    ['of an issuer that differs by a slash', () => sign({ claims: { iss: `${issuer}/` } })],
    ['that has expired', () => sign({ claims: { exp: clock.now() / 1000 } })],
    ['without an end', () => sign({ claims: { exp: undefined } })],
    ['whose end is a text', () => sign({ claims: { exp: '9999999999' as never } })],
    ['that is not valid yet', () => sign({ claims: { nbf: clock.now() / 1000 + hour } })],
    ['without a user', () => sign({ claims: { sub: undefined } })],
    ['with an empty user', () => sign({ claims: { sub: '' } })],
    ['with groups that are no texts', () => sign({ claims: { groups: [1] } })],
    ['that is no JSON', () => 'YQ.YQ.YQ'],
  ])('refuses a token %s', async (_what, make) => {
    expect(await readerOf()(await make(), own)).toBeUndefined()
  })

  it('accepts no token for audiences of others', async () => {
    expect(await readerOf()(await sign(), ['vault'])).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('asks an issuer for its keys once, and again for a key it does not know, at most every 10s', async () => {
    const read = readerOf()
    await Promise.all([read(await sign(), own), read(await sign(), own)])
    expect(asked).toHaveLength(2)
    served[`${issuer}/keys`] = { keys: [await jwkOf('ec', 'ES256')] }
    const rotated = await sign({ key: 'ec', alg: 'ES256' })
    expect(await read(rotated, own)).toBeUndefined()
    expect(asked).toHaveLength(2)
    clock.advance(10_000)
    expect(await read(rotated, own)).toMatchObject({ user: { name: 'oidc:ann' } })
    expect(asked).toHaveLength(4)
    expect(await read(await sign(), own)).toBeUndefined()
    expect(asked).toHaveLength(4)
  })

  it('keeps keys while the issuer cannot be reached, and forgets withdrawn ones after ten minutes', async () => {
    const read = readerOf()
    expect(await read(await sign(), own)).toBeDefined()
    const before = served
    served = {}
    clock.advance(600_000)
    expect(await read(await sign(), own)).toBeDefined()
    served = { ...before, [`${issuer}/keys`]: { keys: [] } }
    clock.advance(10_000)
    expect(await read(await sign(), own)).toBeUndefined()
  })

  it.each<[string, Record<string, unknown>]>([
    ['another issuer', { issuer: 'https://other.example.com', jwks_uri: `${issuer}/keys` }],
    ['keys without TLS', { issuer, jwks_uri: 'http://id.example.com/keys' }],
    ['no keys', { issuer }],
  ])('accepts nothing where discovery names %s', async (_what, document) => {
    served[`${issuer}/.well-known/openid-configuration`] = document
    expect(await userOf(await sign())).toBeUndefined()
  })

  it('accepts only the algorithms of --oidc-signing-algs', async () => {
    served[`${issuer}/keys`] = { keys: [await jwkOf('rsa', 'RS256'), await jwkOf('ec', 'ES256')] }
    const token = await sign({ key: 'ec', alg: 'ES256' })
    expect(await userOf(token)).toBeDefined()
    expect(await userOf(token, { algorithms: ['RS256'] })).toBeUndefined()
  })
})

describe('rules of claims', () => {
  const mapped = (mapping: Partial<JwtConfig['claimMappings']>): Partial<JwtConfig> => ({
    claimMappings: { ...base.claimMappings, ...mapping },
  })

  it.each<[string, Partial<JwtConfig>, Record<string, unknown>, unknown]>([
    [
      'an e-mail address that is verified',
      mapped({ username: { claim: 'email', prefix: '' } }), { email: 'a@b', email_verified: true }, { name: 'a@b' },
    ],
    [
      'an e-mail address that is not',
      mapped({ username: { claim: 'email', prefix: '' } }), { email: 'a@b', email_verified: false }, undefined,
    ],
    ['one group as a text', {}, { groups: 'solo' }, { groups: ['oidc:solo', 'system:authenticated'] }],
    ['a uid', mapped({ uid: { claim: 'oid' } }), { oid: '42' }, { uid: '42' }],
    [
      'a required claim',
      { claimValidationRules: [{ claim: 'hd', requiredValue: 'x.com' }] }, { hd: 'x.com' }, { name: 'oidc:ann' },
    ],
    [
      'a required claim with another value',
      { claimValidationRules: [{ claim: 'hd', requiredValue: 'x.com' }] }, { hd: 'y.com' }, undefined,
    ],
    ['a user by an expression', mapped({ username: { expression: "claims.sub + '@corp'" } }), {}, { name: 'ann@corp' }],
    [
      'groups by an expression',
      mapped({ groups: { expression: "claims.roles.split(',')" } }),
      { roles: 'a,b' }, { groups: ['a', 'b', 'system:authenticated'] },
    ],
    [
      'extra values by an expression',
      mapped({ extra: [{ key: 'example.com/team', valueExpression: 'claims.team' }] }),
      { team: 'red' }, { extra: { 'example.com/team': ['red'] } },
    ],
    [
      'a claim that an expression allows',
      { claimValidationRules: [{ expression: 'claims.exp - claims.iat <= 600' }] }, {}, { name: 'oidc:ann' },
    ],
    [
      'a claim that an expression refuses',
      { claimValidationRules: [{ expression: 'claims.exp - claims.iat <= 60' }] }, {}, undefined,
    ],
    [
      'an expression over a claim that is not there',
      { claimValidationRules: [{ expression: 'claims.nope == 1' }] }, {}, undefined,
    ],
    [
      'a user that a rule allows',
      { userValidationRules: [{ expression: "!user.username.startsWith('system:')" }] }, {}, { name: 'oidc:ann' },
    ],
    [
      'a user that a rule refuses',
      { userValidationRules: [{ expression: "user.groups.all(g, g != 'oidc:crew')" }] }, {}, undefined,
    ],
  ])('%s', async (_what, config, claims, expected) => {
    const user = await userOf(await sign({ claims }), config)
    if (expected === undefined) expect(user).toBeUndefined()
    else expect(user).toMatchObject(expected as object)
  })
})

describe('an AuthenticationConfiguration', () => {
  const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' }
  const whole = (jwt: unknown[], more: object = {}) => ({ ...type, jwt, ...more })
  const changed = (fields: object) => ({ ...base, issuer: { ...base.issuer, ...fields } })
  const mapped = (mappings: object) => ({ ...base, claimMappings: mappings })
  const reserved = { ...base.claimMappings, extra: [{ key: 'a.k8s.io/x', valueExpression: "'a'" }] }
  const bad = { username: { expression: 'claims.' } }

  it.each<[string, unknown, RegExp]>([
    ['another kind', { kind: 'Pod' }, /must be an AuthenticationConfiguration/],
    ['an unknown field', whole([], { jwts: [] }), /unknown field "jwts"/],
    ['no issuer', whole([{ claimMappings: base.claimMappings }]), /jwt\[0\]\.issuer\.url: Required value/],
    ['an issuer without TLS', whole([changed({ url: 'http://a.b' })]), /URL scheme must be https/],
    ["this server's own issuer", whole([changed({ url: own[0] })]), /must not overlap with disallowed issuers/],
    ['two issuers of one name', whole([base, base]), /jwt\[1\]\.issuer\.url: Duplicate value/],
    ['no audience', whole([changed({ audiences: [] })]), /issuer\.audiences: Required value/],
    [
      'audiences without a policy',
      whole([changed({ audiences: ['a', 'b'] })]), /must be MatchAny for multiple audiences/,
    ],
    ['no user', whole([{ ...base, claimMappings: {} }]), /claimMappings\.username: Required value/],
    [
      'a claim without a prefix',
      whole([{ ...base, claimMappings: { username: { claim: 'sub' } } }]), /prefix is required when claim is set/,
    ],
    [
      'an expression that cannot be read',
      whole([{ ...base, claimMappings: bad }]), /username\.expression: Invalid value.*compilation failed/s,
    ],
    [
      'an expression of another type',
      whole([{ ...base, claimMappings: { username: { expression: '1' } } }]), /must evaluate to string/,
    ],
    [
      'an e-mail address that nobody verified',
      whole([mapped({ username: { expression: 'claims.email' } })]), /claims\.email_verified must be used/,
    ],
    [
      'extra of Kubernetes',
      whole([mapped(reserved)]), /reserved for Kubernetes use/,
    ],
    [
      'conditions of what is off',
      whole([], { anonymous: { enabled: false, conditions: [{ path: '/livez' }] } }), /enabled should be set to true/,
    ],
  ])('is refused with %s', (_what, value, message) => {
    expect(() => checkAuthenticationConfig(readAuthenticationConfig(value), own)).toThrow(message)
  })

  it('may have no issuers at all', () => {
    expect(checkAuthenticationConfig(readAuthenticationConfig(whole([])), own)).toEqual([])
  })
})
