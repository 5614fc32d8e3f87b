import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import type { Tags } from 'yaml'
import { JsonSyntaxError } from './syntax.ts'
import { parseYaml } from './yaml.ts'

const withoutTimes = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')))

/** The JSON value of a text by npm's parser. Undefined if it rejects the text. */
function byLibrary(text: string): string | undefined {
  const document = parseDocument(text, {
    version: '1.1', customTags: withoutTimes, merge: true, uniqueKeys: false, prettyErrors: false, logLevel: 'silent', intAsBigInt: true,
  })
  if (document.errors.some((e) => e.code !== 'MULTIPLE_DOCS')) return undefined
  try {
    return plain(document.toJS({ maxAliasCount: 100 }))
  } catch {
    return undefined
  }
}

function byUs(text: string): string | undefined {
  try {
    return plain(parseYaml(text).value)
  } catch (e) {
    if (e instanceof JsonSyntaxError) return undefined
    throw e
  }
}

const plain = (value: unknown): string => JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)) ?? 'nothing'

const pieces = [
  'a', 'b', 'k', ' ', '  ', '\n', '\n', '\n  ', '\n    ', ': ', ':', '- ', '-', '? ', '[', ']', '{', '}', ', ', ',', '# c', ' # c', '"', "'", '"x"', "'y'",
  '&a ', '*a', '!!str ', '|', '>', '|-\n', '>\n', '|+\n', '1', '1.5', 'true', '~', '<<: *a', 'a: b\n', 'k:\n', '- x\n', '\\n', "''", '0x1f', '1_0', '{a: 1}',
  '[1, 2]', 'a: &a {x: 1}\n', '---\n', '...\n', '  k: |\n    x\n', '  k: >-\n    x\n\n     y\n    z\n',
]

describe('YamlParser reads what the library reads', () => {
  test('whatever both take, they take for the same', () => {
    let both = 0
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }), (chosen) => {
        const text = `k:\n${chosen.join('')}\n`
        const ours = byUs(text)
        const theirs = byLibrary(text)
        if (ours === undefined || theirs === undefined) return
        both++
        expect(ours, text).toBe(theirs)
      }),
      { numRuns: 5000, seed: 20260131 },
    )
    expect(both).toBeGreaterThan(500)
  })

  test.each([
    ['in blocks', {}],
    ['with lists that are not indented', { indentSeq: false }],
    ['in quotes', { defaultStringType: 'QUOTE_DOUBLE' as const }],
    ['in single quotes, folded', { singleQuote: true, lineWidth: 20 }],
    ['as texts of many lines', { blockQuote: 'literal' as const }],
    ['in brackets', { collectionStyle: 'flow' as const }],
  ])('any value that is written %s', (_, options) => {
    // The library itself does not read back a text in which a line is nothing but blanks.
    const text = fc.string({ unit: fc.constantFrom(...'ab :-#\n\'"[]{},&*!|>%@`~0129.eE_+<='), maxLength: 12 }).filter((any) => !/^ +$/m.test(any))
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(tie('any'), { maxLength: 4 }), fc.dictionary(text, tie('any'), { maxKeys: 4 })),
    })).any
    fc.assert(
      fc.property(value, (any) => {
        // Without a map around it, a text over many lines need not be indented, which Go does not take.
        const written = stringify({ value: any }, { version: '1.1', aliasDuplicateObjects: false, ...options })
        // In brackets Go takes a colon for what it is elsewhere with a blank behind it.
        if ('collectionStyle' in options && /[ {[]:/.test(written)) return
        expect(byUs(written), written).toBe(plain({ value: any }))
      }),
      { numRuns: 300, seed: 20260131 },
    )
  })
})

