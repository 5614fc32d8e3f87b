import { expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { Secret } from '../../../api/generated/types.ts'
import { secrets } from './secrets.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const made = (fields: Partial<Secret>): Secret => {
  const secret: Secret = { metadata: { name: 'x' }, ...structuredClone(fields) }
  secrets.defaults!(secret, ctx)
  return secret
}
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('defaults() writes stringData into data and forgets it', () => {
  const { data, stringData, type } = made({ data: { a: 'Yg==', c: 'ZA==' }, stringData: { a: 'new' } })
  expect({ data, stringData, type }).toEqual({ data: { a: 'bmV3', c: 'ZA==' }, stringData: undefined, type: 'Opaque' })
})

test.each<[string, Partial<Secret>, string[]]>([
  ['any type', { type: 'example.com/mine' }, []],
  ['a bad key', { data: { '..': '' } }, ["data[..]: Invalid value: \"..\": must not be '..'"]],
  ['too much', { data: { a: base64('x'.repeat(1024 * 1024 + 1)) } }, ['data: Too long: may not be more than 1048576 bytes']],
  ['a token without its account', { type: 'kubernetes.io/service-account-token' }, ['metadata.annotations[kubernetes.io/service-account.name]: Required value']],
  ['dockercfg without its key', { type: 'kubernetes.io/dockercfg' }, ['data[.dockercfg]: Required value']],
  ['dockercfg of an object', { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('{"a":1}') } }, []],
  [
    'dockerconfigjson that is none',
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('abc') } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'a\' looking for beginning of value'],
  ],
  [
    'dockerconfigjson that is a list',
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('[]') } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}'],
  ],
  [
    'dockerconfigjson that is empty',
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': '' } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  ],
  ['basic auth without either key', { type: 'kubernetes.io/basic-auth' }, ['data[username]: Required value', 'data[password]: Required value']],
  ['basic auth with one', { type: 'kubernetes.io/basic-auth', data: { password: '' } }, []],
  ['ssh auth with nothing in its key', { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } }, ['data[ssh-privatekey]: Required value']],
  ['tls with one key', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, ['data[tls.key]: Required value']],
])('validate() of %s', (_, fields, errors) => expect(said(secrets.validate(made(fields), ctx))).toEqual(errors))

test('validateUpdate() keeps the type, and immutable data', () => {
  const old = made({ data: { a: 'Yg==' }, immutable: true })
  expect(said(secrets.validateUpdate(made({ stringData: { a: 'b' }, immutable: true }), old, ctx))).toEqual([])
  expect(said(secrets.validateUpdate(made({ stringData: { a: 'c' }, type: 'a/b' }), old, ctx))).toEqual([
    'type: Invalid value: "a/b": field is immutable',
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ])
})

test('warnings() says what is wrong with a certificate and key', () => {
  const warn = (crt: string, key: string) => secrets.warnings!(made({ type: 'kubernetes.io/tls', data: { 'tls.crt': base64(crt), 'tls.key': base64(key) } }), undefined, ctx)
  expect(warn('', '')).toEqual(['tls: failed to find any PEM data in certificate input'])
  expect(warn('-----BEGIN CERTIFICATE-----', '')).toEqual(['tls: failed to find any PEM data in key input'])
  expect(secrets.warnings!(made({}), undefined, ctx)).toEqual([])
})
