import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const page = '404 page not found\n'
const status = (reason: string) => expect.objectContaining({ kind: 'Status', reason })

/** The responses of Kubernetes' routers: exact paths and prefixes of its mux, and go-restful's for web services. */
describe('paths that are about no resource', () => {
  it.each([
    ['GET', '/version', 200, expect.objectContaining({ major: '1', minor: '36' })],
    ['GET', '/version/', 200, expect.objectContaining({ major: '1', minor: '36' })],
    ['GET', '/version/x', 404, status('NotFound')],
    ['GET', '/versions', 404, page],
    ['POST', '/version', 405, status('MethodNotAllowed')],
    ['POST', '/version/', 405, status('MethodNotAllowed')],
    ['GET', '/healthz', 200, 'ok'],
    ['GET', '/healthz/', 404, page],
    ['GET', '/livez/', 404, page],
    ['GET', '/readyz/', 404, page],
    ['GET', '/livez/ping', 200, 'ok'],
    ['GET', '/livez/ping/', 404, page],
    ['GET', '/metrics/', 404, page],
    ['GET', '/apis/', 200, expect.objectContaining({ kind: 'APIGroupList' })],
    ['GET', '/api/', 200, expect.objectContaining({ kind: 'APIVersions' })],
    ['GET', '/api/v1/', 200, expect.objectContaining({ kind: 'APIResourceList' })],
    ['GET', '/apis/apps/', 200, expect.objectContaining({ kind: 'APIGroup' })],
    ['GET', '/.well-known/openid-configuration/', 200, expect.objectContaining({ issuer: expect.any(String) })],
    ['GET', '/openid/v1/jwks/', 200, expect.objectContaining({ keys: [expect.anything()] })],
    ['DELETE', '/openid/v1/jwks', 405, status('MethodNotAllowed')],
  ])('%s %s is %i', async (method, url, code, body) => {
    const got = await server.send({ method, url })
    expect([got.code, typeof body === 'string' ? got.text : JSON.parse(got.text)]).toEqual([code, body])
  })
})

/** Recorded: the groups of custom resources before they are defined. A group that is served answers with a Status. */
describe('paths of groups and versions that are not served', () => {
  const bodies = { method: 'POST', headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }

  it.each([
    ['a namespaced create', { ...bodies, url: '/apis/nosuch.example.com/v1/namespaces/default/boats' }, page],
    ['a create', { ...bodies, url: '/apis/nosuch.example.com/v1/boats' }, page],
    ['a create with a body that cannot be read', { ...bodies, body: Buffer.from('{'), url: '/apis/nosuch.example.com/v1/boats' }, page],
    ['a create in protobuf', { ...bodies, headers: { 'content-type': 'application/vnd.kubernetes.protobuf' }, url: '/apis/nosuch.example.com/v1/boats' }, page],
    ['a get', { method: 'GET', url: '/apis/nosuch.example.com/v1/boats/b' }, page],
    ['an update', { ...bodies, method: 'PUT', url: '/apis/nosuch.example.com/v1/boats/b' }, page],
    ['a patch', { ...bodies, method: 'PATCH', url: '/apis/nosuch.example.com/v1/boats/b' }, page],
    ['a delete', { method: 'DELETE', url: '/apis/nosuch.example.com/v1/boats/b' }, page],
    ['a create of an unknown version', { ...bodies, url: '/apis/apps/v7/namespaces/default/deployments' }, undefined],
    ['a create of an unknown kind', { ...bodies, url: '/apis/apps/v1/namespaces/default/boats' }, undefined],
  ])('%s is 404', async (_what, sent, text) => {
    const got = await server.send(sent)
    expect(got.code).toBe(404)
    if (text === undefined) expect(got.body).toMatchObject({ kind: 'Status', reason: 'NotFound' })
    else expect(got.text).toBe(text)
  })
})

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

describe('OpenID discovery', () => {
  const issue = async (spec: object = {}): Promise<string> => {
    await server.create('/api/v1/namespaces/default/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } })
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    return (await server.create('/api/v1/namespaces/default/serviceaccounts/robot/token', request)).body.status.token
  }

  it('names the issuer and where its keys are', async () => {
    const { headers, text } = await server.get('/.well-known/openid-configuration')
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' })
    expect(JSON.parse(text)).toEqual({
      issuer: 'https://kubernetes.default.svc.cluster.local',
      jwks_uri: 'https://127.0.0.1:6443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
  })

  it('has the key that tokens are verified with', async () => {
    const token = await issue()
    const { headers, text } = await server.get('/openid/v1/jwks')
    expect(headers['content-type']).toBe('application/jwk-set+json')
    const [key] = JSON.parse(text).keys
    const [head, body, signature] = token.split('.') as [string, string, string]
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: key.alg, kid: key.kid })
    const publicKey = createPublicKey({ key, format: 'jwk' })
    const signed = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
    expect(verify('sha256', Buffer.from(`${head}.${body}`), signed, Buffer.from(signature, 'base64url'))).toBe(true)
  })

  it('is for who is let in only', async () => {
    expect((await server.send({ method: 'GET', url: '/openid/v1/jwks', user: null })).code).toBe(401)
  })

  it('--service-account-issuer names the issuer and the audience; tokens of former issuers are still accepted', async () => {
    const former = await issue()
    server = await server.restart({ tokenIssuers: ['https://new.example.com', 'https://kubernetes.default.svc.cluster.local'] })
    expect((await server.get('/.well-known/openid-configuration')).body.issuer).toBe('https://new.example.com')
    const { iss, aud } = claimsOf(await issue())
    expect([iss, aud]).toEqual(['https://new.example.com', ['https://new.example.com', 'https://kubernetes.default.svc.cluster.local']])
    expect(claimsOf(former).iss).toBe('https://kubernetes.default.svc.cluster.local')
  })

  it.each([
    ['one that it is meant for', ['vault', 'other'], { authenticated: true, audiences: ['vault'] }],
    ['another', ['other'], { error: 'invalid bearer token' }],
    ['this server', [], { error: 'invalid bearer token' }],
  ])('TokenReview tells whether a token for one audience is good for %s', async (_what, audiences, status) => {
    const token = await issue({ audiences: ['vault'] })
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } }
    const { body } = await server.create('/apis/authentication.k8s.io/v1/tokenreviews', review)
    expect(body.status).toMatchObject(status)
    expect(body.status.authenticated).toBe((status as { authenticated?: boolean }).authenticated)
  })

  it.each([
    ['a service account', () => issue(), 'system:serviceaccount:default:robot'],
    ['the list', async () => 'sesame', 'token-user'],
  ])('TokenReview names this server as the audience of a token of %s', async (_what, token, username) => {
    const own = 'https://kubernetes.default.svc.cluster.local'
    const ask = async (audiences: string[]) => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: await token(), audiences } }
      return (await server.create('/apis/authentication.k8s.io/v1/tokenreviews', review)).body.status
    }
    expect(await ask([])).toMatchObject({ authenticated: true, user: { username }, audiences: [own] })
    expect(await ask(['x', own])).toMatchObject({ authenticated: true, audiences: [own] })
    expect((await ask(['x'])).authenticated).toBeUndefined()
  })

  it('is off for an issuer that is no https URL, as in Kubernetes', async () => {
    server = await server.restart({ tokenIssuers: ['kubernetes/serviceaccount'] })
    expect((await server.get('/.well-known/openid-configuration')).code).toBe(404)
  })
})
