import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['src', 'web', 'scripts', 'test', 'bench', 'examples']

const sources = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.join(folder, file))
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && !file.includes('node_modules') && !file.includes('generated')))

/**
 * The first line of a comment that has no subject. A line comment continues one on the line before, but not a comment
 * at the end of a line of code, and not an address in a text.
 */
const firstWords = /(?<!^[ \t]*\/\/.*\n)^[ \t]*(?:\/\*\*?\s*(?:\*\s)?\s*|\/\/ )(?:What|Who|Of|Whether|That|Which|Whose)\b.*/gm

it('every comment begins with its subject, and not with a bare What, Who, Of, Whether, That, Which or Whose', () => {
  const wrong = sources.flatMap((file) =>
    (readFileSync(path.join(root, file), 'utf8').match(firstWords) ?? []).map((line) => `${file}: ${line.trim()}`))
  expect(wrong).toEqual([])
})

it.each([
  ['a line comment', '// Whose turn it is.', true],
  ['a comment of one line', '/** That a pod runs. */', true],
  ['the first line of a longer one', '/**\n * Which pods there are.\n */', true],
  ['one after a line with an address', "const at = 'https://a.test'\n// What is there.", true],
  ['one after a comment at the end of a line', 'const a = 1 // one\n  // Who uses it.', true],
  ['the second line of a comment', '// The pods of a set, and\n// Which of them run.', false],
  ['a subject', '// The pods that run.', false],
])('finds such a beginning: %s', (_, text, isWrong) => {
  expect(text.match(firstWords) !== null).toBe(isWrong)
})
