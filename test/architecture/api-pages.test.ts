import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const modules = { client: 'src/client/index.ts', controllers: 'src/controllers/index.ts', testing: 'src/cluster/testing.ts' }

/** The comment before the declaration of a name, as one line of text. */
function commentOf(text: string, name: string): string | undefined {
  const declared = new RegExp(String.raw`/\*\*((?:(?!\*/)[\s\S])*)\*/\s*export (?:abstract |async )?(?:class|function\*?|const|interface|type) ${name}\b`)
  return declared.exec(text)?.[1]!.replaceAll(/^\s*\* ?/gm, '').replaceAll(/\s+/g, ' ').trim()
}

/** The exported names of a module with the files that declare them. Follows re-exports. */
function exportsOf(file: string): [name: string, file: string][] {
  const text = readFileSync(file, 'utf8')
  const target = (from: string) => path.join(path.dirname(file), from)
  const own = Array.from(text.matchAll(/^export (?:abstract |async )?(?:class|function\*?|const|interface|type) (\w+)/gm), ([, name]): [string, string] => [name!, file])
  const named = Array.from(text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)).flatMap(([, names, from]) => {
    const wanted = new Set(names!.split(',').map((name) => name.trim().replace(/^type /, '').replace(/ as .*$/, '')).filter(Boolean))
    return exportsOf(target(from!)).filter(([name]) => wanted.has(name))
  })
  const all = Array.from(text.matchAll(/^export (?:type )?\* from '(\.[^']+)'/gm)).flatMap(([, from]) => exportsOf(target(from!)))
  return [...own, ...named, ...all].filter(([, at]) => !at.includes('/generated/'))
}

/** Text without what Markdown adds: backslashes, links, marks and entities. */
const plain = (text: string) =>
  text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\{@link ([^}]*)\}/g, '$1').replaceAll(/&lt;|&gt;/g, (sign) => (sign === '&lt;' ? '<' : '>'))
    .replaceAll(/[\\`*_]/g, '').replaceAll(/\s+/g, ' ')

const firstSentence = (comment: string) => /^.*?[.:?](?= |$)/.exec(comment)?.[0] ?? comment

it.each(Object.entries(modules))('docs/api/%s.md has the comments of src; npm run docs:api writes it anew', (name, entry) => {
  const page = plain(readFileSync(path.join(root, `docs/api/${name}.md`), 'utf8'))
  const described = exportsOf(path.join(root, entry)).flatMap(([symbol, file]) => {
    const comment = commentOf(readFileSync(file, 'utf8'), symbol)
    return comment ? [`${symbol}: ${plain(firstSentence(comment))}`] : []
  })
  expect(described.length).toBeGreaterThan(5)
  expect(described.filter((line) => !page.includes(line.slice(line.indexOf(': ') + 2)))).toEqual([])
})
