import { describe, expect, it } from 'vitest'
import { compile, kubernetesEnvironment, toJson } from './index.ts'

function evaluate(expression: string): unknown {
  const { program, error } = compile(expression, kubernetesEnvironment)
  if (!program) return error.message
  const result = program.evaluate({})
  return result.error === undefined ? toJson(result.value) : { error: result.error }
}

describe('evaluation', () => {
  it.each([
    ['ints beyond what a double holds', '9007199254740993 + 2', 9007199254740995n],
    ['the greatest int', '9223372036854775807', 9223372036854775807n],
    ['overflow', '9223372036854775807 + 1', { error: 'integer overflow' }],
    ['overflow of a product', '3037000500 * 3037000500 * 2', { error: 'integer overflow' }],
    ['the least int by -1', '-9223372036854775808 / -1', { error: 'integer overflow' }],
    ['division is cut off', '-7 / 2', -3],
    ['division by zero', '1 / 0', { error: 'division by zero' }],
    ['below zero without a sign', '1u - 2u', { error: 'unsigned integer overflow' }],
    ['numbers of several types', 'dyn(1) == 1u && dyn(1u) == 1.0 && 1 < 1.5 && 2u > 1', true],
    [
      'characters beyond U+FFFF',
      "'a😀b'.size() == 3 && 'a😀b'.charAt(2) == 'b' && 'a😀b'.substring(1, 2) == '😀'",
      true,
    ],
    ['order by code points', "'\\uffee' < '😀'", true],
    ['errors that || drops', '1 / 0 == 1 || true', true],
    ['errors that && keeps', '1 / 0 == 1 && true', { error: 'division by zero' }],
    ['errors that exists drops', '[0, 1].exists(x, 1 / x == 1)', true],
    ['errors that all keeps', '[0, 1].all(x, 1 / x == 1)', { error: 'division by zero' }],
    ['a key that is missing', "{'a': 1}.b", { error: 'no such key: b' }],
    ['an index out of bounds', '[1][1]', { error: 'index out of bounds: 1' }],
    ['a key twice', '{1: 1, 1: 2}', { error: 'insert failed: key 1 already exists' }],
    [
      'loops within loops',
      '[1, 2].map(x, [10, 20].map(y, x * y))',
      [
        [10, 20],
        [20, 40],
      ],
    ],
    ['a loop that hides a name', '[1].map(x, [2].map(x, x)[0] + x)', [3]],
    ['two variables', "{'a': 1}.transformList(k, v, k + string(v))", ['a1']],
    ['entries', "['x', 'y'].transformMapEntry(i, v, {v: i})", { x: 0, y: 1 }],
    ['optionals', "optional.of(1).optMap(x, x + 1).orValue(0) + {'a': 1}.?b.orValue(5)", 7],
    ['orValue does not look at what it does not need', 'optional.of(1).orValue(1 / 0)', 1],
    ['optional elements', '[?optional.none(), 1, ?optional.of(2)]', [1, 2]],
    ['sorting by a key', "['bb', 'a'].sortBy(s, size(s))", ['a', 'bb']],
    [
      'time zones',
      "timestamp('2026-07-01T00:30:00Z').getHours('Europe/Berlin') * 100 + timestamp('2026-07-01T00:30:00Z').getMinutes('-01:15')",
      215,
    ],
    [
      'nanoseconds',
      "string(timestamp('2026-01-01T00:00:00.000000001Z') + duration('1ns'))",
      '2026-01-01T00:00:00.000000002Z',
    ],
    ['a year that is too late', "timestamp('9999-12-31T23:59:59Z') + duration('1s')", { error: 'timestamp overflow' }],
    [
      'formatting',
      "'%s|%d|%.2f|%x|%b|%e'.format([[1, {'a': 2.5}], 7, 1.005, 255, 5, 1234.5])",
      '[1, {a: 2.5}]|7|1.00|ff|101|1.234500e+03',
    ],
    ['too few arguments', "'%s %s'.format(['x'])", { error: 'index 1 out of range' }],
    [
      'an address in an IPv6 one',
      "ip('::ffff:1.2.3.4')",
      { error: 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed' },
    ],
    ['addresses with zeros in front', "isIP('010.0.0.1')", false],
    ['networks', "cidr('fd00::/8').containsCIDR('fd00:1::/32') && !cidr('10.0.0.0/16').containsIP('10.1.0.0')", true],
    [
      'what is in a URL',
      "url('https://[::1]:80/a').getHostname() + url('https://a:8/').getPort() + url('/x?y=1').getEscapedPath()",
      '::18/x',
    ],
    ['relative URLs', "isURL('a/b') || isURL('http://a b/') || isURL('http://a:x/')", false],
    ['quantities', "quantity('1.5').asInteger()", { error: 'cannot convert value to integer' }],
    ['signs of quantities', "sign(quantity('-1'))", -1],
    ['versions', "semver('1.0.0-alpha.2').compareTo(semver('1.0.0-alpha.10'))", -1],
    ['formats', "format.dns1123Label().validate('A').value().size() == 1 && !format.named('nope').hasValue()", true],
    ['texts that are none', "string(b'\\xff')", { error: 'invalid UTF-8 in bytes, cannot convert to string' }],
    [
      'repetition',
      '[1, 1.0, 1u].distinct().size()',
      "ERROR: <input>:1:5: expected type 'int' but found 'double'\n | [1, 1.0, 1u].distinct().size()\n | ....^",
    ],
    ['nested lists', '[[1], [2, 3]].flatten().reverse().slice(0, 2)', [3, 2]],
    ['sets', 'sets.equivalent([1, 2, 2], [2, 1]) && !sets.intersects([1], [2])', true],
  ])('%s: %s', (_, expression, result) => {
    expect(evaluate(expression)).toEqual(result)
  })
})

describe('a budget', () => {
  const run = (expression: string, limit: number) => {
    const { program } = compile(expression, kubernetesEnvironment)
    return program!.evaluate({}, limit)
  }

  it('is spent as in cel-go', () => {
    // Two names, a selection each, and the comparison.
    const { program } = compile('a.b == a.c', kubernetesEnvironment.extend({ a: { kind: 'dyn' } }))
    expect(program!.evaluate({})).toMatchObject({ error: 'no such attribute(s): a' })
    expect(run('[1, 2, 3].all(x, x > 0)', 1_000)).toEqual({ value: true, cost: 16 })
    expect(run("'a' + 'b' == 'ab'", 1_000).cost).toBeLessThan(6)
  })

  it('ends an evaluation, which || cannot save', () => {
    const expression = 'lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0)) || true'
    expect(run(expression, 10_000)).toMatchObject({
      error: 'operation cancelled: actual cost limit exceeded',
      isCostExceeded: true,
    })
  })

  it('is for one evaluation', () => {
    const { program } = compile('[1, 2, 3].all(x, x > 0)', kubernetesEnvironment)
    for (let i = 0; i < 10; i++) expect(program!.evaluate({}, 20).value).toBe(true)
  })
})
