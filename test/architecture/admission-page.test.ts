import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { pluginNames } from '../../src/server/index.ts'

const page = readFileSync(new URL('../../docs/admission.md', import.meta.url), 'utf8')

it('docs/admission.md has every plugin', () => {
  const rows = [...page.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| (always|on demand) \|/gm)]
  const told = rows.flatMap(([, names, runs]) => names!.split(', ').map((name) => ({ name, isUsual: runs === 'always' })))
  const byName = (list: { name: string }[]) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1))
  expect(byName(told)).toEqual(byName(pluginNames()))
})
