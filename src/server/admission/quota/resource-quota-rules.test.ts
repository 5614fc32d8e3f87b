import { describe, expect, it } from 'vitest'
import type { ResourceQuota } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { evaluatorOf } from '../../../api/quota/index.ts'
import { demandsOf, excess } from './resource-quota-rules.ts'

const quota = (name: string, hard: Record<string, string>, used: Record<string, string>, spec: object = {}): ResourceQuota =>
  ({ metadata: { name, namespace: 'ns' }, spec: { hard, ...spec }, status: { hard, used } })
const pod = (cpu?: string, more: object = {}) =>
  ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', resources: cpu ? { requests: { cpu } } : {} }], ...more }, status: {} }) as unknown as KubeObject

function demands(quotas: ResourceQuota[], object: KubeObject, old?: KubeObject): unknown {
  const found = demandsOf(quotas, evaluatorOf('', 'pods')!, { operation: old ? 'UPDATE' : 'CREATE', subresource: '', object, old }, 0)
  return typeof found === 'string' ? found : Object.fromEntries(found.map((demand) => [demand.quota.metadata.name, demand.amounts]))
}

describe('demandsOf()', () => {
  const free = { pods: '0', 'requests.cpu': '0' }
  const both = quota('both', { pods: '9', 'requests.cpu': '9' }, free)
  const rows: [what: string, quotas: ResourceQuota[], object: KubeObject, old: KubeObject | undefined, expected: unknown][] = [
    ['what a new pod uses, by the names that each quota holds', [both, quota('number', { pods: '1' }, free)], pod('1'), undefined, { both: { pods: '1', 'requests.cpu': '1' }, number: { pods: '1' } }],
    ['nothing of a quota that holds other kinds', [quota('other', { secrets: '1' }, {})], pod(), undefined, {}],
    ['nothing of a quota whose scope it is not in', [quota('q', { pods: '1' }, free, { scopes: ['BestEffort'] })], pod('1'), undefined, {}],
    ['nothing of a quota that is not in force yet', [{ metadata: { name: 'new' }, spec: { hard: { pods: '0' } }, status: {} }], pod(), undefined, {}],
    ['what is more than before', [both], pod('3'), pod('1'), { both: { 'requests.cpu': '2' } }],
    ['nothing for what became less', [both], pod('1'), pod('3'), {}],
    ['all of it when it comes into scope', [quota('q', { pods: '9' }, free, { scopes: ['Terminating'] })], pod('1', { activeDeadlineSeconds: 1 }), pod('1'), { q: { pods: '1' } }],
    ['what must be said', [both], pod(), undefined, 'failed quota: both: must specify requests.cpu for: c'],
    ['that it is not known what is used', [quota('q', { pods: '1', cpu: '1' }, { pods: '0' })], pod('1'), undefined, 'status unknown for quota: q, resources: cpu,pods'],
    ['what cannot be', [quota('q', { 'requests.cpu': '1' }, free)], pod('-1'), undefined, 'quota usage is negative for resource(s): cpu,requests.cpu'],
  ]
  it.each(rows)('says %s', (_, quotas, object, old, expected) => expect(demands(quotas, object, old)).toEqual(expected))
})

describe('excess()', () => {
  const q = quota('q', { pods: '10', cpu: '1', memory: '1Gi' }, {})
  it.each([
    ['nothing where all fits', { pods: '9', cpu: '500m' }, { pods: '1', cpu: '500m' }, undefined],
    ['what does not fit, and only that', { pods: '1', cpu: '600m', memory: '0' }, { pods: '1', cpu: '500m', memory: '2Gi' }, 'exceeded quota: q, requested: cpu=500m,memory=2Gi, used: cpu=600m,memory=0, limited: cpu=1,memory=1Gi'],
    ['nothing of what is exceeded already but not asked for', { pods: '99', cpu: '0' }, { cpu: '1' }, undefined],
  ])('says %s', (_, used, requested, expected) => expect(excess(q, used as never, requested as never)).toBe(expected))
})
