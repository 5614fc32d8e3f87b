import { describe, expect, it } from 'vitest'
import type { Draft } from '../resource-trial.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { clusterroles } from './clusterroles.ts'
import { roles } from './roles.ts'

const role = new DecodedTrial(roles)
const clusterRole = new DecodedTrial(clusterroles)
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }

describe('roles', () => {
  it.each<[string, object[], string[]]>([
    ['no rules', [], []],
    ['a rule', [rule], []],
    ['no verbs', [{ ...rule, verbs: [] }], ['rules[0].verbs: Required value: verbs must contain at least one value']],
    ['no groups and no resources', [{ verbs: ['get'] }], [
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ]],
    ['URLs', [{ verbs: ['get'], nonResourceURLs: ['/a'] }], [
      'rules[0].nonResourceURLs: Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs',
    ]],
  ])('says of %s', (_, rules, refusals) => {
    expect(role.refusals({ rules })).toEqual(refusals)
  })
})

describe('clusterroles', () => {
  it.each<[string, Draft, string[]]>([
    ['URLs', { rules: [{ verbs: ['get'], nonResourceURLs: ['/a', '/b*'] }] }, []],
    ['URLs beside resources', { rules: [{ ...rule, nonResourceURLs: ['/a'] }] }, [
      'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs',
    ]],
    ['an aggregation', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }, []],
    ['an aggregation of nothing', { aggregationRule: {} }, [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ]],
    ['an aggregation by a bad selector', { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } }, [
      "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(clusterRole.refusals(draft)).toEqual(refusals)
  })
})
