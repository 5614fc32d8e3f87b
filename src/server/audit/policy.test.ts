import { describe, expect, it } from 'vitest'
import { type Attributes, PolicyMatcher, type RequestedResource } from './policy-match.ts'
import { type Policy, type PolicyRule, readPolicy } from './policy.ts'

const header = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n'

describe('readPolicy()', () => {
  it('reads all fields', () => {
    const policy = readPolicy(`${header}omitStages: [RequestReceived]
rules:
- level: RequestResponse
  users: [ann]
  verbs: [get]
  resources: [{group: apps, resources: [deployments/scale], resourceNames: [web]}]
  namespaces: [shop]
  omitStages: [Panic]
  omitManagedFields: true
- level: None
  nonResourceURLs: ['/healthz*']
`)
    expect(policy.omitStages).toEqual(['RequestReceived'])
    expect(policy.rules[0]).toMatchObject({ level: 'RequestResponse', users: ['ann'], omitManagedFields: true })
    expect(policy.rules[1]).toEqual({ level: 'None', nonResourceURLs: ['/healthz*'] })
  })

  it('tells of fields that no policy has', () => {
    const warnings: string[] = []
    readPolicy(`${header}rules: [{level: None, user: [ann]}]`, (sentence) => warnings.push(sentence))
    expect(warnings).toEqual(['unknown field "rules[0].user" in the audit policy'])
  })

  it.each([
    ['nothing', '', /failed decoding/],
    ['no kind', 'apiVersion: audit.k8s.io/v1\nrules: []', /Object 'Kind' is missing/],
    [
      'another version',
      'apiVersion: audit.k8s.io/v1beta1\nkind: Policy',
      /^unknown group version field audit.k8s.io\/v1beta1, Kind=Policy in policy$/,
    ],
    ['no rules', header, /^loaded illegal policy with 0 rules$/],
    ['a rule without a level', `${header}rules: [{}]`, /^rules\[0\]\.level: Required value$/],
    [
      'a level that there is not',
      `${header}rules: [{level: All}]`,
      /^rules\[0\]\.level: Unsupported value: "All": supported values: "Metadata", "None", "Request", "RequestResponse"$/,
    ],
    [
      'a path without a slash',
      `${header}rules: [{level: None, nonResourceURLs: [logs]}]`,
      /rules\[0\]\.nonResourceURLs\[0\]: Invalid value: "logs": non-resource URL rules must begin with a '\/' character/,
    ],
    [
      'a star in the middle',
      `${header}rules: [{level: None, nonResourceURLs: ['/a*/b']}]`,
      /non-resource URL wildcards '\*' must be the final character of the rule/,
    ],
    [
      'URLs with resources',
      `${header}rules: [{level: None, nonResourceURLs: ['/a'], namespaces: [x]}]`,
      /rules cannot apply to both regular resources and non-resource URLs/,
    ],
    [
      'a group with a version',
      `${header}rules: [{level: None, resources: [{group: apps/v1}]}]`,
      /^rules\[0\]\.resources\.group: Invalid value: "apps\/v1": a lowercase RFC 1123 subdomain/,
    ],
    [
      'names without resources',
      `${header}rules: [{level: None, resources: [{resourceNames: [a]}]}]`,
      /rules\[0\]\.resources\.resourceNames: Invalid value: \["a"\]: using resourceNames requires at least one resource/,
    ],
    [
      'a stage that there is not',
      `${header}rules: [{level: None, omitStages: [Begin]}]`,
      /rules\[0\]\.omitStages\[0\]: Invalid value: "Begin": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic/,
    ],
    [
      'a field of a wrong type',
      `${header}rules: [{level: None, users: ann}]`,
      /^failed decoding: rules\[0\]\.users must be a list$/,
    ],
  ])('refuses %s', (_what, text, message) => {
    expect(() => readPolicy(text)).toThrow(message)
  })
})

const pods: RequestedResource = {
  group: '',
  version: 'v1',
  namespace: 'shop',
  plural: 'pods',
  subresource: '',
  name: 'web',
}
const asked = (change: Partial<Attributes> = {}): Attributes => ({
  user: { name: 'ann', groups: ['crew', 'system:authenticated'] },
  verb: 'get',
  path: '/api/v1/namespaces/shop/pods/web',
  resource: pods,
  ...change,
})
const health = asked({ resource: undefined, path: '/healthz/ping' })
const log = asked({ resource: { ...pods, subresource: 'log' } })

