import { describe, expect, it } from 'vitest'
import type { NamedRuleWithOperations } from '../../../api/generated/types.ts'
import { HookIndex, isExempt } from './hook-index.ts'
import { type MatchCriteria, RequestMatcher } from './request-matcher.ts'
import { type SampleRequest, sampleRegistry, sampleRequest } from './sample-request.ts'

const rule = (resources: string, more: Partial<NamedRuleWithOperations> = {}): NamedRuleWithOperations => ({
  apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: resources.split(' '), ...more,
})

/** The version that a request matches as; `no`, or the error, where it does not. */
function found(criteria: MatchCriteria, asked: SampleRequest): string {
  const matcher = new RequestMatcher(criteria)
  const request = sampleRequest(asked)
  const [hit] = new HookIndex([{ matcher }]).find(request)
  // A binding is judged without an index: both must say the same.
  if (!isExempt(request)) expect(matcher.match(request)).toEqual(hit?.match)
  if (!hit) return 'no'
  return hit.match.error ? hit.match.error.message : `${hit.match.as!.apiVersion} ${hit.match.as!.resource.plural}`
}

const pods = 'v1 pods'

describe('rules', () => {
  it.each<[string, NamedRuleWithOperations, SampleRequest, string]>([
    ['a resource by its name', rule('pods'), {}, pods],
    ['another resource', rule('nodes'), {}, 'no'],
    ['one of several', rule('nodes pods'), {}, pods],
    ['every resource', rule('*'), {}, pods],
    ['every resource, but not its subresources', rule('*'), { of: 'v1 pods/status' }, 'no'],
    ['a resource, but not its subresource', rule('pods'), { of: 'v1 pods/status' }, 'no'],
    ['a subresource', rule('pods/status'), { of: 'v1 pods/status' }, pods],
    ['a subresource, but not the resource', rule('pods/status'), {}, 'no'],
    ['every subresource', rule('pods/*'), { of: 'v1 pods/eviction' }, pods],
    ['every subresource and the resource', rule('pods/*'), {}, pods],
    ['a subresource of every resource', rule('*/status'), { of: 'v1 pods/status' }, pods],
    ['a subresource of every resource, but no other', rule('*/status'), { of: 'v1 pods/eviction' }, 'no'],
    ['everything', rule('*/*'), { of: 'v1 pods/eviction' }, pods],
    ['a group', rule('widgets', { apiGroups: ['x.io'] }), { of: 'x.io/v1 widgets' }, 'x.io/v1 widgets'],
    ['the core group', rule('*', { apiGroups: [''] }), {}, pods],
    ['the core group alone', rule('*', { apiGroups: [''] }), { of: 'x.io/v1 widgets' }, 'no'],
    ['a version', rule('*', { apiVersions: ['v1'] }), {}, pods],
    ['an operation', rule('pods', { operations: ['CREATE'] }), {}, pods],
    ['another operation', rule('pods', { operations: ['UPDATE', 'DELETE'] }), {}, 'no'],
    ['one of several operations', rule('pods', { operations: ['UPDATE', 'DELETE'] }), { operation: 'DELETE' }, pods],
    ['what is in namespaces', rule('*', { scope: 'Namespaced' }), {}, pods],
    ['what is in namespaces alone', rule('*', { scope: 'Namespaced' }), { of: 'v1 nodes' }, 'no'],
    ['a Namespace, which is in none', rule('*', { scope: 'Cluster' }), { of: 'v1 namespaces' }, 'v1 namespaces'],
    ['what is in no namespace', rule('*', { scope: 'Cluster' }), {}, 'no'],
    ['a name', rule('pods', { resourceNames: ['b', 'a'] }), {}, pods],
    ['another name', rule('pods', { resourceNames: ['b'] }), {}, 'no'],
    ['no name, as it is yet to be generated', rule('pods', { resourceNames: ['a'] }), { name: '' }, 'no'],
    ['no policies', rule('*/*'), { of: 'admissionregistration.k8s.io/v1 validatingadmissionpolicies' }, 'no'],
  ])('match %s', (_, given, asked, expected) => {
    expect(found({ resourceRules: [given], matchPolicy: 'Exact' }, asked)).toBe(expected)
  })

  it.each<[string, MatchCriteria, SampleRequest, string]>([
    ['a rule that leaves the resource out', { resourceRules: [rule('*')], excludeResourceRules: [rule('pods')] }, {}, 'no'],
    ['a rule that leaves another out', { resourceRules: [rule('*')], excludeResourceRules: [rule('nodes')] }, {}, pods],
    ['a rule that leaves a name out', { resourceRules: [rule('*')], excludeResourceRules: [rule('pods', { resourceNames: ['a'] })] }, {}, 'no'],
    ['a rule that leaves another name out', { resourceRules: [rule('*')], excludeResourceRules: [rule('pods', { resourceNames: ['b'] })] }, {}, pods],
    ['no rules: all there is', {}, {}, pods],
    ['no rules but for what is left out', { excludeResourceRules: [rule('pods')] }, {}, 'no'],
    ['a version that is left out by an equivalent one', { matchPolicy: 'Equivalent', excludeResourceRules: [rule('widgets', { apiVersions: ['v2'] })] }, { of: 'x.io/v1 widgets' }, 'no'],
  ])('are judged together: %s', (_, criteria, asked, expected) => {
    expect(found(criteria, asked)).toBe(expected)
  })
})

