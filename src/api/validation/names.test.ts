import { describe, expect, it } from 'vitest'
import {
  dns1035Name, isConfigMapKey, isDns1035Label, isDns1123Label, isDns1123Subdomain, isLabelKey, isLabelValue, isPathSegment, isPortName, isPortNumber, isQualifiedName,
  isWildcardDns1123Subdomain, labelName, pathSegmentName, subdomainName,
} from './names.ts'

type Rule = (text: string) => string[]
const rules: Record<string, { rule: Rule; good: string[]; bad: string[] }> = {
  isDns1123Label: { rule: isDns1123Label, good: ['a', '1', 'a-b', 'a'.repeat(63)], bad: ['', 'A', '-a', 'a-', 'a.b', 'a_b', 'ä', 'a\n', 'a'.repeat(64)] },
  isDns1123Subdomain: { rule: isDns1123Subdomain, good: ['a', 'a.b-c.1', 'a'.repeat(253)], bad: ['', '.a', 'a.', 'a..b', 'A', 'a'.repeat(254), 'a\n'] },
  isDns1035Label: { rule: isDns1035Label, good: ['a', 'a1-b'], bad: ['', '1a', 'a.b', 'a-', 'a'.repeat(64)] },
  isWildcardDns1123Subdomain: { rule: isWildcardDns1123Subdomain, good: ['*.a', '*.a.b'], bad: ['*', 'a', '*.', '*.*.a', '.a'] },
  isLabelValue: { rule: isLabelValue, good: ['', 'a', 'A_b.c-1', 'a'.repeat(63)], bad: ['-a', 'a-', 'a b', 'a/b', 'a'.repeat(64), 'ä'] },
  isLabelKey: { rule: isLabelKey, good: ['a', 'A_b', 'x.io/a'], bad: ['', '/a', 'x.io/', 'a/b/c', 'X.io/a', '-a', `x/${'a'.repeat(64)}`] },
  isQualifiedName: { rule: isQualifiedName, good: ['a', 'example.com/a'], bad: ['', 'a/b/c', 'a b'] },
  isConfigMapKey: { rule: isConfigMapKey, good: ['a', 'a_b.c-d', '__proto__', '.a'], bad: ['', '.', '..', '..a', 'a b', 'a/b', 'a'.repeat(254)] },
  isPortName: { rule: isPortName, good: ['http', 'a-1', '1a'], bad: ['', 'HTTP', '1', 'a--b', '-a', 'a-', 'a'.repeat(16)] },
  isPathSegment: { rule: (t) => isPathSegment(t, false), good: ['a', 'system:x', '...', 'ä b'], bad: ['.', '..', 'a/b', 'a%b'] },
}

describe.each(Object.entries(rules))('%s()', (_name, { rule, good, bad }) => {
  it.each(good)('takes %j', (text) => expect(rule(text)).toEqual([]))
  it.each(bad)('refuses %j, and says why', (text) => {
    expect(rule(text).length).toBeGreaterThan(0)
    for (const problem of rule(text)) expect(problem).toMatch(/\S/)
  })
})

it('isPortNumber() takes 1 to 65535', () => {
  expect([0, 1, 65535, 65536, -1].map((n) => isPortNumber(n).length)).toEqual([1, 0, 0, 1, 1])
})

describe('words of Kubernetes', () => {
  it.each([
    ['a label with dots', isDns1123Label('a.b'), ['must not contain dots']],
    ['a label that is too long', isDns1123Label('a'.repeat(64)), ['must be no more than 63 characters']],
    ['a label value that is too long', isLabelValue('a'.repeat(64)), ['must be no more than 63 bytes']],
    ['a prefix that is empty', isLabelKey('/a'), ['prefix part must be non-empty']],
    ['dots in a key', isConfigMapKey('..a'), ["must not start with '..'"]],
    ['a path', isPathSegment('a/b', false), ["may not contain '/'"]],
  ])('for %s', (_what, said, expected) => {
    expect(said).toEqual(expected)
  })

  it('give two examples with two spaces before "or"', () => {
    expect(isDns1123Label('A')[0]).toMatch(/\(e\.g\. 'my-name',  or '123-abc', regex used for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?'\)$/)
  })
})

describe('name rules', () => {
  it.each([
    ['subdomainName', subdomainName],
    ['labelName', labelName],
    ['dns1035Name', dns1035Name],
  ])('%s lets a prefix end in a dash, and nothing else', (_name, rule) => {
    expect([rule('a-', true), rule('a', true)]).toEqual([[], []])
    for (const [name, prefix] of [['a-', false], ['-', true], ['A-', true]] as const) expect(rule(name, prefix)).not.toEqual([])
  })

  it('pathSegmentName lets a prefix be dots', () => {
    expect([pathSegmentName('..', true), pathSegmentName('..', false)]).toEqual([[], ["may not be '..'"]])
  })
})

it('no rule takes long over long names', () => {
  const long = `${'a'.repeat(100_000)}!`
  const started = performance.now()
  for (const { rule } of Object.values(rules)) rule(long)
  expect(performance.now() - started).toBeLessThan(500)
})
