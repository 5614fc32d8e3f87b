import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { Agent, request } from 'node:https'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FeatureGates } from '../../src/api/feature-gates.ts'
import type { ServiceAccount } from '../../src/api/generated/types.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import {
  ApiServer, Authenticator, FrontProxy, type KeyPair, type Listener, admissionPlugins, createAuthority,
  frontProxyDefaults, issueClientCertificate, issueServerCertificate, listen,
} from '../../src/server/index.ts'
import { ServiceAccountTokens } from '../../src/server/auth/service-account-tokens.ts'
import { type Store, openMemoryStore } from '../../src/store/index.ts'
import { SeededRandom } from '../seeded-random.ts'
import { until } from './server.ts'

const now = Date.now()
const yearMs = 365 * 24 * 3_600_000
const authority = createAuthority(now)
const second = createAuthority(now)
const proxies = createAuthority(now)
const clock = new VirtualClock(now)
const issuer = 'https://kubernetes.default.svc.cluster.local'
let store: Store
let server: ApiServer
let listener: Listener

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const tokenKey = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

beforeAll(async () => {
  store = openMemoryStore({ clock })
  server = await ApiServer.open({
    store,
    tokenKey,
    gates: FeatureGates.of(),
    authenticator: new Authenticator(new Map([['sesame', { name: 'ali', uid: '7', groups: ['thieves'] }]]), {
      frontProxy: new FrontProxy({ ...frontProxyDefaults, allowedNames: ['front-proxy-client'] }),
    }),
    admission: admissionPlugins,
    clock,
    random: new SeededRandom(1),
    logger: silentLogger,
    release: 'testing',
    rootCa: authority.certificate,
    address: '127.0.0.1:6443',
  })
  listener = await listen({
    address: '127.0.0.1', port: 0, serving: issueServerCertificate(authority, ['127.0.0.1'], now),
    clientAuthorities: [`${authority.certificate}\n${second.certificate}`],
    proxyAuthorities: [proxies.certificate],
    handle: (exchange) => server.handle(exchange),
  })
  for (const [plural, object] of [
    ['namespaces', { kind: 'Namespace', metadata: { name: 'shop' } }],
    ['namespaces/shop/serviceaccounts', { kind: 'ServiceAccount', metadata: { name: 'robot' } }],
    ['nodes', { kind: 'Node', metadata: { name: 'n1' } }],
  ] as const) await asAdmin('POST', `/api/v1/${plural}`, { apiVersion: 'v1', ...object })
})

afterAll(async () => {
  await listener.close(0)
  server.close()
  await store.close()
})

interface Asked {
  method?: string
  path?: string
  token?: string
  client?: KeyPair
  headers?: Record<string, string>
  body?: object
}

function ask(asked: Asked): Promise<{ code: number; body: any }> {
  const { method = 'GET', path = '/api', token, client, headers = {}, body } = asked
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1', port: listener.port, method, path, agent: false, ca: authority.certificate,
        ...(client ? { cert: client.certificate, key: client.key } : {}),
        headers: { 'content-type': 'application/json', ...bearer, ...headers },
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        const read = () => (text.startsWith('{') ? JSON.parse(text) : text)
        response.on('end', () => resolve({ code: response.statusCode!, body: read() }))
      },
    )
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

const certificate = (commonName: string, organizations: string[] = [], by = authority, from = now) =>
  issueClientCertificate(by, { commonName, organizations }, from)
const admin = certificate('admin', ['system:masters'])

async function asAdmin(method: string, path: string, body?: object) {
  const answer = await ask({ method, path, client: admin, ...(body ? { body } : {}) })
  if (answer.code >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

const whoAmI = async (asked: Asked) => {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const answer = await ask({ ...asked, method: 'POST', path, body })
  return answer.code === 201 ? answer.body.status.userInfo : answer.code
}

async function tokenOf(spec: object = {}, account = 'robot'): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  return (await asAdmin('POST', `/api/v1/namespaces/shop/serviceaccounts/${account}/token`, body)).status.token
}

const pod = (name: string) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name },
  spec: { serviceAccountName: 'robot', nodeName: 'n1', containers: [{ name: 'main', image: 'nginx' }] },
})
const made = (plural: string, object: object) => asAdmin('POST', `/api/v1/namespaces/shop/${plural}`, object)
const gone = (plural: string, name: string) =>
  asAdmin('DELETE', `/api/v1/namespaces/shop/${plural}/${name}?gracePeriodSeconds=0`)

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const parts = (token: string) => token.split('.') as [string, string, string]
const withHeader = (header: object, token: string) => [encode(header), ...parts(token).slice(1)].join('.')
const claimsIn = (token: string) => JSON.parse(Buffer.from(parts(token)[1], 'base64url').toString())

