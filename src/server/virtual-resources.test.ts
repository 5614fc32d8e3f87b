import { beforeAll, describe, expect, it } from 'vitest'
import { Authenticator } from './auth/authenticate.ts'
import { MetricsApi, NodeScraper } from './metrics/index.ts'
import { parsePath, type ResourcePath } from './request-info.ts'
import { ServerTrial } from './server-trial.ts'
import { create } from './verbs/create.ts'
import { Virtual } from './virtual-resources.ts'

let trial: ServerTrial
let virtual: Virtual

beforeAll(async () => {
  trial = await ServerTrial.open()
  const metrics = new MetricsApi({ objects: trial.parts.access, clock: trial.clock, scraper: new NodeScraper(trial.clock, async () => undefined) })
  virtual = new Virtual(trial.parts, new Authenticator(new Map([['sesame', { name: 'ali', groups: ['thieves'] }]])), metrics)
  await create(trial.request('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }))
  await create(trial.request('/api/v1/nodes', { metadata: { name: 'n' } }))
})

const run = (url: string, body: object = {}, method = 'POST') => {
  const [path = '', query = ''] = url.split('?')
  return virtual.run(parsePath(path) as ResourcePath, {
    method,
    query: new URLSearchParams(query),
    body: { bytes: Buffer.from(JSON.stringify(body)), contentType: 'application/json' },
    user: { name: 'ann', uid: '7', groups: ['staff'] },
    warnings: [],
    signal: () => new AbortController().signal,
  })
}

describe('Virtual', () => {
  it.each([
    ['who am I', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { status: { userInfo: { username: 'ann', uid: '7', groups: ['staff'] } } }],
    ['whose token is this', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'sesame' } }, { status: { authenticated: true, user: { username: 'ali' } } }],
    ['whose token is that', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'wrong' } }, { status: { error: 'invalid bearer token' } }],
    ['may I', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }, { status: { allowed: true } }],
  ])('answers: %s', async (_what, url, body, expected) => {
    expect(await run(url, body)).toMatchObject({ kind: 'value', code: 201, value: expected })
  })

  it.each([
    ['another method', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'GET', 405],
    ['a question that makes no sense', '/apis/authentication.k8s.io/v1/tokenreviews', 'POST', 400],
    ['bad options', '/apis/authentication.k8s.io/v1/selfsubjectreviews?dryRun=bogus', 'POST', 422],
  ])('refuses %s', async (_what, url, method, code) => {
    await expect(run(url, {}, method)).rejects.toMatchObject({ code })
  })

  it.each(['/api/v1/bogus', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/name', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', '/api/v1/bindings', '/api/v1/constructor'])('knows nothing of %s', (url) => {
    expect(run(url)).toBeUndefined()
  })

  it('binds a pod by the collection of bindings', async () => {
    const dry = await run('/api/v1/namespaces/default/bindings?dryRun=All', { metadata: { name: 'p' }, target: { name: 'n' } })
    expect(dry).toMatchObject({ code: 201 })
    expect(await run('/api/v1/namespaces/default/bindings', { metadata: { name: 'p' }, target: { name: 'n' } })).toMatchObject({ code: 201 })
    expect(trial.parts.access.get<any>('', 'pods', 'default', 'p').spec.nodeName).toBe('n')
  })
})
