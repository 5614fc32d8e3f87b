import { beforeAll, describe, expect, it } from 'vitest'
import { builtInType } from '../../api/object-type.ts'
import { decodeBody, parseBody } from './body.ts'
import type { Registry } from '../registry/registry.ts'
import { ServerTrial } from '../server-trial.ts'
import type { FieldValidation } from '../verbs/options.ts'

let registry: Registry

beforeAll(async () => {
  registry = (await ServerTrial.open()).parts.registry
})

const expected = { group: '', version: 'v1', kind: 'ConfigMap', type: builtInType('ConfigMap') }

async function decode(text: string | Buffer, contentType?: string, validation: FieldValidation = 'Warn') {
  const warnings: string[] = []
  const object = await decodeBody({ bytes: Buffer.from(text as string), contentType }, expected, registry, validation, warnings)
  return { object, warnings }
}

const why = (text: string | Buffer, contentType?: string, validation?: FieldValidation) => decode(text, contentType, validation).then(() => 'fine', (e: { code: number; message: string }) => `${e.code} ${e.message}`)

describe('decodeBody()', () => {
  it.each([
    ['JSON', '{"metadata":{"name":"a"},"data":{"x":"z"}}', 'application/json'],
    ['JSON that says no type', '{"metadata":{"name":"a"},"data":{"x":"z"}}', undefined],
    ['YAML', 'metadata:\n  name: a\ndata: {x: z}', 'application/yaml'],
    ['JSON that says its kind', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"x":"z"}}', 'application/json; charset=utf-8'],
  ])('reads %s', async (_what, text, contentType) => {
    expect((await decode(text, contentType)).object).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'z' } })
  })

  it('tells of fields that are unknown or said twice, refuses them, or passes over them', async () => {
    const text = '{"bogus":1,"metadata":{"name":"a","name":"b"}}'
    expect((await decode(text)).warnings).toEqual(['unknown field "bogus"', 'duplicate field "metadata.name"'])
    expect(await why(text, undefined, 'Strict')).toBe('400 ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus", duplicate field "metadata.name"')
    expect((await decode(text, undefined, 'Ignore')).warnings).toEqual([])
  })

  it.each([
    ['nothing', '', undefined, /^400 .*unexpected end of JSON input \(<empty>\)$/],
    ['half an object', '{"a"', undefined, /^400 the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: unexpected end of JSON input \(\{"a"\)$/],
    ['a list', '[]', undefined, /cannot unmarshal array into Go value of type struct/],
    ['a kind that is no text', '{"kind":7}', undefined, /cannot unmarshal number into Go struct field \.kind of type string/],
    ['another kind', '{"kind":"Pod","apiVersion":"v1"}', undefined, /^400 Pod in version "v1" cannot be handled as a ConfigMap: converting \(v1\.Pod\) to \(core\.ConfigMap\): unknown conversion$/],
    ['an unknown kind', '{"kind":"Bogus","apiVersion":"v1"}', undefined, /no kind "Bogus" is registered for version "v1" in scheme/],
    ['a version of too many parts', '{"kind":"ConfigMap","apiVersion":"a/b/c"}', undefined, /unexpected GroupVersion string: a\/b\/c/],
    ['a wrong type within', '{"data":7}', undefined, /^400 ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type map\[string\]string$/],
    ['YAML that is none', 'a: b: c', 'application/yaml', /^400 .*yaml: mapping values are not allowed in this context/],
    ['YAML that merges what is no map', '<<: 7', 'application/yaml', /^400 .*yaml: map merge requires map or sequence of maps as the value/],
    ['another content type', '{}', 'text/plain', /^415 the body of the request was in an unknown format/],
    ['protobuf that is none', 'xxx', 'application/vnd.kubernetes.protobuf', /^400 .*provided data does not appear to be a protobuf message/],
  ])('refuses %s', async (_what, text, contentType, message) => {
    expect(await why(text, contentType)).toMatch(message)
  })

  it('shows the beginning of what it cannot read', async () => {
    expect(await why(`{${'x'.repeat(100)}`)).toContain(`({${'x'.repeat(29)} ...)`)
    expect(await why('abc')).toContain('(616263)')
  })
})

it('parseBody() keeps the text of JSON for errors that quote it', async () => {
  const parsed = await parseBody({ bytes: Buffer.from('{"a":1.0}'), contentType: undefined }, builtInType('ConfigMap'), (p) => p)
  expect(parsed).toMatchObject({ value: { a: 1 }, text: '{"a":1.0}', hasFractions: true })
})
