import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { Ingress, IngressSpec } from '../../../api/generated/types.ts'
import type { Partly } from '../../../api/object.ts'
import { ingresses } from './ingresses.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const backend = { service: { name: 's', port: { number: 80 } } }
const made = (spec: Partly<IngressSpec>, annotations?: Record<string, string>): Ingress =>
  ({ metadata: { name: 'x', annotations }, spec: { defaultBackend: backend, ...spec } }) as Ingress
const rule = (path: object, host?: string) => ({ rules: [{ host, http: { paths: [{ backend, ...path }] } }] }) as Partly<IngressSpec>
const at = 'spec.rules[0].http.paths[0]'

describe('validate()', () => {
  test.each<[string, Partly<IngressSpec>, string[]]>([
    ['a backend alone', {}, []],
    ['a wildcard host', { rules: [{ host: '*.example.com' }] }, []],
    ['nothing at all', { defaultBackend: undefined }, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']],
    ['a backend of neither sort', { defaultBackend: {} }, ['spec.defaultBackend: Invalid value: "": resource or service backend is required']],
    ['a backend without a port', { defaultBackend: { service: { name: 's' } } }, ['spec.defaultBackend: Required value: port name or number is required']],
    ['a backend with port 70000', { defaultBackend: { service: { name: 's', port: { number: 70000 } } } }, ['spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive']],
    ['a resource', { defaultBackend: { resource: { kind: 'Thing', name: 't' } } }, []],
    ['an address as host', { rules: [{ host: '1.2.3.4' }] }, ['spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address']],
    ['no paths', { rules: [{ http: { paths: [] } }] }, ['spec.rules[0].http.paths: Required value']],
    ['no path type', rule({ path: '/' }), [`${at}.pathType: Required value: pathType must be specified`]],
    ['an unknown path type', rule({ path: '/', pathType: 'Regex' }), [`${at}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`]],
    ['two slashes', rule({ path: '/a//b', pathType: 'Exact' }), [`${at}.path: Invalid value: "/a//b": must not contain '//'`]],
    ['a path that goes up', rule({ path: '/a/..', pathType: 'Prefix' }), [`${at}.path: Invalid value: "/a/..": cannot end with '/..'`]],
    ['a path of its own sort', rule({ path: '/a//b', pathType: 'ImplementationSpecific' }), []],
    ['a relative path of its own sort', rule({ path: 'a', pathType: 'ImplementationSpecific' }), [`${at}.path: Invalid value: "a": must be an absolute path`]],
    ['a path without a backend', rule({ path: '/', pathType: 'Prefix', backend: undefined }), [`${at}.backend: Invalid value: "": resource or service backend is required`]],
    ['TLS without a secret', { tls: [{ hosts: ['*.example.com'] }] }, []],
  ])('%s', (_, spec, errors) => expect(said(ingresses.validate(made(spec), ctx))).toEqual(errors))

  test('the class annotation must agree on creation, and may stay after', () => {
    const ingress = made({ ingressClassName: 'd' }, { 'kubernetes.io/ingress.class': 'c' })
    expect(said(ingresses.validate(ingress, ctx))).toEqual(['annotations.kubernetes.io/ingress.class: Invalid value: "c": must match `ingressClassName` when both are specified'])
    expect(ingresses.validateUpdate(ingress, ingress, ctx)).toEqual([])
    expect(ingresses.warnings!(ingress, undefined, ctx)).toEqual(['annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead'])
  })
})

test('validateUpdate() lets a strange secret name stay', () => {
  const strange = made({ tls: [{ secretName: 'B_' }] })
  expect(ingresses.validateUpdate(strange, strange, ctx)).toEqual([])
  expect(ingresses.validateUpdate(strange, made({}), ctx)).toHaveLength(1)
})

test('cells', () => {
  const cells = (ingress: Ingress) => ingresses.columns!.slice(0, 5).map((c) => c.cell(ingress, 0))
  expect(cells(made({}))).toEqual(['x', '<none>', '*', '', '80'])
  const rules = ['a', 'b', 'c', 'd', 'e'].map((host) => ({ host }))
  const status = { loadBalancer: { ingress: [{ ip: '2.2.2.2' }, { hostname: 'a' }, { ip: '1.1.1.1' }] } }
  expect(cells({ ...made({ ingressClassName: 'c', rules, tls: [{}] }), status } as Ingress)).toEqual(['x', 'c', 'a,b,c + 2 more...', '1.1.1.1,2.2.2.2,a', '80, 443'])
})
