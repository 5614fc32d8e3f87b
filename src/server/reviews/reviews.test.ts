import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { type Attempt, allowEverything } from '../auth/authorize.ts'
import { type ReviewContext, reviews } from './index.ts'

const asked: { name: string; attempt: Attempt }[] = []
const context: ReviewContext = {
  user: { name: 'admin', groups: ['system:masters'], extra: {} },
  namespace: 'ns',
  now: Date.UTC(2020, 0, 1),
  authorizer: {
    ...allowEverything,
    authorize: ({ name }, attempt) => {
      asked.push({ name, attempt })
      return name === 'mallory' ? { allowed: false, reason: 'no' } : { allowed: true }
    },
  },
  identify: (token) => (token === 't' ? { user: { name: 'bob', uid: '7', groups: ['g'] }, audiences: [] } : undefined),
}

const run = async (kind: string, spec: object, metadata: object = {}) => reviews.find((r) => r.kind === kind)!.run({ metadata, spec } as never, context) as any

async function refusalOf(kind: string, spec: object, metadata: object = {}): Promise<string> {
  try {
    await run(kind, spec, metadata)
  } catch (e) {
    if (e instanceof ApiError) return `${e.code} ${e.message}`
    throw e
  }
  return ''
}

const pods = { resourceAttributes: { namespace: 'ns', verb: 'get', resource: 'pods' } }
const invalid = '422 .authorization.k8s.io "" is invalid:'

describe('reviews', () => {
  it('have the plurals of their kinds', () => {
    expect(reviews.map((r) => r.plural)).toEqual([
      'selfsubjectreviews', 'tokenreviews', 'localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews',
    ])
  })

  it('answer with the question', async () => {
    expect(await run('SelfSubjectAccessReview', pods)).toEqual({ metadata: {}, spec: pods, status: { allowed: true } })
    expect(asked.at(-1)).toEqual({ name: 'admin', attempt: { verb: 'get', path: { group: '', version: '', namespace: 'ns', plural: 'pods', subresource: '', name: '' }, selectors: {} } })
  })

  it('ask for somebody else', async () => {
    expect((await run('SubjectAccessReview', { user: 'mallory', nonResourceAttributes: { path: '/x', verb: 'get' } })).status).toEqual({ allowed: false, reason: 'no' })
    expect(asked.at(-1)).toEqual({ name: 'mallory', attempt: { verb: 'get', url: '/x' } })
    expect(await run('LocalSubjectAccessReview', { user: 'bob', ...pods })).toMatchObject({ metadata: { namespace: 'ns' }, status: { allowed: true } })
  })

  it.each<[string, string, object, object, string]>([
    ['no attempt', 'SelfSubjectAccessReview', {}, {},
      `${invalid} spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`],
    ['two attempts', 'SelfSubjectAccessReview', { ...pods, nonResourceAttributes: { path: '/', verb: 'get' } }, {},
      `${invalid} spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: cannot be specified in combination with resourceAttributes`],
    ['nobody', 'SubjectAccessReview', pods, {}, `${invalid} spec.user: Invalid value: "": at least one of user or group must be specified`],
    ['a name', 'SubjectAccessReview', { user: 'u', ...pods }, { name: 'x' }, `${invalid} metadata: Invalid value: {"name":"x"}: must be empty`],
    ['another namespace', 'LocalSubjectAccessReview', { user: 'u', resourceAttributes: { namespace: 'other' } }, { namespace: 'ns' },
      `${invalid} spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace`],
    ['a path in a namespace', 'LocalSubjectAccessReview', { user: 'u', nonResourceAttributes: { path: '/' } }, {},
      `${invalid} spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":""}: disallowed on this kind of request`],
    ['no namespace for rules', 'SelfSubjectRulesReview', {}, {}, '400 no namespace on request'],
    ['no token', 'TokenReview', { token: '' }, {}, '400 token is required for TokenReview in authentication'],
  ])('refuse %s', async (_, kind, spec, metadata, refusal) => {
    expect(await refusalOf(kind, spec, metadata)).toBe(refusal)
  })

  it('list what may be done', async () => {
    expect((await run('SelfSubjectRulesReview', { namespace: 'ns' })).status).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false,
    })
  })

  it('say who it is', async () => {
    expect(await run('SelfSubjectReview', {})).toMatchObject({
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' }, status: { userInfo: { username: 'admin', groups: ['system:masters'] } },
    })
    expect((await run('TokenReview', { token: 't' })).status).toEqual({ authenticated: true, user: { username: 'bob', uid: '7', groups: ['g'] } })
    expect((await run('TokenReview', { token: 'x' })).status).toEqual({ user: {}, error: 'invalid bearer token' })
  })
})