describe('YamlParser takes what Go takes', () => {
  const rows: [what: string, text: string, value: unknown][] = [
    ['an anchor before a key', '&a k: &b v\nl: *a\nm: *b\n', { k: 'v', l: 'k', m: 'v' }],
    ['an anchor before a map', 'k: &a\n  x: 1\nl: *a\n', { k: { x: 1 }, l: { x: 1 } }],
    ['an anchor before a list at the level of its key', 'k: &a\n- 1\nl: *a\n', { k: [1], l: [1] }],
    ['a tag on a line of its own', 'k: !!str\n  5\n', { k: '5' }],
    ['a list at the level of its key', 'k:\n- 1\n- l: 2\n  m: 3\no: 4\n', { k: [1, { l: 2, m: 3 }], o: 4 }],
    ['lists in lists', '- - 1\n  - 2\n- 3\n', [[1, 2], 3]],
    ['explicit keys', '? k\n: v\n? l\n', { k: 'v', l: null }],
    ['a merge of a list, the first of which wins', 'a: &a {x: 1}\nb: &b {x: 2, z: 2}\nk: {<<: [*a, *b]}\n', { a: { x: 1 }, b: { x: 2, z: 2 }, k: { x: 1, z: 2 } }],
    ['a merge key in quotes is a key', 'k: {"<<": {x: 1}}\n', { k: { '<<': { x: 1 } } }],
    ['binary text', 'k: !!binary aGVsbG8=\n', { k: 'hello' }],
    ['a number too long for a double', `k: ${'1'.repeat(500)}\n`, { k: '1'.repeat(500) }],
    ['escapes', 'k: "\\x41\\u00e9\\U0001F600\\t\\\\"\n', { k: 'Aé😀\t\\' }],
    ['carriage returns', 'k: v\r\nl: w\r\n', { k: 'v', l: 'w' }],
    ['a byte order mark', '\ufeffk: v\n', { k: 'v' }],
    ['directives', '%YAML 1.1\n---\nk: v\n', { k: 'v' }],
    ['a second document that is none', 'k: v\n---\n}\n', { k: 'v' }],
    ['comments everywhere', '# a\nk: # b\n  # c\n  l: v # d\n# e\n', { k: { l: 'v' } }],
    ['a text with a hash in it', 'k: a#b\n', { k: 'a#b' }],
    ['an address', 'k: http://a.b:80/c\n', { k: 'http://a.b:80/c' }],
  ]
  test.each(rows)('%s', (_, text, value) => {
    expect(parseYaml(text).value).toEqual(value)
  })
})

describe('YamlParser refuses what would cost more than its text', () => {
  const many = (n: number, line: (i: number) => string) => Array.from({ length: n }, (_, i) => line(i)).join('')
  const excessive = 'yaml: document contains excessive aliasing'
  const rows: [what: string, text: string, message: string][] = [
    ['aliases of a long list', `a: &a [${'x,'.repeat(10_000)}]\n${many(20, (i) => `b${i}: *a\n`)}`, excessive],
    ['aliases of a long text', `a: &a ${'x'.repeat(1_000_000)}\n${many(20, (i) => `b${i}: *a\n`)}`, excessive],
    ['merges of a wide map', `a: &a {${many(1000, (i) => `k${i}: v,`)}}\n${many(200, (i) => `b${i}: {<<: *a}\n`)}`, excessive],
    ['a merge of many', `a: &a {k: v}\nb: {<<: [${'*a,'.repeat(100_000)}]}\n`, excessive],
    ['a merge of the one before, again and again', `m0: &m0 {k: v}\n${many(1000, (i) => `m${i + 1}: &m${i + 1} {<<: *m${i}, k${i}: v}\n`)}`, excessive],
    ['an alias of what it stands in', 'a: &a [*a]\n', "yaml: anchor 'a' value contains itself"],
    ['an alias of nothing', 'a: *b\n', "yaml: unknown anchor 'b' referenced"],
    ['dashes without end', '- '.repeat(100_000), 'yaml: exceeded max depth'],
    ['question marks without end', '? '.repeat(100_000), 'yaml: exceeded max depth'],
    ['a list in a map on one line', 'a: - b\n', 'yaml: block sequence entries are not allowed in this context'],
    ['NUL', 'a: \0\n', 'yaml: control characters are not allowed'],
    ['a map as a key', '? {a: 1}\n: b\n', 'yaml: invalid map key'],
    ['a quote without an end', 'a: "b\n', 'yaml: line 2: found unexpected end of stream'],
  ]
  test.each(rows)('%s', (_, text, message) => {
    expect(() => parseYaml(text)).toThrow(new JsonSyntaxError(message))
  })
})
