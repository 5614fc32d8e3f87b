import { describe, expect, test } from 'vitest'
import { isLabelKey, isLabelValue } from '../validation/names.ts'
import { parseLabelSelector } from './parse-label-selector.ts'

const objects: Record<string, Record<string, string> | undefined> = {
  a: { app: 'x', env: 'prod', n: '1' },
  b: { app: 'y', env: 'dev', n: '5' },
  c: { app: 'x' },
  d: undefined,
}

describe('parseLabelSelector()', () => {
  test.each([
    ['', 'a b c d'],
    ['app=x', 'a c'],
    ['app==x', 'a c'],
    ['app!=x', 'b d'],
    ['env', 'a b'],
    ['!env', 'c d'],
    ['app=x,!env', 'c'],
    ['app=x,env!=prod', 'c'],
    ['n>2', 'b'],
    ['n>0,n<5', 'a'],
    ['app=', ''],
    ['app in ()', ''],
    ['app in (x,)', 'a c'],
    ['app in (,y)', 'b'],
    ['app notin (x, y)', 'd'],
    [' app = x ', 'a c'],
    ['app in ( x , y )', 'a b c'],
    ['!example.com/q', 'a b c d'],
    ['in', ''],
    ['in in (in,notin)', ''],
    ['toString', ''],
  ])('%j selects "%s"', (text, names) => {
    const matches = parseLabelSelector(text)
    expect(Object.keys(objects).filter((name) => matches(objects[name])).join(' ')).toBe(names)
  })

  test.each([
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['app in (x', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['app in (x y)', "unable to parse requirement: found 'y', expected: ',' or ')'"],
    ['app in (,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['app in (=', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['app notin', "unable to parse requirement: found '' expected: '('"],
    ['app=bad value', "found 'value', expected: ',' or 'end of string'"],
    ['app==(', "unable to parse requirement: found '(', expected: identifier"],
    ['!app=x', "found '=', expected: ',' or 'end of string'"],
    ['app=x,', "found '', expected: identifier after ','"],
    ['app,,env', "found ',', expected: identifier after ','"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['n>abc', `unable to parse requirement: values[0]: Invalid value: "abc": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['n>1.5', `unable to parse requirement: values[0]: Invalid value: "1.5": for 'Gt', 'Lt' operators, the value must be an integer`],
    [
      'n>9223372036854775808',
      `unable to parse requirement: values[0]: Invalid value: "9223372036854775808": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['-bad=x', `unable to parse requirement: <nil>: Invalid value: "-bad": ${isLabelKey('-bad').join('; ')}`],
    ['a/b/c=x', `unable to parse requirement: <nil>: Invalid value: "a/b/c": ${isLabelKey('a/b/c').join('; ')}`],
    ['app=-x', `unable to parse requirement: values[0][app]: Invalid value: "-x": ${isLabelValue('-x').join('; ')}`],
    ['app=~x', `unable to parse requirement: values[0][app]: Invalid value: "~x": ${isLabelValue('~x').join('; ')}`],
  ])('%j is refused', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }))
  })
})
