import { describe, expect, it } from 'vitest'
import { duplicate, forbidden, invalid, notFoundField, notSupported, quoteValue, required, tooLong, tooMany, typeInvalid } from './field-error.ts'
import { Path } from './path.ts'

const at = Path.of('spec', 'x')

describe('field errors in the words of Kubernetes', () => {
  it.each([
    [required(at), 'FieldValueRequired', 'Required value'],
    [required(at, 'say it'), 'FieldValueRequired', 'Required value: say it'],
    [invalid(at, 'v', 'bad'), 'FieldValueInvalid', 'Invalid value: "v": bad'],
    [invalid(at, { a: [1] }, 'bad'), 'FieldValueInvalid', 'Invalid value: {"a":[1]}: bad'],
    [notSupported(at, 'v', ['b', 'a']), 'FieldValueNotSupported', 'Unsupported value: "v": supported values: "a", "b"'],
    [notSupported(at, 7, []), 'FieldValueNotSupported', 'Unsupported value: 7'],
    [duplicate(at, 'v'), 'FieldValueDuplicate', 'Duplicate value: "v"'],
    [forbidden(at, 'no'), 'FieldValueForbidden', 'Forbidden: no'],
    [notFoundField(at, 'v'), 'FieldValueNotFound', 'Not found: "v"'],
    [tooLong(at, 63), 'FieldValueTooLong', 'Too long: may not be more than 63 bytes'],
    [tooMany(at, 5, 3), 'FieldValueTooMany', 'Too many: 5: must have at most 3 items'],
    [typeInvalid(at, 1, 'bad'), 'FieldValueTypeInvalid', 'Invalid value: 1: bad'],
  ])('%#', (error, reason, message) => {
    expect(error).toEqual({ reason, field: 'spec.x', message })
  })
})

it('notSupported() leaves the list it was given in its order', () => {
  const allowed = ['b', 'a']
  notSupported(at, 'v', allowed)
  expect(allowed).toEqual(['b', 'a'])
})

it('quoteValue() writes what is absent as null', () => {
  expect([quoteValue(undefined), quoteValue(null), quoteValue('a"b'), quoteValue(0)]).toEqual(['null', 'null', '"a\\"b"', '0'])
})
