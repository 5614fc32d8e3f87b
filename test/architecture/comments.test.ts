import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['src', 'web', 'scripts', 'test', 'bench', 'examples']

const sources = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => path.join(folder, file))
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file) && !file.includes('node_modules') && !file.includes('generated')))

/** The first line of a comment on lines of its own. A line comment that follows another one continues it. */
const firstWords = /(?<!\/\/.*\n)^[ \t]*(?:\/\*\*?\s*(?:\*\s)?\s*|\/\/ )(?:What|Who|Of|Whether)\b.*/gm

it('every comment begins with its subject, and not with a bare What, Who, Of or Whether', () => {
  const wrong = sources.flatMap((file) =>
    (readFileSync(path.join(root, file), 'utf8').match(firstWords) ?? []).map((line) => `${file}: ${line.trim()}`))
  expect(wrong).toEqual([])
})
