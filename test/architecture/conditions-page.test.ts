import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { podCauses } from '../integration/controllers/cause-pods.ts'
import type { CauseRow, When } from '../integration/controllers/cause-row.ts'
import { workloadCauses } from '../integration/controllers/cause-workloads.ts'
import { kindNames, kindOf } from '../integration/controllers/every-kind-scene.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/conditions.md'), 'utf8')

/** The rows of the tables below a heading, without their heads. */
function tableBelow(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const lines = section.split('\n')
  return lines.filter((line, i) => line.startsWith('| ') && !lines[i + 1]?.startsWith('|---'))
}

const told: Record<When, string> = {
  'at once': 'at once', 'at the deadline': 'at the deadline', never: '`coxswain why`',
}

/** When conditions tell of a cause: for all kinds alike, or each as it does. */
function whenOf({ when = 'at once', kinds = kindNames }: CauseRow): string {
  if (typeof when !== 'function') return told[when]
  const early = kinds.filter((name) => when(name) === 'at once').map((name) => kindOf(name).kind)
  return `at once (${early.join(', ')}), else ${told.never}`
}

const rowOf = (row: CauseRow): string => `| ${row.it} | \`${row.says}\` | ${whenOf(row)} | ${row.what} |`

describe('docs/conditions.md', () => {
  const causes = [...podCauses, ...workloadCauses]

  it('lists every cause with the sentence that is tested', () => {
    expect(tableBelow('Causes')).toEqual(causes.filter(({ isVariant }) => !isVariant).map(rowOf))
  })

  it('has every name of a cause that there is', () => {
    const source = readFileSync(path.join(root, 'src/api/explain/cause.ts'), 'utf8')
    const union = /export type CauseKind =([\s\S]*?)\n\n/.exec(source)![1]!
    const names = Array.from(union.matchAll(/'(\w+)'/g), (m) => m[1]!)
    expect(
      new Set(tableBelow('Causes').map((line) => line.split(' | ').at(-1)!.replace(' |', ''))),
    ).toEqual(new Set(names))
  })

  it('tells of no reason that no controller gives', () => {
    const folders = ['controllers', 'api'].map((name) => path.join(root, 'src', name))
    const sources = folders.flatMap(
      (folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
    )
    const text = sources.filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    ).map((file) => readFileSync(file, 'utf8')).join('\n')
    const reasons = Array.from(tableBelow('Reasons').join('\n').matchAll(/`([A-Z]\w+)`/g), (m) => m[1]!)
    expect(reasons.length).toBeGreaterThan(30)
    expect(reasons.filter((reason) => !text.includes(`'${reason}'`))).toEqual([])
  })
})
