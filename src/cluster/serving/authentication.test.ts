import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type Server as HttpsServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { createAuthority, issueServerCertificate } from '../../server/index.ts'
import { type Authentication, type FileFlags, makeAuthentication, oidcConfig } from './authentication.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'authentication-'))
const now = Date.now()
const authority = createAuthority(now)
const keys = await generateKeyPair('RS256', { extractable: true })
let server: HttpsServer
let url: string
/** The number of calls of the webhook. */
let reviews = 0

const file = (name: string, text: string) => {
  writeFileSync(path.join(dir, name), text)
  return path.join(dir, name)
}

async function answerOf(request: IncomingMessage): Promise<unknown> {
  if (request.url === '/.well-known/openid-configuration') return { issuer: url, jwks_uri: `${url}/keys` }
  if (request.url === '/keys') return { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256' }] }
  let text = ''
  for await (const chunk of request) text += String(chunk)
  reviews++
  const { spec, apiVersion, kind } = JSON.parse(text)
  const status = spec.token === 'hooked' ? { authenticated: true, user: { username: 'hook', groups: [] } } : {}
  return { apiVersion, kind, status }
}

beforeAll(async () => {
  const { certificate, key } = issueServerCertificate(authority, ['127.0.0.1'], now)
  server = createServer({ cert: certificate, key }, (request, response) => {
    response.setHeader('content-type', 'application/json')
    void answerOf(request).then((answer) => response.end(JSON.stringify(answer)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

const opened: Authentication[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
  rmSync(dir, { recursive: true })
})

async function make(flags: Partial<FileFlags>): Promise<Authentication> {
  const made = await makeAuthentication({ tokenAuthFile: undefined, clientCaFile: undefined, ...flags }, silentLogger)
  made.authenticator.setTokenReaders([], ['https://kubernetes.default.svc.cluster.local'])
  opened.push(made)
  return made
}

const nameOf = async ({ authenticator }: Authentication, token: string) =>
  (await authenticator.authenticate({ authorization: `Bearer ${token}`, certificate: undefined }))?.name

const idToken = (claims: Record<string, unknown> = {}) =>
  new SignJWT({ iss: url, aud: 'kubectl', sub: 'ann', exp: now / 1000 + 600, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .sign(keys.privateKey)

const oidc = (more: object = {}) => ({
  issuerUrl: url, clientId: 'kubectl', usernameClaim: 'sub', requiredClaims: {}, signingAlgorithms: ['RS256'],
  caFile: file('ca.crt', authority.certificate), ...more,
})

describe('makeAuthentication()', () => {
  it('reads tokens of the issuer of the flags, over TLS that its authority vouches for', async () => {
    const made = await make({ authentication: { oidc: oidc() } })
    expect(await nameOf(made, await idToken())).toBe(`${url}#ann`)
    expect(await nameOf(made, await idToken({ aud: 'other' }))).toBeUndefined()
    const caFile = file('other.crt', createAuthority(now).certificate)
    const untrusted = await make({ authentication: { oidc: oidc({ caFile }) } })
    expect(await nameOf(untrusted, await idToken())).toBeUndefined()
  })

  it('reads an AuthenticationConfiguration, and reads it again when it changes', async () => {
    const config = (prefix: string) => `
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: ${url}
    audiences: [kubectl]
    certificateAuthority: |
${authority.certificate.replace(/^/gm, '      ')}
  claimMappings:
    username: { claim: sub, prefix: "${prefix}" }
`
    const authenticationConfig = file('config.yaml', config('a:'))
    const made = await make({ authentication: { authenticationConfig } })
    expect(await nameOf(made, await idToken())).toBe('a:ann')
    file('config.yaml', config('b:'))
    expect(made.files.map((one) => one.reread())).toEqual([true])
    expect(await nameOf(made, await idToken())).toBe('b:ann')
    file('config.yaml', 'kind: Nope')
    expect(() => made.files[0]!.reread()).toThrow(/--authentication-config: .*must be an AuthenticationConfiguration/)
    expect(await nameOf(made, await idToken())).toBe('b:ann')
  })

  it('asks a webhook once for a token, accepted or not', async () => {
    file('ca.crt', authority.certificate)
    const configFile = file('hook', JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `${url}/hook`, 'certificate-authority': 'ca.crt' } }],
      contexts: [{ name: 'c', context: { cluster: 'c' } }], 'current-context': 'c',
    }))
    const made = await make({ authentication: { webhook: { configFile, version: 'v1', cacheTtlMs: 60_000 } } })
    reviews = 0
    for (const _ of [1, 2]) expect(await nameOf(made, 'hooked')).toBe('hook')
    for (const _ of [1, 2]) expect(await nameOf(made, 'unknown')).toBeUndefined()
    expect(reviews).toBe(2)
  })

  it('takes the tokens of a file as they are now', async () => {
    const made = await make({ tokenAuthFile: file('tokens', 't1,ann,1\n') })
    expect(await nameOf(made, 't1')).toBe('ann')
    file('tokens', 't2,bob,2\n')
    expect(made.files[0]!.reread()).toBe(true)
    expect([await nameOf(made, 't1'), await nameOf(made, 't2')]).toEqual([undefined, 'bob'])
  })

  it.each<[string, () => Partial<FileFlags>, RegExp]>([
    ['a file that is not there', () => ({ tokenAuthFile: path.join(dir, 'none') }), /^--token-auth-file: ENOENT/],
    ['authorities that are none', () => ({ clientCaFile: file('x', 'x') }), /^--client-ca-file: .* has no certificate/],
    [
      'an issuer without TLS',
      () => ({ authentication: { oidc: oidc({ issuerUrl: 'http://a.b' }) } }),
      /^--oidc-issuer-url: .*URL scheme must be https/,
    ],
    [
      'flags and a file for issuers',
      () => ({ authentication: { oidc: oidc(), authenticationConfig: file('c', '') } }),
      /cannot be used together/,
    ],
    [
      'a kubeconfig that is none',
      () => ({ authentication: { webhook: { configFile: file('k', '[]'), version: 'v1', cacheTtlMs: 1 } } }),
      /^--authentication-token-webhook-config-file: /,
    ],
  ])('refuses %s', async (_what, flags, message) => {
    await expect(make(flags())).rejects.toThrow(message)
  })
})

describe('oidcConfig()', () => {
  it.each<[string, object, string]>([
    ['the issuer, by default', {}, 'https://i#'],
    ['none for email', { usernameClaim: 'email' }, ''],
    ['none for a dash', { usernamePrefix: '-' }, ''],
    ['the one that is given', { usernamePrefix: 'oidc:' }, 'oidc:'],
  ])('the prefix of users is %s', (_what, more, prefix) => {
    const flags = { issuerUrl: 'https://i', clientId: 'c', usernameClaim: 'sub', requiredClaims: {} }
    expect(oidcConfig({ ...flags, signingAlgorithms: [], ...more }).claimMappings.username.prefix).toBe(prefix)
  })
})