/** The server's public key as it publishes it. */
async function publicPem(): Promise<string> {
  const { keys } = await asAdmin('GET', '/openid/v1/jwks')
  return createPublicKey({ key: keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string
}

/** A token with the right claims, issued by another cluster of the same name. */
function foreign(issuers?: string[]): string {
  const account = server.parts.access.get<ServiceAccount>('', 'serviceaccounts', 'shop', 'robot')!
  const other = new ServiceAccountTokens(clock, new SeededRandom(3), undefined, issuers)
  return other.issue({ account, audiences: [issuer], expirationSeconds: 600, bound: undefined }).token
}

const refusedTokens: [string, () => Promise<string> | string][] = [
  ['that is a wrong static token', () => 'simsim'],
  ['that begins as a static token does', () => 'sesam'],
  ['that goes on after a static token', () => 'sesame1'],
  ['with a forged signature', async () => {
    const [head, body] = parts(await tokenOf())
    return `${head}.${body}.${Buffer.alloc(64, 1).toString('base64url')}`
  }],
  ['with the signature of another token', async () => {
    const [[head, body], [, , signature]] = [parts(await tokenOf()), parts(await tokenOf())]
    return `${head}.${body}.${signature}`
  }],
  ['whose claims were changed', async () => {
    const token = await tokenOf()
    const [head, , signature] = parts(token)
    return `${head}.${encode({ ...claimsIn(token), sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`
  }],
  ['with alg none and no signature', async () => `${encode({ alg: 'none' })}.${parts(await tokenOf())[1]}.`],
  ['with alg none and a signature', async () => withHeader({ alg: 'none' }, await tokenOf())],
  ['with another alg in the header', async () => withHeader({ alg: 'ES384' }, await tokenOf())],
  ['signed by HS256 with the public key', async () => {
    const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${parts(await tokenOf())[1]}`
    return `${text}.${createHmac('sha256', await publicPem()).update(text).digest('base64url')}`
  }],
  ['for another audience', () => tokenOf({ audiences: ['vault'] })],
  ['of another cluster with the same issuer', () => foreign()],
  ['of another issuer', () => foreign(['https://elsewhere.example'])],
  ['that has expired', async () => {
    const token = await tokenOf({ expirationSeconds: 600 })
    clock.advance(600_000)
    return token
  }],
  ['that is not valid yet', async () => {
    const ahead = new VirtualClock(clock.now() + 600_000)
    const account = server.parts.access.get<ServiceAccount>('', 'serviceaccounts', 'shop', 'robot')!
    const tokens = new ServiceAccountTokens(ahead, new SeededRandom(4), tokenKey)
    return tokens.issue({ account, audiences: [issuer], expirationSeconds: 600, bound: undefined }).token
  }],
  ['of a pod that is gone', async () => {
    await made('pods', pod('short'))
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'short' } })
    await gone('pods', 'short')
    return token
  }],
  ['of a pod whose name another one has', async () => {
    await made('pods', pod('twice'))
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'twice' } })
    await gone('pods', 'twice')
    await made('pods', pod('twice'))
    return token
  }],
  ['of a pod that has been terminating for more than a minute', async () => {
    await made('pods', { ...pod('slow'), metadata: { name: 'slow', finalizers: ['example.com/hold'] } })
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'slow' } })
    await gone('pods', 'slow')
    expect(await whoAmI({ token })).toMatchObject({ username: 'system:serviceaccount:shop:robot' })
    clock.advance(62_000)
    return token
  }],
  ['of a secret that is gone', async () => {
    await made('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'held' } })
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'held' } })
    await gone('secrets', 'held')
    return token
  }],
  ['of a node that is gone', async () => {
    await asAdmin('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } })
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'n2' } })
    await asAdmin('DELETE', '/api/v1/nodes/n2')
    return token
  }],
  ['of an account that is gone', async () => {
    await made('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'brief' } })
    const token = await tokenOf({}, 'brief')
    await gone('serviceaccounts', 'brief')
    return token
  }],
  ['that is no JSON', () => 'YQ.YQ.YQ'],
  ['of a bootstrap Secret that is not there', () => 'abcdef.0123456789abcdef'],
]

const signedBySelf = () => {
  const self = createAuthority(now)
  return { certificate: self.certificate, key: self.key }
}

const refusedCertificates: [string, () => KeyPair][] = [
  ['of another authority', () => certificate('admin', ['system:masters'], createAuthority(now))],
  ['that is expired', () => certificate('admin', ['system:masters'], authority, now - 2 * yearMs)],
  ['that is not valid yet', () => certificate('admin', ['system:masters'], authority, now + yearMs)],
  ['that signed itself', signedBySelf],
  ['that is a server\'s', () => issueServerCertificate(authority, ['127.0.0.1'], now)],
  ['without a name', () => certificate('', ['system:masters'])],
  ['of the front proxy, which is no user', () => certificate('front-proxy-client', ['system:masters'], proxies)],
]

describe('refused with 401', () => {
  it.each(refusedTokens)('a token %s', async (_what, make) => {
    expect(await ask({ token: await make() })).toMatchObject({ code: 401, body: { reason: 'Unauthorized' } })
  })

  it.each(refusedCertificates)('a certificate %s', async (_what, make) => {
    expect(await ask({ client: make() })).toMatchObject({ code: 401, body: { reason: 'Unauthorized' } })
  })

  it.each<[string, Asked]>([
    ['no credentials', {}],
    ['another scheme', { headers: { authorization: 'Basic c2VzYW1lOg==' } }],
    ['headers of a front proxy without its certificate', { headers: { 'x-remote-user': 'admin' } }],
    ['headers of a front proxy with a wrong token', { token: 'wrong', headers: { 'x-remote-user': 'admin' } }],
    [
      'headers of a front proxy of another name',
      { client: certificate('other', [], proxies), headers: { 'x-remote-user': 'a' } },
    ],
    ['a wrong token where nobody needs one', { path: '/livez', token: 'wrong' }],
    [
      'a certificate of another authority where nobody needs one',
      { path: '/livez', client: certificate('a', [], createAuthority(now)) },
    ],
  ])('%s', async (_what, asked) => {
    expect((await ask(asked)).code).toBe(401)
  })
})

describe('accepted', () => {
  it('nothing at all, for health and version', async () => {
    for (const path of ['/livez', '/readyz', '/livez/ping', '/version']) {
      expect((await ask({ path })).code, path).toBe(200)
    }
  })

  it.each([
    ['the first', authority],
    ['the second', second],
  ])('certificates of %s authority of a file', async (_what, by) => {
    const client = certificate('ann', ['staff', 'crew'], by)
    expect(await whoAmI({ client })).toEqual({
      username: 'ann',
      groups: ['staff', 'crew', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    })
  })

  it('a token beside a certificate that nobody vouches for', async () => {
    const client = certificate('admin', [], createAuthority(now))
    expect(await whoAmI({ client, token: 'sesame' })).toMatchObject({ username: 'ali', uid: '7', groups: ['thieves'] })
  })

  it('the certificate rather than the token', async () => {
    expect(await whoAmI({ client: certificate('ann'), token: 'sesame' })).toMatchObject({ username: 'ann' })
  })

  it('the user that a front proxy names', async () => {
    const named = { 'x-remote-user': 'eve', 'x-remote-uid': '9', 'x-remote-group': 'crew' }
    const headers = { ...named, 'x-remote-extra-scopes%2Fall': 'a' }
    expect(await whoAmI({ client: certificate('front-proxy-client', [], proxies), headers })).toEqual({
      username: 'eve', uid: '9', groups: ['crew', 'system:authenticated'], extra: { 'scopes/all': ['a'] },
    })
    // A user's certificate is not the proxy's, whatever its name.
    const user = await whoAmI({ client: certificate('front-proxy-client'), headers })
    expect(user).toMatchObject({ username: 'front-proxy-client' })
  })

  it("a pod's token, which says which pod and node it is", async () => {
    const { uid } = (await made('pods', pod('web'))).metadata
    const nodeUid = (await asAdmin('GET', '/api/v1/nodes/n1')).metadata.uid
    const token = await tokenOf({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web' } })
    expect(await whoAmI({ token })).toEqual({
      username: 'system:serviceaccount:shop:robot',
      uid: claimsIn(token)['kubernetes.io'].serviceaccount.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [`JTI=${claimsIn(token).jti}`],
        'authentication.kubernetes.io/pod-name': ['web'],
        'authentication.kubernetes.io/pod-uid': [uid],
        'authentication.kubernetes.io/node-name': ['n1'],
        'authentication.kubernetes.io/node-uid': [nodeUid],
      },
    })
  })

  it('tokens that are reviewed for their audience, and for no other', async () => {
    const token = await tokenOf({ audiences: ['vault', 'bank'] })
    const review = async (audiences?: string[], of = token) => {
      const spec = { token: of, ...(audiences ? { audiences } : {}) }
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
      return (await asAdmin('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)).status
    }
    expect(await review(['vault', 'other'])).toMatchObject({ authenticated: true, audiences: ['vault'] })
    expect(await review(['other'])).toEqual({ user: {}, error: 'invalid bearer token' })
    expect(await review()).toEqual({ user: {}, error: 'invalid bearer token' })
    const ours = await review(undefined, 'sesame')
    expect(ours).toMatchObject({ authenticated: true, user: { username: 'ali' }, audiences: [issuer] })
    expect(await review(['vault'], 'sesame')).toEqual({ user: {}, error: 'invalid bearer token' })
  })
})

describe('tokens in Secrets', () => {
  const secret = (name: string, account: string) => ({
    apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token',
    metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
  })
  const at = '/api/v1/namespaces/shop/secrets'
  const read = (name: string) => ask({ path: `${at}/${name}`, client: admin })

  it('are made for their account, count while they are there, and are labelled with their last use', async () => {
    await made('secrets', secret('long', 'robot'))
    await until('the secret is filled', async () => (await read('long')).body.data?.token !== undefined)
    const { data, metadata } = (await read('long')).body
    expect(Object.keys(data).sort()).toEqual(['ca.crt', 'namespace', 'token'])
    expect(metadata.annotations['kubernetes.io/service-account.uid']).toMatch(/-/)
    const token = Buffer.from(data.token, 'base64').toString()
    expect(await whoAmI({ token })).toMatchObject({ username: 'system:serviceaccount:shop:robot' })
    const label = 'kubernetes.io/legacy-token-last-used'
    await until('its use is written', async () => (await read('long')).body.metadata.labels?.[label] !== undefined)
    expect((await read('long')).body.metadata.labels[label]).toBe(new Date(clock.now()).toISOString().slice(0, 10))
    expect((await ask({ token: (await tokenOf()) })).code).toBe(200)
    await gone('secrets', 'long')
    expect(await whoAmI({ token })).toBe(401)
  })

  it('count no more when they are marked invalid', async () => {
    await made('secrets', secret('marked', 'robot'))
    await until('the secret is filled', async () => (await read('marked')).body.data?.token !== undefined)
    const { body } = await read('marked')
    body.metadata.labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' }
    await asAdmin('PUT', `${at}/marked`, body)
    expect(await whoAmI({ token: Buffer.from(body.data.token, 'base64').toString() })).toBe(401)
  })

  it('go with their account', async () => {
    await made('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'leaving' } })
    await made('secrets', secret('left', 'leaving'))
    await until('the secret is filled', async () => (await read('left')).body.data?.token !== undefined)
    await gone('serviceaccounts', 'leaving')
    await until('the secret is gone', async () => (await read('left')).code === 404)
  })
})

describe('bootstrap tokens', () => {
  const base = {
    'token-id': 'abc123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:workers',
  }
  const put = (stringData: Record<string, string>, type = 'bootstrap.kubernetes.io/token') =>
    asAdmin('POST', '/api/v1/namespaces/kube-system/secrets', {
      apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'bootstrap-token-abc123' }, stringData,
    })
  const token = 'abc123.0123456789abcdef'

  it.each<[string, Record<string, string>, string | undefined, string, number]>([
    ['one that is right', {}, undefined, token, 201],
    ['one that ends later', { expiration: '2999-01-01T00:00:00Z' }, undefined, token, 201],
    ['one that has ended', { expiration: '2020-01-01T00:00:00Z' }, undefined, token, 401],
    ['one whose end cannot be read', { expiration: 'tomorrow' }, undefined, token, 401],
    ['one that is not for authentication', { 'usage-bootstrap-authentication': 'false' }, undefined, token, 401],
    ['one of another id', { 'token-id': 'abc124' }, undefined, token, 401],
    ['another secret', {}, undefined, 'abc123.0123456789abcdee', 401],
    ['a secret that is too short', {}, undefined, 'abc123.0123456789abcde', 401],
    ['a group that is not for bootstrapping', { 'auth-extra-groups': 'system:masters' }, undefined, token, 401],
    ['a Secret of another type', {}, 'Opaque', token, 401],
  ])('%s', async (_what, more, type, sent, code) => {
    await put({ ...base, ...more }, type)
    const found = await whoAmI({ token: sent })
    await asAdmin('DELETE', '/api/v1/namespaces/kube-system/secrets/bootstrap-token-abc123')
    if (code === 401) return expect(found).toBe(401)
    const groups = ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated']
    expect(found).toEqual({ username: 'system:bootstrap:abc123', groups })
  })
})

describe('authorities that change while the server runs', () => {
  it('count for the next request on an open connection', async () => {
    const serving = issueServerCertificate(authority, ['127.0.0.1'], now)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const client = certificate('ann', [], second)
    const code = () =>
      new Promise<number>((resolve, reject) => {
        const tls = { ca: authority.certificate, cert: client.certificate, key: client.key }
        request({ host: '127.0.0.1', port: listener.port, path: '/api', agent, ...tls }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode!))
        }).on('error', reject).end()
      })
    expect(await code()).toBe(200)
    listener.renew(serving, { clientAuthorities: [authority.certificate], proxyAuthorities: [proxies.certificate] })
    expect(await code()).toBe(401)
    const both = [authority.certificate, second.certificate]
    listener.renew(serving, { clientAuthorities: both, proxyAuthorities: [proxies.certificate] })
    agent.destroy()
    expect(await whoAmI({ client })).toMatchObject({ username: 'ann' })
  })
})
