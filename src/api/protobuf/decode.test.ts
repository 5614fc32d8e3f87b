import { describe, expect, it } from 'vitest'
import { decodeProtobuf, openEnvelope } from './decode.ts'
import { ProtobufError } from './wire.ts'

const varint = (value: bigint): number[] => (value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)])
const integer = (field: number, value: number) => Buffer.from([...varint(BigInt(field << 3)), ...varint(BigInt.asUintN(64, BigInt(value)))])
const bytes = (field: number, ...values: (Buffer | string)[]) => {
  const body = Buffer.concat(values.map((v) => Buffer.from(v as string)))
  return Buffer.concat([Buffer.from([...varint(BigInt((field << 3) | 2)), ...varint(BigInt(body.length))]), body])
}
const message = (...fields: Buffer[]) => Buffer.concat(fields)

describe('openEnvelope()', () => {
  const meta = bytes(1, bytes(1, 'apps/v1'), bytes(2, 'Deployment'))

  it('says what is inside', () => {
    expect(openEnvelope(message(Buffer.from('k8s\0'), meta, bytes(2, 'raw'), bytes(4, 'application/json')))).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', raw: Buffer.from('raw') })
    expect(openEnvelope(Buffer.from('k8s\0'))).toEqual({ apiVersion: '', kind: '', raw: Buffer.alloc(0) })
  })

  it.each([['', 'nothing'], ['k8s', 'half its magic'], ['json{}', 'something else'], ['k8s\0\x0a\x05', 'half a message']])('refuses %j: %s', (text) => {
    expect(() => openEnvelope(Buffer.from(text))).toThrow(ProtobufError)
  })
})

describe('decodeProtobuf()', () => {
  it.each([
    ['text and maps', 'ConfigMap', message(bytes(1, bytes(1, 'a')), bytes(2, bytes(1, 'k'), bytes(2, 'v')), bytes(2, bytes(1, 'empty'))), { metadata: { name: 'a' }, data: { k: 'v', empty: '' } }],
    ['bytes as base64', 'Secret', bytes(2, bytes(1, 'k'), bytes(2, Buffer.from([0, 255]))), { data: { k: 'AP8=' } }],
    ['lists', 'ObjectMeta', message(bytes(14, 'a/b'), bytes(14, 'c/d')), { finalizers: ['a/b', 'c/d'] }],
    ['booleans and numbers below nothing', 'PodSpec', message(integer(11, 1), integer(25, -5)), { hostNetwork: true, priority: -5 }],
    ['quantities', 'ResourceRequirements', bytes(1, bytes(1, 'cpu'), bytes(2, bytes(1, '500m'))), { limits: { cpu: '500m' } }],
    ['a port that is a number', 'HTTPGetAction', bytes(2, integer(1, 0), integer(2, 8080)), { port: 8080 }],
    ['a port that is text', 'HTTPGetAction', bytes(2, integer(1, 1), bytes(3, 'http')), { port: 'http' }],
    ['times', 'ObjectMeta', bytes(8, integer(1, 1_700_000_000)), { creationTimestamp: '2023-11-14T22:13:20Z' }],
    ['no time', 'ObjectMeta', bytes(8), { creationTimestamp: null }],
    ['times of a clock', 'LeaseSpec', bytes(4, integer(1, 1_700_000_000), integer(2, 123_456_789)), { renewTime: '2023-11-14T22:13:20.123456Z' }],
    ['fields of newer clients, which it passes over', 'ConfigMap', message(integer(99, 5), bytes(98, 'x')), {}],
    ['the last of what is said twice', 'ObjectMeta', message(bytes(1, 'a'), bytes(1, 'b')), { name: 'b' }],
  ])('reads %s', (_what, type, raw, expected) => {
    expect(decodeProtobuf(raw, type)).toEqual(expected)
  })

  it('takes __proto__ for a key like any other', () => {
    const { data } = decodeProtobuf(bytes(2, bytes(1, '__proto__'), bytes(2, 'v')), 'ConfigMap') as { data: object }
    expect(Object.entries(data)).toEqual([['__proto__', 'v']])
  })

  it.each([
    ['a number where text should be', 'ObjectMeta', integer(1, 5)],
    ['text where a number should be', 'PodSpec', bytes(11, 'x')],
    ['a time that no calendar has', 'ObjectMeta', bytes(8, integer(1, 2 ** 53))],
    ['a type that is not there', 'Bogus', Buffer.alloc(0)],
    ['a kind that is not Kubernetes’ own', 'CloneSet', Buffer.alloc(0)],
  ])('refuses %s', (_what, type, raw) => {
    expect(() => decodeProtobuf(raw, type)).toThrow(ProtobufError)
  })
})
