import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SnapshotFile } from './snapshots.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'coxswain-snapshot-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('SnapshotFile answers with nothing where there is nothing', async () => {
  expect(await new SnapshotFile(path.join(folder, 'none/file.json')).read()).toBeUndefined()
})

it('SnapshotFile replaces what there was, and leaves nothing else behind', async () => {
  const file = new SnapshotFile(path.join(folder, 'made/file.json'))
  await file.write('one')
  await file.write('two')
  expect(await file.read()).toBe('two')
  expect(await readdir(path.join(folder, 'made'))).toEqual(['file.json'])
})

it('SnapshotFile is not disturbed by what a crash has left half written', async () => {
  const file = new SnapshotFile(path.join(folder, 'file.json'))
  await file.write('whole')
  await writeFile(path.join(folder, 'file.json.new'), 'ha')
  expect(await file.read()).toBe('whole')
  await file.write('next')
  expect(await file.read()).toBe('next')
})

it('SnapshotFile keeps what it sets aside', async () => {
  const file = new SnapshotFile(path.join(folder, 'file.json'))
  await file.write('bad')
  const aside = await file.setAside()
  expect([await file.read(), await readFile(aside, 'utf8')]).toEqual([undefined, 'bad'])
})
