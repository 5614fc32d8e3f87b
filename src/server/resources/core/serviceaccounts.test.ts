import { expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { ServiceAccount } from '../../../api/generated/types.ts'
import { serviceaccounts } from './serviceaccounts.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }

test('only the names of secrets are kept', () => {
  const account: ServiceAccount = { metadata: {}, secrets: [{ name: 's', namespace: 'n', kind: 'Secret' }], imagePullSecrets: [{ name: 'p' }] }
  serviceaccounts.prepareForCreate!(account, ctx)
  expect(account).toEqual({ metadata: {}, secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }] })
})

test('the deprecated annotation warns once', () => {
  const account: ServiceAccount = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } }
  expect(serviceaccounts.warnings!(account, undefined, ctx)).toHaveLength(1)
  expect(serviceaccounts.warnings!(account, account, ctx)).toEqual([])
})
