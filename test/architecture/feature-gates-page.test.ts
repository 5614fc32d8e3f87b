import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { type Gate, knownGates } from '../../src/api/feature-gates.ts'

it('docs/feature-gates.md lists every gate as it is', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/feature-gates.md'), 'utf8')
  const rows = page.split('\n').filter((l) => l.startsWith('| ') && !l.startsWith('| gate'))
  const wanted = Object.entries(knownGates as Record<string, Gate>)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, g]) => `| ${name} | ${g.stage} | ${g.default} | ${g.usedBy.join(', ')} | ${g.does} |`)
  expect(rows).toEqual(wanted)
})
