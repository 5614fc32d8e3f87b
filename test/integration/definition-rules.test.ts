import { expect, it } from 'vitest'
import { definition, definitions, int, object, text } from './public-kinds.ts'
import type { TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const spec = object({ a: text, n: { type: 'number' }, i: int })
const version = (more: object = {}, schema: object = object({ spec })) => ({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more })
const boat = (versions: object[], more: object = {}) => {
  const made = definition('Boat', versions)
  return { ...made, spec: { ...made.spec, ...more } }
}
const webhook = (clientConfig: object | undefined, conversionReviewVersions: string[] = ['v1']) => ({
  conversion: { strategy: 'Webhook', webhook: { ...(clientConfig ? { clientConfig } : {}), conversionReviewVersions } },
})
const url = { url: 'https://example.com/convert' }
const conversion = 'spec.conversion'
const selectable = (...paths: string[]) => ({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) })
const nine = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, text]))

it.each<[string, object, string[]]>([
  ['a webhook', boat([version()], webhook(url)), []],
  ['a service', boat([version()], webhook({ service: { name: 's', namespace: 'n', path: '/convert' } })), []],
  ['no client', boat([version()], webhook(undefined)), [`${conversion}.webhookClientConfig: Required value: required when strategy is set to Webhook`]],
  ['no address', boat([version()], webhook({})), [`${conversion}.webhookClientConfig: Required value: exactly one of url or service is required`]],
  ['plain HTTP', boat([version()], webhook({ url: 'http://x' })), [`${conversion}.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`]],
  ['a service without a name', boat([version()], webhook({ service: { name: '', namespace: 'n' } })), [`${conversion}.webhookClientConfig.service.name: Required value: service name is required`]],
  ['a path without a slash', boat([version()], webhook({ service: { name: 's', namespace: 'n', path: 'x' } })), [
    `${conversion}.webhookClientConfig.service.path: Invalid value: "x": must start with a '/'`,
    `${conversion}.webhookClientConfig.service.path: Invalid value: "x": segment[0] may not be empty`,
  ]],
  ['a review version twice', boat([version()], webhook(url, ['v1', 'v1'])), [`${conversion}.conversionReviewVersions[1]: Invalid value: "v1": duplicate version`]],
  ['no known review version', boat([version()], webhook(url, ['v2'])), [`${conversion}.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1`]],
  ['fields to select by', boat([version(selectable('.spec.a', '.spec.i'))]), []],
  ['a number to select by', boat([version(selectable('.spec.n'))]), ['spec.selectableFields[0].jsonPath: Invalid value: ".spec.n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.']],
  ['brackets to select by', boat([version(selectable(".spec['a']"))]), [`spec.selectableFields[0].jsonPath: Invalid value: ".spec['a']": is an invalid path: array notation is not allowed`]],
  ['nine fields to select by', boat([version(selectable(...Object.keys(nine).map((name) => `.spec.${name}`)), object({ spec: object(nine) }))]), ['spec.selectableFields: Too many: 9: must have at most 8 items']],
  ['a column path in brackets', boat([version({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '[spec]' }] })]), ['spec.additionalPrinterColumns[0].JSONPath: Invalid value: "[spec]": must be a simple json path starting with .']],
  ['a warning of two lines', boat([version({ deprecated: true, deprecationWarning: 'é\nx' })]), ['spec.versions[0].deprecationWarning: Invalid value: "é\\nx": must only contain printable UTF-8 characters; non-printable character found at index 2']],
  ['a type that there is not', boat([version({}, object({ spec: { type: 'foo' } }))]), ['spec.validation.openAPIV3Schema.properties[spec].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"']],
  ['junctors beside a status', boat([version({ subresources: { status: {} } }, object({ spec }, { anyOf: [{ required: ['spec'] }] }))]), [expect.stringMatching(/^spec\.validation\.openAPIV3Schema: Invalid value: .*: only \[Description Type .*\] fields are allowed at the root/) as never]],
])('a definition with %s', async (_, given, causes) => {
  const { code, body } = await server.create(definitions, given)
  expect((body.details?.causes ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)).toEqual(causes)
  expect(code).toBe(causes.length ? 422 : 201)
})
