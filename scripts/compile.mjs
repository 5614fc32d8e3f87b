// Runs a built program until `up` is ready, with a temporary directory, and stores the code that V8 has compiled by
// then next to it: node scripts/compile.mjs FOLDER
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = path.resolve(process.argv[2])
const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-build-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))

const ready = new Promise((resolve) => {
  process.stdout.write = (chunk) => {
    if (String(chunk).startsWith('ready ')) resolve()
    return true
  }
})
const longestMs = 30_000
setTimeout(() => process.exit(1), longestMs)

process.argv = [process.execPath, 'coxswain', 'up', '--data-dir', dataDir, '--secure-port', '0', '--log-level', 'error']
const { keepCompiled } = await import(pathToFileURL(path.join(folder, 'coxswain.mjs')).href)
await ready
keepCompiled()
process.exit(0)
