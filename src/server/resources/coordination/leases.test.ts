import { expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { Lease, LeaseSpec } from '../../../api/generated/types.ts'
import { leases } from './leases.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const made = (spec: LeaseSpec = {}): Lease => ({ metadata: { name: 'x' }, spec })

test.each<[string, LeaseSpec, string[]]>([
  ['nothing at all', {}, []],
  ['no transitions yet', { leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
  ['no duration', { leaseDurationSeconds: 0 }, ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0']],
  ['fewer transitions than none', { leaseTransitions: -1 }, ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0']],
])('validate() and validateUpdate() of %s', (_, spec, errors) => {
  expect(leases.validate(made(spec), ctx).map((e) => `${e.field}: ${e.message}`)).toEqual(errors)
  expect(leases.validateUpdate(made(spec), made(), ctx)).toHaveLength(errors.length)
})

test('election by the server is dropped', () => {
  const lease = made({ strategy: 'OldestEmulationVersion', preferredHolder: 'p', holderIdentity: 'h' })
  leases.prepareForCreate!(lease, ctx)
  expect(lease.spec).toEqual({ holderIdentity: 'h' })
  expect(leases.columns![1]!.cell(lease, 0)).toBe('h')
})
