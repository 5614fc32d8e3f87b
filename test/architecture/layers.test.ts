import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const src = path.join(root, 'src')
/** The rooms that each room may import. Every room may import base. */
const layers = JSON.parse(readFileSync(path.join(root, 'layers.json'), 'utf8')) as Record<string, string[]>

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(at)
    return entry.name.endsWith('.ts') ? [at] : []
  })
}

const importPattern = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g

interface Import {
  from: string
  to: string
}

const imports: Import[] = sourceFiles(src).flatMap((file) =>
  Array.from(readFileSync(file, 'utf8').matchAll(importPattern), (m) => ({ from: file, to: path.resolve(path.dirname(file), m[1]!) })),
)

const roomOf = (file: string) => path.relative(src, file).split(path.sep)[0]!
const shown = ({ from, to }: Import) => `${path.relative(src, from)} imports ${path.relative(src, to)}`

describe('layers.json', () => {
  it('names every room there is', () => {
    const rooms = readdirSync(src, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name)
    expect(rooms.filter((r) => !(r in layers))).toEqual([])
  })

  it('is kept: no room imports one it may not know', () => {
    const breaches = imports.filter(({ from, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)]
      return room !== other && other !== 'base' && !layers[room]!.includes(other)
    })
    expect(breaches.map(shown)).toEqual([])
  })

  it('sees imports at all', () => {
    expect(imports.length).toBeGreaterThan(4000)
  })
})

describe('a room with an index.ts', () => {
  it('is entered through it', () => {
    const breaches = imports.filter(({ from, to }) => {
      const door = path.join(src, roomOf(to), 'index.ts')
      return roomOf(from) !== roomOf(to) && existsSync(door) && to !== door
    })
    expect(breaches.map(shown)).toEqual([])
  })
})
