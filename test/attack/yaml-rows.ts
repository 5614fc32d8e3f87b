import { type Row, bodyBytes, fill, yaml } from './row.ts'

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: attack}\n'
const data = (body: string) => yaml(`${head}data:\n${body}`)
const top = (body: string) => yaml(`${head}${body}`)

const bodies: [name: string, body: (bytes: number) => string, isShort?: 'short'][] = [
  ['an anchor and an alias on each line', (n) => fill(n, (i) => `  k${i}: &a${i} x\n  l${i}: *a${i}\n`), 'short'],
  ['99 aliases of 1 MB', (n) => `  a: &a {${fill(n, (i) => `k${i}: v`, ', ')}}\n${fill(990, (i) => `  b${i % 100}: *a\n`)}`, 'short'],
  ['aliases of aliases', () => `  a0: &a0 [x,x,x,x,x,x,x,x,x]\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `  a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`).join()}]\n`).join('')}`, 'short'],
  ['an alias to one scalar again and again', (n) => `  a: &a x\n${fill(n, (i) => `  k${i}: *a\n`)}`],
  ['an alias that names nothing', (n) => `${fill(n, (i) => `  k${i}: v\n`)}  z: *nothing\n`],
  ['an anchor on every scalar', (n) => fill(n, (i) => `  k${i}: &anchor${i} v\n`)],
  ['one anchor set again and again', (n) => fill(n, (i) => `  k${i}: &a v\n`)],
  ['wide merge keys', (n) => `  a: &a {${fill(n / 3, (i) => `k${i}: v`, ', ')}}\n${fill((n * 2) / 3, (i) => `  b${i}: {<<: *a}\n`)}`, 'short'],
  ['a merge of a long list', (n) => `  a: &a {k: v, l: w}\n  b: {<<: [${fill(n, () => '*a', ',')}]}\n`, 'short'],
  ['each map merges the one before', (n) => fill(n, (i) => (i === 0 ? '  m0: &m0 {k: v}\n' : `  m${i}: &m${i} {<<: *m${i - 1}, k${i}: v}\n`)), 'short'],
  ['merges of what is no map', (n) => fill(n, (i) => `  k${i}: {<<: v}\n`)],
  ['a block map', (n) => fill(n, (i) => `  k${i}: v\n`), 'short'],
  ['a block map of quoted texts', (n) => fill(n, (i) => `  "k${i}": 'v'\n`)],
  ['a flow map', (n) => `  {${fill(n, (i) => `k${i}: v`, ', ')}}\n`, 'short'],
  ['a flow map of keys without values', (n) => `  {${fill(n, (i) => `k${i}`, ', ')}}\n`],
  ['a flow list of empty maps', (n) => `  k: [${fill(n, () => '{}', ',')}]\n`],
  ['a flow list of single pairs', (n) => `  k: [${fill(n, () => 'a: b', ',')}]\n`],
  ['a list of dashes', (n) => `  k:\n${fill(n, () => '  -\n')}`, 'short'],
  ['a list of numbers', (n) => `  k:\n${fill(n, (i) => `  - ${i}\n`)}`],
  ['dashes on one line', (n) => `  k:\n  ${'- '.repeat(n / 2)}x\n`, 'short'],
  ['commas in a flow list', (n) => `  k: [${','.repeat(n)}]\n`],
  ['one key again and again', (n) => fill(n, () => '  a: 1\n'), 'short'],
  ['question marks', (n) => fill(n, (i) => `  ? k${i}\n  : v\n`), 'short'],
  ['question marks on one line', (n) => `  ${'? '.repeat(n / 2)}x\n`, 'short'],
  ['maps as keys', (n) => fill(n, (i) => `  ? {a: ${i}}\n  : v\n`)],
  ['colons', (n) => `  ${':'.repeat(n)}\n`],
  ['colons with blanks', (n) => `  ${': '.repeat(n / 2)}\n`, 'short'],
  ['tabs and colons', (n) => `  ${'a:\t'.repeat(n / 3)}\n`, 'short'],
  ['tabs as indentation', (n) => `\t${'\t'.repeat(n)}a: b\n`],
  ['keys with a tab before the value', (n) => fill(n, (i) => `  k${i}:\tv\n`)],
  ['comments', (n) => `${fill(n, () => '# comment\n')}  a: b\n`, 'short'],
  ['a comment after each value', (n) => fill(n, (i) => `  k${i}: v # comment\n`)],
  ['a comment before each value', (n) => fill(n, (i) => `  k${i}: # comment\n    v\n`)],
  ['a plain scalar over many lines', (n) => `  k: a\n${fill(n, () => '    b\n')}`, 'short'],
  ['a plain scalar of many words', (n) => `  k: ${'b '.repeat(n / 2)}\n`],
  ['a quoted scalar over many lines', (n) => `  k: "a\n${fill(n, () => '    b\n')}    "\n`],
  ['a quoted scalar of empty lines', (n) => `  k: "a${'\n'.repeat(n)}    "\n`],
  ['a quoted scalar of escapes', (n) => `  k: "${fill(n, () => '\\u0041')}"\n`],
  ['a quoted scalar of quotes', (n) => `  k: '${"''".repeat(n / 2)}'\n`],
  ['a quoted scalar without an end', (n) => `  k: "${'a '.repeat(n / 2)}\n`],
  ['a quoted scalar of escaped line ends', (n) => `  k: "${fill(n, () => 'a\\\n  ')}"\n`],
  ['a literal block', (n) => `  k: |\n${fill(n, () => '    b\n')}`, 'short'],
  ['a literal block of empty lines', (n) => `  k: |\n${'\n'.repeat(n)}    x\n`],
  ['a folded block', (n) => `  k: >\n${fill(n, () => '    b\n')}`],
  ['a literal block on each line', (n) => fill(n, (i) => `  k${i}: |-\n    b\n`)],
  ['an empty line before each key', (n) => fill(n, (i) => `\n\n\n  k${i}: v\n`)],
  ['carriage returns', (n) => fill(n, (i) => `  k${i}: v\r\n`)],
  ['carriage returns alone', (n) => `  a: b${'\r'.repeat(n)}\n`],
  ['a tag on each value', (n) => fill(n, (i) => `  k${i}: !!str ${i}\n`)],
  ['unknown tags', (n) => fill(n, (i) => `  k${i}: !tag${i} v\n`)],
  ['binary values', (n) => fill(n, (i) => `  k${i}: !!binary aGVsbG8=\n`)],
  ['sets', (n) => fill(n, (i) => `  k${i}: !!set {a, b}\n`)],
  ['ordered maps', (n) => `  k: !!omap\n${fill(n, (i) => `  - k${i}: v\n`)}`],
  ['a long number', (n) => `  k: ${'1'.repeat(n)}\n`, 'short'],
  ['long numbers', (n) => fill(n, (i) => `  k${i}: ${'7'.repeat(1000)}\n`)],
  ['a long hexadecimal number', (n) => `  k: 0x${'f'.repeat(n)}\n`],
  ['a number with underscores', (n) => `  k: ${'1_'.repeat(n / 2)}1\n`],
  ['a number in parts of sixty', (n) => `  k: 1${':1'.repeat(n / 2)}\n`],
  ['a number of dots', (n) => `  k: 1${'.1'.repeat(n / 2)}\n`],
  ['dates', (n) => fill(n, (i) => `  k${i}: 2001-02-03T04:05:06Z\n`)],
  ['a long key', (n) => `  ${'k'.repeat(n)}: v\n`],
  ['a list that does not end', (n) => `  k: [${'[a, '.repeat(400)}${'b, '.repeat(n / 3)}\n`],
  ['a key that is not indented enough', (n) => `${fill(n, (i) => `  k${i}: v\n`)} z: v\n`],
]

