import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const docs = path.join(root, 'docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).sort()

/** The files that a page links to, relative to docs/. */
const linksOf = (page: string): string[] => {
  const text = readFileSync(path.join(docs, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
  const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!.replace(/#.*$/, ''))
  return targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target)).map((target) => path.join(path.dirname(page), target))
}

it('docs/README.md leads to every page', () => {
  expect(pages.filter((page) => page !== 'README.md' && !page.startsWith('api/') && !linksOf('README.md').includes(page))).toEqual([])
})

it.each(['../README.md', '../ARCHITECTURE.md', '../CONTRIBUTING.md', '../SECURITY.md', '../CHANGELOG.md', ...pages])('%s links to files that there are', (page) => {
  expect(linksOf(page).filter((target) => !existsSync(path.join(docs, target)))).toEqual([])
})
