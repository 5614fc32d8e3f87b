import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const docs = path.join(root, 'docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).sort()

/** The text of a page without its blocks of code. */
const proseOf = (page: string): string => readFileSync(path.join(docs, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')

/** The links of a page to files and headings of this repository, as `[file, anchor]`; files are relative to docs/. */
const targetsOf = (page: string): [string, string][] => {
  const targets = Array.from(proseOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!)
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => {
    const [file = '', anchor = ''] = target.split('#')
    return [file === '' ? page : path.join(path.dirname(page), file), anchor]
  })
}

/** The files that a page links to, relative to docs/. */
const linksOf = (page: string): string[] => targetsOf(page).map(([file]) => file)

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string): string[] =>
  Array.from(proseOf(page).matchAll(/^#+ (.*)$/gm), ([, heading]) =>
    heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim().toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-'))

const all = ['../README.md', '../ARCHITECTURE.md', '../CONTRIBUTING.md', '../SECURITY.md', '../CHANGELOG.md', ...pages]

it('docs/README.md leads to every page', () => {
  expect(pages.filter((page) => page !== 'README.md' && !linksOf('README.md').includes(page))).toEqual([])
})

it.each(all)('%s links to files that there are', (page) => {
  expect(linksOf(page).filter((target) => !existsSync(path.join(docs, target)))).toEqual([])
})

// TypeDoc makes the anchors of docs/api itself.
it.each(all.filter((page) => !page.startsWith('api/')))('%s links to headings that there are', (page) => {
  const toHeadings = targetsOf(page).filter(([file, anchor]) => anchor !== '' && file.endsWith('.md') && !file.startsWith('api/'))
  expect(toHeadings.filter(([file, anchor]) => !anchorsOf(file).includes(anchor))).toEqual([])
})

const folders = ['src', 'test', 'web', 'scripts', 'bench', 'examples']
const files = folders.flatMap((folder) => readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
const readmes = files.filter((file) => /^(?:src|examples)\/.*README\.md$/.test(file)).map((file) => path.join('..', file))
const kit = 'src/controllers/kit/'

/** The source files that a page names, such as `plan.ts` and `kit/writes/writer.ts`. */
const namesOf = (page: string): string[] => Array.from(proseOf(page).matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g), ([, name]) => name!)

/** True if there is such a file. A README in src names the files of its own folder, and of the kit, without a path. */
function isThere(page: string, name: string): boolean {
  const folder = path.posix.join('docs', path.dirname(page))
  const isOwn = (file: string) => !folder.startsWith('src/') || name.includes('/') || file.startsWith(`${folder}/`) || file.startsWith(kit)
  return files.some((file) => (file === name || file.endsWith(`/${name}`)) && isOwn(file))
}

it.each([...all.filter((page) => !page.startsWith('api/')), ...readmes])('%s names source files that there are', (page) => {
  expect(namesOf(page).filter((name) => !isThere(page, name))).toEqual([])
})
