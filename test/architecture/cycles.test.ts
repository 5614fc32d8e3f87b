import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const src = path.resolve(import.meta.dirname, '../../src')

/** Imports and re-exports of files beside or above, of values and of types alike, and those that are awaited. */
const importPattern = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

/** The files that each file imports. */
function importsOf(files: readonly string[]): Map<string, string[]> {
  return new Map(files.map((file) => {
    const text = readFileSync(path.join(src, file), 'utf8')
    return [file, Array.from(text.matchAll(importPattern), ([, to]) => path.posix.join(path.posix.dirname(file), to!))]
  }))
}

/** The groups of files in which each leads to each other, by Tarjan's algorithm. Each group is sorted. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    open.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) visit(next)
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!))
    }
    if (lowest.get(file) !== order.get(file)) return
    const group = open.splice(open.indexOf(file))
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.sort())
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return cycles
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(path.sep).join('/'))
  .filter((file) => file.endsWith('.ts'))

describe('the imports of src', () => {
  const graph = importsOf(files)

  it('have no cycle, not even of types', () => {
    expect(cyclesOf(graph)).toEqual([])
  })

  it('lead to files that there are, so that none is overlooked', () => {
    const lost = [...graph].flatMap(([file, to]) => to.filter((other) => !existsSync(path.join(src, other))).map((other) => `${file}: ${other}`))
    expect(lost).toEqual([])
    expect([...graph.values()].flat().length).toBeGreaterThan(4000)
  })
})

describe('cyclesOf', () => {
  it.each([
    ['none', { a: ['b'], b: ['c'], c: [] }, []],
    ['two files', { a: ['b'], b: ['a', 'c'], c: [] }, [['a', 'b']]],
    ['a file that imports itself', { a: ['a'] }, [['a']]],
    ['two cycles that share a file', { a: ['b', 'c'], b: ['a'], c: ['a'] }, [['a', 'b', 'c']]],
    ['two cycles one after the other', { a: ['b'], b: ['a', 'c'], c: ['d'], d: ['c'] }, [['c', 'd'], ['a', 'b']]],
  ])('finds %s', (_, graph, wanted) => {
    expect(cyclesOf(new Map(Object.entries(graph)))).toEqual(wanted)
  })
})