const blocks = (n: number) => {
  const depth = Math.floor(Math.sqrt(2 * n))
  return Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:\n`).join('')
}

const wholes: [name: string, body: (bytes: number) => string, isShort?: 'short'][] = [
  ['deep blocks', blocks, 'short'],
  ['deep lists', (n) => '['.repeat(n), 'short'],
  ['deep lists that end', (n) => `${'['.repeat(n / 2)}${']'.repeat(n / 2)}`],
  ['deep maps', (n) => '{a: '.repeat(n / 4)],
  ['documents', (n) => fill(n, () => '---\na: b\n')],
  ['a second document after a long first', (n) => `${head}data:\n${fill(n, (i) => `  k${i}: v\n`)}---\na: b\n`],
  ['directives', (n) => `${fill(n, (i) => `%TAG !t${i}! tag:x,${i}:\n`)}---\n${head}`],
  ['blanks', (n) => ' '.repeat(n)],
  ['line ends', (n) => '\n'.repeat(n)],
  ['NULs', (n) => '\0'.repeat(n)],
  ['byte order marks', (n) => '\ufeff'.repeat(n / 3)],
  ['exclamation marks', (n) => '!'.repeat(n)],
  ['ampersands and stars', (n) => '&* '.repeat(n / 3)],
  ['one long word', (n) => 'a'.repeat(n)],
  ['percent signs', (n) => '%'.repeat(n)],
  ['dots', (n) => '...\n'.repeat(n / 4)],
  ['JSON', (n) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"attack"},"data":{${fill(n, (i) => `"k${i}":"v"`, ',')}}}`, 'short'],
  ['numbers at the top', (n) => fill(n, (i) => `${i}: ${i}\n`)],
  ['unknown fields', (n) => `${head}${fill(n, (i) => `k${i}: v\n`)}`, 'short'],
]

const short = (mark: 'short' | undefined) => ({ short: mark === 'short' })

/** A longer body is parsed in a thread. */
const shortBytes = 65_000
const stars = (n: number, alias: string) => fill(n - 200, () => alias, ', ')

/** YAML bodies. */
export const yamlRows: Row[] = [
  ...bodies.map(([name, body, mark]): Row => ({ name: `YAML: ${name}`, make: (n) => data(body(n)), ...short(mark) })),
  ...wholes.map(([name, body, mark]): Row => ({ name: `YAML: ${name}`, make: (n) => yaml(body(n)), ...short(mark) })),
  { name: 'YAML: a long list in a pod', make: (n) => yaml(`apiVersion: v1\nkind: Pod\nmetadata: {name: attack}\nspec:\n  containers:\n${fill(n, (i) => `  - name: c${i}\n    image: i\n`)}`, '/api/v1/namespaces/default/pods') },
  { name: 'YAML: aliases of containers', make: (n) => yaml(`apiVersion: v1\nkind: Pod\nmetadata: {name: attack}\nspec: {containers: [&c {name: c, image: i}, ${stars(n, '*c')}]}\n`, '/api/v1/namespaces/default/pods'), maxBytes: shortBytes, short: true },
  { name: 'YAML: aliases of owners', make: (n) => yaml(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: attack, ownerReferences: [&o {apiVersion: v1, kind: Pod, name: p, uid: u}, ${stars(n, '*o')}]}\n`), maxBytes: shortBytes, short: true },
  { name: 'YAML: bytes that are no UTF-8', make: (n) => ({ ...top(''), body: Buffer.alloc(Math.min(n, bodyBytes), 0xff) }) },
]
