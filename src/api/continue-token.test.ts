import { describe, expect, it, test } from 'vitest'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const prefix = '/registry/configmaps/ns/'
const token = (text: string) => Buffer.from(text).toString('base64url')

describe('encodeContinue()', () => {
  it("writes Kubernetes' token", () => {
    expect(Buffer.from(encodeContinue(7, `${prefix}c`, prefix), 'base64url').toString()).toBe(
      '{"v":"meta.k8s.io/v1","rv":7,"start":"c\\u0000"}',
    )
  })

  it('refuses a key that is not under the prefix', () => {
    expect(() => encodeContinue(7, '/registry/secrets/ns/c', prefix)).toThrow('is not under')
  })
})

describe('decodeContinue()', () => {
  test.each([
    ['a name', 7, `${prefix}c`],
    ['any age', -1, `${prefix}c`],
    ['a namespace and a name', 7, `${prefix}ns/ä`],
  ])('reads back %s', (_, revision, key) => {
    expect(decodeContinue(encodeContinue(revision, key, prefix), prefix)).toEqual({ revision, after: key })
  })

  test.each([
    ['abc', "invalid character 'i' looking for beginning of value"],
    ['aGVsbG8', "invalid character 'h' looking for beginning of value"],
    ['', 'unexpected end of JSON input'],
    ['a+b', 'illegal base64 data at input byte 1'],
    ['YQ==', 'illegal base64 data at input byte 2'],
    [token('[]'), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [token('{"v":"v9","rv":5,"start":"b"}'), 'server does not recognize this encoded version v9'],
    [token('{"rv":5,"start":"b"}'), 'server does not recognize this encoded version '],
    [token('{"v":"meta.k8s.io/v1","rv":"5","start":"b"}'), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [token('{"v":"meta.k8s.io/v1","rv":0,"start":"b"}'), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token('{"v":"meta.k8s.io/v1","rv":5}'), 'encoded start key empty (version meta.k8s.io/v1)'],
    [token('{"v":"meta.k8s.io/v1","rv":-1,"start":"../../x"}'), '../../x'],
    [token('{"v":"meta.k8s.io/v1","rv":-1,"start":"a//x"}'), 'a//x'],
  ])('%s is refused', (text, why) => {
    expect(() => decodeContinue(text, prefix)).toThrow(
      expect.objectContaining({ code: 400, message: `invalid continue token: continue key is not valid: ${why}` }),
    )
  })
})
