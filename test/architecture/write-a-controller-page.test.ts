import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const folder = path.join(root, 'examples/forty-lines')

it('docs/write-a-controller.md shows exactly the example that is compiled and tested', () => {
  const page = readFileSync(path.join(root, 'docs/write-a-controller.md'), 'utf8')
  const shown = Array.from(page.matchAll(/^```ts\n([\s\S]*?)^```$/gm), (m) => m[1]!)
  const files = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))
  expect(shown.sort()).toEqual(files.sort())
})

it('the operator of docs/write-a-controller.md has about forty lines', () => {
  const lines = readFileSync(path.join(folder, 'pod-quota.ts'), 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(45)
})
