import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { typeScriptOf } from '../../src/api/structural/index.ts'
import { typedKinds } from '../../src/cli/generate/run.ts'

const root = path.resolve(import.meta.dirname, '../..')
const folder = path.join(root, 'examples/forty-lines')

it.each([['docs/write-a-controller.md', 'examples/forty-lines'], ['docs/write-an-operator.md', 'examples/operator']])('%s shows exactly the example that is compiled and tested', (name, example) => {
  const page = readFileSync(path.join(root, name), 'utf8')
  const folder = path.join(root, example)
  const shown = Array.from(page.matchAll(/^```(?:ts|yaml)\n([\s\S]*?)^```$/gm), (m) => m[1]!)
  const files = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))
  expect(shown.sort()).toEqual(files.sort())
})

it('the operator of docs/write-a-controller.md has about forty lines', () => {
  const lines = readFileSync(path.join(folder, 'pod-quota.ts'), 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(45)
})

it('the operator of docs/write-an-operator.md has less than 150 lines, and its types are generated', () => {
  const operator = path.join(root, 'examples/operator')
  const linesOf = (name: string) => readFileSync(path.join(operator, name), 'utf8').trimEnd().split('\n').length
  expect(linesOf('crd.yaml') + linesOf('operator.ts') + linesOf('main.ts')).toBeLessThan(150)
  const kinds = typedKinds(readFileSync(path.join(operator, 'crd.yaml'), 'utf8'), 'crd.yaml')
  expect(readFileSync(path.join(operator, 'website.ts'), 'utf8')).toBe(typeScriptOf(kinds))
})