describe('a rule', () => {
  const rows: [string, Partial<PolicyRule>, Attributes, boolean][] = [
    ['that says nothing matches everything', {}, asked(), true],
    ['that says nothing matches what is no resource', {}, health, true],
    ['matches one of its users', { users: ['bob', 'ann'] }, asked(), true],
    ['does not match other users', { users: ['bob'] }, asked(), false],
    ['with users does not match nobody', { users: ['ann'] }, asked({ user: undefined }), false],
    ['matches one of its groups', { userGroups: ['crew'] }, asked(), true],
    ['does not match other groups', { userGroups: ['deck'] }, asked(), false],
    ['matches its verbs', { verbs: ['get', 'list'] }, asked(), true],
    ['does not match other verbs', { verbs: ['list'] }, asked(), false],
    ['matches its namespaces', { namespaces: ['shop'] }, asked(), true],
    ['does not match other namespaces', { namespaces: ['bar'] }, asked(), false],
    [
      'with the empty namespace matches what is in none',
      { namespaces: [''] },
      asked({ resource: { ...pods, namespace: '' } }),
      true,
    ],
    ['with namespaces does not match what is no resource', { namespaces: [''] }, health, false],
    ['matches a group as a whole', { resources: [{}] }, asked(), true],
    ['does not match another group', { resources: [{ group: 'apps' }] }, asked(), false],
    ['matches a resource', { resources: [{ resources: ['pods'] }] }, asked(), true],
    ['for a resource does not match its subresources', { resources: [{ resources: ['pods'] }] }, log, false],
    ['matches a subresource', { resources: [{ resources: ['pods/log'] }] }, log, true],
    ['matches any subresource of a resource', { resources: [{ resources: ['pods/*'] }] }, log, true],
    ['for resource/* matches the resource, too', { resources: [{ resources: ['pods/*'] }] }, asked(), true],
    ['matches a subresource of any resource', { resources: [{ resources: ['*/log'] }] }, log, true],
    ['for */log does not match resources', { resources: [{ resources: ['*/log'] }] }, asked(), false],
    ['with * matches subresources, too', { resources: [{ resources: ['*'] }] }, log, true],
    ['matches an object by its name', { resources: [{ resources: ['pods'], resourceNames: ['web'] }] }, asked(), true],
    ['does not match another name', { resources: [{ resources: ['pods'], resourceNames: ['db'] }] }, asked(), false],
    ['matches a path', { nonResourceURLs: ['/healthz/ping'] }, health, true],
    ['matches paths below', { nonResourceURLs: ['/healthz*'] }, health, true],
    ['does not match other paths', { nonResourceURLs: ['/livez*'] }, health, false],
    ['with * matches any path', { nonResourceURLs: ['*'] }, health, true],
    ['with paths does not match resources', { nonResourceURLs: ['*'] }, asked(), false],
  ]
  it.each(rows)('%s', (_what, rule, attributes, isMatch) => {
    const matcher = new PolicyMatcher({ rules: [{ level: 'Metadata', ...rule }] })
    expect(matcher.recordingOf(attributes).level).toBe(isMatch ? 'Metadata' : 'None')
  })
})

describe('PolicyMatcher', () => {
  const policy: Policy = {
    rules: [
      { level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Metadata' },
    ],
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
  }

  it('goes by the first rule that matches', () => {
    const matcher = new PolicyMatcher(policy)
    expect(matcher.recordingOf(asked()).level).toBe('Request')
    expect(matcher.recordingOf(asked({ verb: 'list' })).level).toBe('Metadata')
  })

  it('joins the stages of policy and rule; for managed fields the rule counts more', () => {
    const { omitStages, omitManagedFields } = new PolicyMatcher(policy).recordingOf(asked())
    expect([...omitStages].sort()).toEqual(['Panic', 'RequestReceived'])
    expect(omitManagedFields).toBe(false)
    expect(new PolicyMatcher(policy).recordingOf(asked({ verb: 'list' })).omitManagedFields).toBe(true)
  })
})
