// Runs a TypeScript program of this checkout: `node scripts/run-ts.mjs bench/api.ts [arguments]`.
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { spreads } from './spreads.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const source = process.argv[2]
if (!source) {
  console.error('run-ts: which file?')
  process.exit(2)
}
const folder = path.join(root, 'node_modules/.cache/run-ts')
mkdirSync(folder, { recursive: true })
const outfile = path.join(folder, `${path.basename(source, '.ts')}-${process.pid}.mjs`)
await build({
  entryPoints: [source],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [spreads],
  packages: 'external',
  sourcemap: 'inline',
  logLevel: 'warning',
})
process.on('exit', () => rmSync(outfile, { force: true }))
// The program gets the arguments that node would pass.
process.argv.splice(1, 2, outfile)
await import(pathToFileURL(outfile).href)
