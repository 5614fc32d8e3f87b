import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { Namespace } from '../../../api/generated/types.ts'
import { namespaces } from './namespaces.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const bare = 'Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified'

function made(fields: Partial<Namespace> = {}): Namespace {
  const obj = { metadata: { name: 'n' }, ...structuredClone(fields) } as Namespace
  namespaces.defaults!(obj, ctx)
  return obj
}

test('a new namespace is active, labelled with its name and held by its own finalizer', () => {
  const obj = made({ metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'other', a: 'b' } }, spec: { finalizers: ['example.com/f'] } })
  namespaces.prepareForCreate!(obj, ctx)
  expect(obj).toEqual({
    metadata: { name: 'n', labels: { 'kubernetes.io/metadata.name': 'n', a: 'b' } },
    spec: { finalizers: ['example.com/f', 'kubernetes'] },
    status: { phase: 'Active' },
  })
  expect(namespaces.isHeld!(obj)).toBe(true)
})

test('a generated name gets its label when it is known', () => {
  const obj = made({ metadata: { generateName: 'n-' } })
  expect(obj.metadata.labels).toBeUndefined()
  obj.metadata.name = 'n-abcde'
  namespaces.prepareForCreate!(obj, ctx)
  expect(obj.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'n-abcde' })
})

test('an update does not reach the finalizers', () => {
  const obj = made({ spec: { finalizers: [] } })
  namespaces.prepareForUpdate!(obj, made({ spec: { finalizers: ['kubernetes'] } }), ctx)
  expect(obj.spec?.finalizers).toEqual(['kubernetes'])
})

test('finalize changes the finalizers and nothing of the status', () => {
  const { finalize } = namespaces.partialUpdates!
  const old = made({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } })
  const obj = made({ spec: {} })
  finalize!.prepare(obj, old, ctx)
  expect(obj.status).toEqual({ phase: 'Terminating' })
  expect(namespaces.isHeld!(obj)).toBe(false)
  expect(said(finalize!.validate(made({ spec: { finalizers: ['foo', 'kubernetes'] } }), old, ctx))).toEqual([`spec.finalizers[0]: ${bare}`])
})

describe('validate()', () => {
  test.each<[string, string[], string[]]>([
    ['its own finalizer', ['kubernetes'], []],
    ['one of somebody’s domain', ['example.com/f'], []],
    ['a bare one', ['foo'], [`spec.finalizers: ${bare}`]],
  ])('%s', (_, finalizers, errors) => expect(said(namespaces.validate(made({ spec: { finalizers } }), ctx))).toEqual(errors))
})

test('the phase follows the deletion', () => {
  const judge = (phase: string, deletionTimestamp?: string) => said(namespaces.status!.validate(made({ metadata: { name: 'n', deletionTimestamp }, status: { phase } }), made(), ctx))
  expect(judge('Active')).toEqual([])
  expect(judge('Terminating')).toEqual(["status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"])
  expect(judge('Terminating', '2020-01-01T00:00:00Z')).toEqual([])
  expect(judge('Active', '2020-01-01T00:00:00Z')).toEqual(["status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty"])
})

test('deletion begins with the phase Terminating', () => {
  const obj = made({ metadata: { name: 'n', deletionGracePeriodSeconds: 0 }, status: { phase: 'Active', conditions: [] } })
  namespaces.beginDeletion!(obj)
  expect(obj.status).toEqual({ phase: 'Terminating', conditions: [] })
  expect(obj.metadata.deletionGracePeriodSeconds).toBeUndefined()
})
