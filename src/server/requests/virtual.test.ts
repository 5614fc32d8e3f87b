import { beforeAll, describe, expect, it } from 'vitest'
import { ServerTrial } from '../server-trial.ts'

let trial: ServerTrial

beforeAll(async () => {
  trial = await ServerTrial.open()
  await run('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
  await run('/api/v1/nodes', { metadata: { name: 'n' } })
})

const run = (url: string, body: object = {}, method = 'POST') => trial.run(method, url, body, { name: 'ann', uid: '7', groups: ['staff'] })

describe('kinds that are answered and not stored', () => {
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

  it.each(['/api/v1/bogus', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/name', '/apis/authorization.k8s.io/v1/localsubjectaccessreviews', '/api/v1/bindings', '/api/v1/constructor'])('are not found at %s', async (url) => {
    await expect(run(url)).rejects.toMatchObject({ code: 404 })
  })

  it('binds a pod by the collection of bindings', async () => {
    const dry = await run('/api/v1/namespaces/default/bindings?dryRun=All', { metadata: { name: 'p' }, target: { name: 'n' } })
    expect(dry).toMatchObject({ code: 201 })
    expect(await run('/api/v1/namespaces/default/bindings', { metadata: { name: 'p' }, target: { name: 'n' } })).toMatchObject({ code: 201 })
    expect(trial.parts.access.get<any>('', 'pods', 'default', 'p').spec.nodeName).toBe('n')
  })
})
