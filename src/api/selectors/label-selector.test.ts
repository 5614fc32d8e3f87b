import { describe, expect, it, test } from 'vitest'
import type { LabelSelector } from '../generated/types.ts'
import { isLabelKey, isLabelValue } from '../validation/names.ts'
import { Path } from '../validation/path.ts'
import { compileLabelSelector, labelSelectorMatches, labelSelectorText, selectorFromMap, validateLabelSelector } from './label-selector.ts'

const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values.length ? { values } : {}) }],
})

describe('validateLabelSelector()', () => {
  const first = 'spec.selector.matchExpressions[0]'
  test.each([
    ['no selector', undefined, []],
    ['an empty selector', {}, []],
    ['labels', { matchLabels: { a: 'b', 'example.com/c': '' } }, []],
    ['In with values', expression('a', 'In', 'b'), []],
    ['Exists without', expression('a', 'Exists'), []],
    ['In without values', expression('a', 'In'), [`${first}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`]],
    [
      'Exists with values',
      expression('a', 'Exists', 'b'),
      [`${first}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
    ],
    ['an unknown operator', expression('a', 'Gt', '1'), [`${first}.operator: Invalid value: "Gt": not a valid selector operator`]],
    ['a bad key', expression('', 'Exists'), isLabelKey('').map((p) => `${first}.key: Invalid value: "": ${p}`)],
    ['a bad value', expression('a', 'In', 'b c'), isLabelValue('b c').map((p) => `${first}.values[0]: Invalid value: "b c": ${p}`)],
    [
      'bad labels',
      { matchLabels: { 'a b': 'c d' } },
      [
        ...isLabelKey('a b').map((p) => `spec.selector.matchLabels: Invalid value: "a b": ${p}`),
        ...isLabelValue('c d').map((p) => `spec.selector.matchLabels: Invalid value: "c d": ${p}`),
      ],
    ],
  ])('%s', (_, selector, errors) => {
    expect(validateLabelSelector(selector, Path.of('spec', 'selector')).map((e) => `${e.field}: ${e.message}`)).toEqual(errors)
  })

  it('lets old objects keep bad values', () => {
    const selector = expression('a', 'In', 'b c')
    expect(validateLabelSelector(selector, Path.of('s'), { allowInvalidLabelValueInSelector: true })).toEqual([])
  })
})

test.each([
  ['an absent selector selects nothing', undefined, { a: 'b' }, false],
  ['an empty selector selects everything', {}, undefined, true],
  ['all labels must be there', { matchLabels: { a: 'b', c: 'd' } }, { a: 'b' }, false],
  ['more labels may be there', { matchLabels: { a: 'b' } }, { a: 'b', c: 'd' }, true],
  ['In finds one of the values', expression('a', 'In', 'x', 'b'), { a: 'b' }, true],
  ['In needs the label', expression('a', 'In', 'b'), {}, false],
  ['NotIn refuses the values', expression('a', 'NotIn', 'b'), { a: 'b' }, false],
  ['NotIn does without the label', expression('a', 'NotIn', 'b'), {}, true],
  ['Exists takes the empty value', expression('a', 'Exists'), { a: '' }, true],
  ['DoesNotExist refuses it', expression('a', 'DoesNotExist'), { a: '' }, false],
  ['what every object inherits is no label', expression('toString', 'Exists'), {}, false],
  ['an unknown operator selects nothing', expression('a', 'Gt', '1'), { a: '2' }, false],
])('labelSelectorMatches(): %s', (_, selector, labels, matches) => {
  expect(labelSelectorMatches(selector, labels as Record<string, string> | undefined)).toBe(matches)
})

it('compileLabelSelector() throws for an unknown operator', () => {
  expect(() => compileLabelSelector(expression('a', 'Gt', '1'))).toThrow('"Gt" is not a valid label selector operator')
})

test.each([
  [{ a: 'b' }, { a: 'b', c: 'd' }, true],
  [{ a: 'b' }, { a: 'c' }, false],
  [{}, undefined, true],
  [undefined, {}, true],
])('selectorFromMap(%j) on %j is %s', (map, labels, matches) => {
  expect(selectorFromMap(map)(labels)).toBe(matches)
})

test.each([
  [undefined, '<none>'],
  [{}, '<none>'],
  [{ matchLabels: { b: 'c', a: 'b' } }, 'a=b,b=c'],
  [{ matchLabels: { z: '' }, ...expression('c', 'In', 'e', 'd') }, 'c in (d,e),z='],
  [expression('c', 'NotIn', 'd'), 'c notin (d)'],
  [expression('c', 'Exists'), 'c'],
  [expression('c', 'DoesNotExist'), '!c'],
  [expression('c', 'In'), '<error>'],
])('labelSelectorText(%j) is %s', (selector, text) => {
  expect(labelSelectorText(selector)).toBe(text)
})
