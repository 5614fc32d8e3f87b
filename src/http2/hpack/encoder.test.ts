import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeaderDecoder } from './decoder.ts'
import { HeaderEncoder } from './encoder.ts'
import type { Field } from './static-table.ts'

const hexOf = (block: string) => Buffer.from(block, 'latin1').toString('hex')
const field = (name: string, value: string): Field => ({ name, value })
const decode = (decoder: HeaderDecoder, block: string) => decoder.decode(Buffer.from(block, 'latin1'))

describe('HeaderEncoder', () => {
  it.each([
    ['a field that everybody knows', [field(':method', 'GET')], '82'],
    ['a name that everybody knows', [field(':status', '302')], '4803333032'],
    ['a field that nobody knows', [field('custom-key', 'custom-header')], '400a637573746f6d2d6b65790d637573746f6d2d686561646572'],
    ['a path, which is not remembered', [field(':path', '/sample/path')], '040c2f73616d706c652f70617468'],
    ['a secret, which is not remembered', [field('authorization', 'x')], '0f080178'],
    ['a field twice, the second time by its index', [field('a', 'b'), field('a', 'b')], '4001610162be'],
    ['an empty value', [field('a', '')], '40016100'],
  ])('writes %s', (_, fields, hex) => expect(hexOf(new HeaderEncoder().encode(fields))).toBe(hex))

  it('begins the next block with the size of the table that the other side wants, and only that one', () => {
    const encoder = new HeaderEncoder()
    encoder.setTableBytes(100)
    expect(hexOf(encoder.encode([field(':method', 'GET')]))).toBe('3f4582')
    expect(hexOf(encoder.encode([field(':method', 'GET')]))).toBe('82')
  })

  it('says the smallest size too, when it was smaller in between', () => {
    const encoder = new HeaderEncoder()
    encoder.encode([field('a', 'b')])
    for (const bytes of [500, 0, 100]) encoder.setTableBytes(bytes)
    expect(hexOf(encoder.encode([field('a', 'b')]))).toBe('203f454001610162')
  })

  it('does not use more than it wants itself', () => {
    const encoder = new HeaderEncoder()
    encoder.setTableBytes(0xffffffff)
    expect(hexOf(encoder.encode([]))).toBe('3fe11f')
  })

  it('remembers nothing where the other side does not', () => {
    const encoder = new HeaderEncoder()
    encoder.setTableBytes(0)
    encoder.encode([])
    expect(hexOf(encoder.encode([field('a', 'b'), field('a', 'b')]))).toBe('40016101624001610162')
  })
})

const latin1 = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((n) => String.fromCharCode(n)), maxLength: 300 })
/** Few names and values, so that many come again. */
const someField = fc.record({
  name: fc.constantFrom(':status', ':path', 'a', 'b', 'content-type', 'x-long-name-of-a-field', 'date'),
  value: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('', '200', 'x', 'application/json', '1'.repeat(150), '2'.repeat(200)) }, { weight: 1, arbitrary: latin1 }),
})
const step = fc.oneof(
  { weight: 4, arbitrary: fc.array(someField, { maxLength: 12 }).map((fields) => ({ fields })) },
  { weight: 1, arbitrary: fc.constantFrom(0, 34, 70, 300, 1000, 4096, 65_536).map((tableBytes) => ({ tableBytes })) },
)

describe('what HeaderEncoder writes', () => {
  it('HeaderDecoder reads, over any blocks and changes of the table', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const encoder = new HeaderEncoder()
        const decoder = new HeaderDecoder(1 << 20)
        for (const one of steps) {
          if ('tableBytes' in one) encoder.setTableBytes(one.tableBytes)
          else expect(decode(decoder, encoder.encode(one.fields))).toEqual(one.fields)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('drives out the oldest when many come', () => {
    const encoder = new HeaderEncoder()
    const decoder = new HeaderDecoder(1 << 20)
    const fields = Array.from({ length: 500 }, (_, i) => field(`name-${i % 200}`, `value-${i % 170}`))
    for (const one of fields) expect(decode(decoder, encoder.encode([one, field('kept', 'x')]))).toEqual([one, field('kept', 'x')])
  })
})
