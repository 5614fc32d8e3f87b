import { describe, expect, it } from 'vitest'
import { validateImmutableField, validateNonnegative, validatePositive } from './field-checks.ts'
import { Path } from './path.ts'

const path = Path.of('spec', 'x')

describe('small checks of one field', () => {
  it('validateImmutableField() refuses a change and takes the same value', () => {
    expect(validateImmutableField({ a: [1] }, { a: [1] }, path)).toEqual([])
    expect(validateImmutableField('b', 'a', path)).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.x', message: 'Invalid value: "b": field is immutable' },
    ])
  })

  it.each([
    { name: 'absent', value: undefined, nonnegative: true, positive: false },
    { name: 'zero', value: 0, nonnegative: true, positive: false },
    { name: 'one', value: 1, nonnegative: true, positive: true },
    { name: 'minus one', value: -1, nonnegative: false, positive: false },
  ])('a number: $name', ({ value, nonnegative, positive }) => {
    expect(validateNonnegative(value, path)).toHaveLength(nonnegative ? 0 : 1)
    expect(validatePositive(value, path)).toHaveLength(positive ? 0 : 1)
  })
})
