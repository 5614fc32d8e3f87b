import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { IngressClass, IngressClassSpec } from '../../../api/generated/types.ts'
import { ingressclasses } from './ingressclasses.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const made = (spec: IngressClassSpec): IngressClass => {
  const obj: IngressClass = { metadata: { name: 'x' }, spec: structuredClone(spec) }
  ingressclasses.defaults!(obj, ctx)
  return obj
}
const controller = 'example.com/c'
const parameters = { apiGroup: 'example.com', kind: 'Thing', name: 't' }

describe('validate()', () => {
  test.each<[string, IngressClassSpec, string[]]>([
    ['a controller', { controller }, []],
    ['none', {}, ['spec.controller: Required value']],
    ['one without a domain', { controller: '/c' }, ['spec.controller: Invalid value: "/c": must be a domain-prefixed path (such as "acme.io/foo")']],
    ['one with a strange path', { controller: 'example.com/a b' }, ["spec.controller: Invalid value: \"a b\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"]],
    ['one too long', { controller: `example.com/${'c'.repeat(250)}` }, ['spec.controller: Too long: may not be more than 250 bytes']],
    ['parameters', { controller, parameters }, []],
    ['parameters of a namespace without one', { controller, parameters: { ...parameters, scope: 'Namespace' } }, ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"]],
    ['parameters of the cluster with one', { controller, parameters: { ...parameters, namespace: 'n' } }, ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"]],
    ['parameters of an unknown scope', { controller, parameters: { ...parameters, scope: 'World' } }, ['spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"']],
    ['parameters of no kind', { controller, parameters: { kind: '', name: 'a/b' } }, ['spec.parameters.kind: Required value', "spec.parameters.name: Invalid value: \"a/b\": may not contain '/'"]],
  ])('%s', (_, spec, errors) => expect(said(ingressclasses.validate(made(spec), ctx))).toEqual(errors))
})

test('validateUpdate() keeps the controller', () => {
  expect(said(ingressclasses.validateUpdate(made({ controller: 'example.com/d' }), made({ controller }), ctx))).toEqual(['spec.controller: Invalid value: "example.com/d": field is immutable'])
})

test('the cell of the parameters', () => {
  const cell = (spec: IngressClassSpec) => ingressclasses.columns![2]!.cell(made(spec), 0)
  expect([cell({ controller }), cell({ controller, parameters }), cell({ controller, parameters: { kind: 'A', name: 'b' } })]).toEqual(['<none>', 'Thing.example.com/t', 'A/b'])
})
