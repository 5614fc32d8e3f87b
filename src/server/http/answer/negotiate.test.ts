import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import type { Allowed } from './negotiate.ts'
import { bodyType, collection, document, groupsDocument, negotiate, oneObject, patchType, unroutedDocument, wantsPretty, watchStream } from './negotiate.ts'

const available = '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf'
const only = 'only the following media types are accepted: '
const all = `${only}application/json, application/yaml, application/vnd.kubernetes.protobuf`
const partial = { kind: 'PartialObjectMetadata', group: 'meta.k8s.io', version: 'v1' }

const thrown = (run: () => unknown) => {
  try {
    run()
  } catch (e) {
    if (e instanceof ApiError) return e
    throw e
  }
  throw new Error('nothing was thrown')
}

describe('negotiate() chooses', () => {
  it.each<[string, string | undefined, Allowed, object]>([
    ['JSON without a header', undefined, oneObject, { format: 'json', contentType: 'application/json' }],
    ['JSON for anything', '*/*', oneObject, { format: 'json' }],
    ['JSON for a lone star beside a name the router knows', '*, application/json;q=0.5', oneObject, { format: 'json' }],
    ['JSON with a parameter of no meaning', 'application/json;foo=bar', oneObject, { format: 'json' }],
    ['JSON after a type nobody has', 'application/xml;q=0.9, application/json;q=0.1', oneObject, { format: 'json' }],
    ['JSON for clients that would rather have protobuf', 'application/vnd.kubernetes.protobuf,application/json', oneObject, { format: 'json' }],
    ['YAML', 'application/yaml', oneObject, { format: 'yaml', contentType: 'application/yaml' }],
    ['YAML when it weighs more', 'application/json;q=0.1,application/yaml', oneObject, { format: 'yaml' }],
    ['the narrower of two equal weights', '*/*,application/yaml', oneObject, { format: 'yaml' }],
    ['metadata only', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', oneObject, { transform: partial }],
    ['metadata only as YAML', 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', oneObject, { format: 'yaml', transform: partial }],
    ['a Table, written as plain JSON', 'application/json;as=Table;v=v1beta1;g=meta.k8s.io', collection, {
      contentType: 'application/json',
      transform: { kind: 'Table', group: 'meta.k8s.io', version: 'v1beta1' },
    }],
    ['plain after a Table of no known version', 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json', oneObject, { transform: undefined }],
    ['a stream', 'application/json;stream=watch', watchStream, { format: 'json', contentType: 'application/json' }],
    ['everything at once, and says so in the type', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json', groupsDocument, {
      contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    }],
    ['plain where only the beta of it is wanted', 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json', groupsDocument, {
      transform: undefined,
    }],
    ['any application type where no router judges', 'application/*', unroutedDocument, { format: 'json' }],
  ])('%s', (_, header, allowed, wanted) => {
    expect(negotiate(header, allowed)).toEqual({ ...negotiate(header, allowed), ...wanted })
  })
})

it('negotiate() judges a header for each endpoint by itself, however often it has come', () => {
  const header = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  for (let i = 0; i < 3; i++) {
    expect(negotiate(header, oneObject)).toMatchObject({ transform: { kind: 'Table' } })
    expect(thrown(() => negotiate(header, document)).code).toBe(406)
  }
  for (let i = 0; i < 300; i++) expect(negotiate(`application/json;n=${i}`, oneObject)).toMatchObject({ format: 'json' })
})

describe('negotiate() refuses', () => {
  it.each<[string, string, Allowed, string]>([
    ['a type nobody has', 'text/html', oneObject, available],
    ['a broken value', 'json', oneObject, available],
    ['application/* at the router', 'application/*', oneObject, available],
    ['a type nobody has, on a list', 'text/html', watchStream, `${available}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`],
    ['a Table of no known version', 'application/json;as=Table;v=v9;g=meta.k8s.io', oneObject, all],
    ['a Table of no group', 'application/json;as=Table;v=v1', oneObject, all],
    ['a kind that cannot be asked for', 'application/json;as=Pod;v=v1;g=', oneObject, all],
    ['everything at once of one group', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', unroutedDocument, all],
    ['a Table of a document', 'application/json;as=Table;v=v1;g=meta.k8s.io', document, all],
    ['protobuf alone, and does not promise it', 'application/vnd.kubernetes.protobuf', oneObject, `${only}application/json, application/yaml`],
    ['a watch in YAML', 'application/yaml', watchStream, `${only}application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`],
  ])('%s', (_, header, allowed, message) => {
    const e = thrown(() => negotiate(header, allowed))
    expect([e.code, e.reason, e.message]).toEqual([406, 'NotAcceptable', message])
    expect(e.details).toEqual(message.startsWith('406') ? {} : undefined)
  })
})

describe('bodyType()', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'json'],
    ['', 'json'],
    ['application/JSON', 'json'],
    ['application/json; charset="utf-8"', 'json'],
    ['application/yaml', 'yaml'],
  ])('reads %s as %s', (type, wanted) => expect(bodyType(type)).toBe(wanted))

  it.each(['text/plain', 'application/xml', 'application/json; charset', 'application/json, text/plain'])('refuses %s', (type) => {
    const e = thrown(() => bodyType(type))
    expect([e.code, e.message]).toEqual([
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ])
  })
})

describe('patchType()', () => {
  it.each([
    ['application/json-patch+json', 'json'],
    ['application/merge-patch+json', 'merge'],
    ['application/strategic-merge-patch+json; charset=utf-8', 'strategic'],
    ['application/apply-patch+yaml', 'apply'],
  ])('reads %s as %s', (type, wanted) => expect(patchType(type)).toBe(wanted))

  it.each(['text/plain', 'application/merge-patch+yaml', 'application/json', undefined])('refuses %s', (type) => {
    const e = thrown(() => patchType(type))
    expect([e.code, e.message, e.details]).toEqual([415, '415: Unsupported Media Type', {}])
  })

  it('knows no strategic merge of custom resources', () => {
    expect(thrown(() => patchType('application/strategic-merge-patch+json', true)).message).toBe(
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    )
  })
})

describe('wantsPretty()', () => {
  it.each([
    ['not by default', '', 'kubectl/v1.36', false],
    ['for curl', '', 'curl/8.0', true],
    ['when asked', 'pretty=true', 'kubectl/v1.36', true],
    ['not for curl that says no', 'pretty=false', 'curl/8.0', false],
  ])('%s', (_, query, agent, wanted) => {
    expect(wantsPretty(negotiate(undefined, oneObject), new URLSearchParams(query), agent)).toBe(wanted)
  })
})