describe('matchPolicy', () => {
  const v2 = rule('widgets', { apiGroups: ['x.io'], apiVersions: ['v2'] })
  it.each<[string, MatchCriteria, SampleRequest, string]>([
    ['Exact: the version of the rule alone', { matchPolicy: 'Exact', resourceRules: [v2] }, { of: 'x.io/v1 widgets' }, 'no'],
    ['Equivalent: another version of the same objects', { matchPolicy: 'Equivalent', resourceRules: [v2] }, { of: 'x.io/v1 widgets' }, 'x.io/v2 widgets'],
    ['Equivalent: another group of the same objects', { matchPolicy: 'Equivalent', resourceRules: [rule('gadgets')] }, { of: 'x.io/v2 widgets' }, 'y.io/v1 gadgets'],
    ['Equivalent: the version of the request comes first', { matchPolicy: 'Equivalent', resourceRules: [v2, rule('widgets', { apiVersions: ['v1'] })] }, { of: 'x.io/v1 widgets' }, 'x.io/v1 widgets'],
    ['Equivalent: a subresource that the other version has', { matchPolicy: 'Equivalent', resourceRules: [rule('widgets/status', { apiVersions: ['v2'] })] }, { of: 'x.io/v1 widgets/status' }, 'x.io/v2 widgets'],
    ['Equivalent: a subresource that the other group has not', { matchPolicy: 'Equivalent', resourceRules: [rule('gadgets/status')] }, { of: 'x.io/v1 widgets/status' }, 'no'],
    ['Equivalent: names count for the other version, too', { matchPolicy: 'Equivalent', resourceRules: [{ ...v2, resourceNames: ['b'] }] }, { of: 'x.io/v1 widgets' }, 'no'],
  ])('%s', (_, criteria, asked, expected) => {
    expect(found(criteria, asked)).toBe(expected)
  })
})

describe('selectors', () => {
  const shop = { matchLabels: { team: 'shop' } }
  const namespaces = { ns: { team: 'shop' }, other: {} }
  it.each<[string, MatchCriteria, SampleRequest, string]>([
    ['the labels of the namespace', { namespaceSelector: shop }, { namespaces }, pods],
    ['a namespace without them', { namespaceSelector: shop }, { namespaces, namespace: 'other' }, 'no'],
    ['what has no namespace', { namespaceSelector: shop }, { of: 'v1 nodes' }, 'v1 nodes'],
    ['a namespace that is not there', { namespaceSelector: shop, resourceRules: [rule('pods')] }, { namespace: 'gone' }, 'namespaces "gone" not found'],
    ['a namespace that is not there, of something else', { namespaceSelector: shop, resourceRules: [rule('nodes')] }, { namespace: 'gone' }, 'no'],
    ['a Namespace by its own labels', { namespaceSelector: shop }, { of: 'v1 namespaces', labels: { team: 'shop' } }, 'v1 namespaces'],
    ['a Namespace by its own new labels', { namespaceSelector: shop }, { of: 'v1 namespaces', operation: 'UPDATE', name: 'ns', namespaces }, 'no'],
    ['a Namespace that is deleted by its stored labels', { namespaceSelector: shop }, { of: 'v1 namespaces', operation: 'DELETE', name: 'ns', namespaces }, 'v1 namespaces'],
    ['the labels of the object', { objectSelector: shop }, { labels: { team: 'shop' } }, pods],
    ['an object without them', { objectSelector: shop }, {}, 'no'],
    ['the labels of the old object', { objectSelector: shop }, { operation: 'UPDATE', oldLabels: { team: 'shop' } }, pods],
    ['an object that is deleted', { objectSelector: shop }, { operation: 'DELETE', oldLabels: { team: 'shop' } }, pods],
    ['a label that must be missing', { objectSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } }, {}, pods],
    ['a label that must be missing on one of both', { objectSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } }, { operation: 'UPDATE', labels: { team: 'x' } }, pods],
  ])('%s', (_, criteria, asked, expected) => {
    expect(found(criteria, asked)).toBe(expected)
  })
})

describe('HookIndex', () => {
  it('keeps the order of its hooks, and asks the selectors of those only that are about the kind', () => {
    const asked: string[] = []
    const hook = (name: string, criteria: MatchCriteria) => {
      const matcher = new RequestMatcher(criteria)
      const { matchIn } = matcher
      matcher.matchIn = (...args) => (asked.push(name), matchIn.apply(matcher, args))
      return { name, matcher }
    }
    const index = new HookIndex([
      hook('b', { resourceRules: [rule('pods')] }),
      hook('a', { resourceRules: [rule('pods')], objectSelector: { matchLabels: { x: 'y' } } }),
      hook('c', { resourceRules: [rule('nodes')] }),
      hook('d', { resourceRules: [rule('*')] }),
    ])
    expect(index.find(sampleRequest()).map(({ hook: { name } }) => name)).toEqual(['b', 'd'])
    expect(asked).toEqual(['b', 'a', 'd'])
  })

  it('looks at the rules once for each kind and operation, until kinds change', () => {
    const matcher = new RequestMatcher({ resourceRules: [rule('*')] })
    const { forKind } = matcher
    let looks = 0
    matcher.forKind = (asked) => (looks++, forKind.call(matcher, asked))
    const index = new HookIndex([{ matcher }])
    for (let i = 0; i < 5; i++) index.find(sampleRequest())
    expect(looks).toBe(1)
    index.find(sampleRequest({ operation: 'UPDATE' }))
    expect(looks).toBe(2)
    sampleRegistry.publish([])
    index.find(sampleRequest())
    expect(looks).toBe(3)
  })
})
