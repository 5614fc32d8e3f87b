import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'ARCHITECTURE.md'), 'utf8')
const [, picture = ''] = /^```\n([\s\S]*?)^```$/m.exec(page) ?? []
const foldersOf = (folder: string) => readdirSync(path.join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name)
const rooms = foldersOf('src')
const rows = new Map(Array.from(page.matchAll(/^\| `src\/([\w-]+)` \| (.*) \|$/gm), ([, room, folders]) => [room!, folders!]))

it('the table of ARCHITECTURE.md has every room', () => {
  expect([...rows.keys()].sort()).toEqual(rooms.sort())
})

it.each(rooms)('the row of src/%s has its folders, and no others', (room) => {
  expect(rows.get(room)).toBe(foldersOf(`src/${room}`).sort().map((folder) => `${folder}/`).join(', ') || 'none')
})

it('the picture names folders that there are', () => {
  const named = Array.from(picture.matchAll(/(?<![\w/<.-])([a-z][\w-]*)\/(?![\w{<])/g), ([, name]) => name!)
  const all = new Set(readdirSync(path.join(root, 'src'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name))
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !all.has(name) && !existsSync(path.join(root, name)))).toEqual([])
})
