// Bundles src/cli/main.ts and the process runtime's shim into dist/, generating the schema first where it is out of date.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { spreads } from './spreads.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
execFileSync(process.execPath, [path.join(root, 'scripts/generate.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] })
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
/** A digest of all files below a folder, by their names and contents. */
function digestOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const names = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name))).sort()
  const hash = createHash('sha256')
  for (const name of names) hash.update(`${name}\0`).update(readFileSync(path.join(folder, name))).update('\0')
  return hash.digest('hex')
}

const dist = path.join(root, 'dist')
// Built beside its place and moved there whole: a program that is starting finds either the old build or the new one.
const outdir = `${dist}.new-${process.pid}`
const old = `${dist}.old-${process.pid}`
await build({
  // One file: what is imported lazily is in it, too, so that a running program does not depend on dist any more. The shim outlives the program, and is small.
  entryPoints: { coxswain: path.join(root, 'src/cli/main.ts'), 'coxswain-shim': path.join(root, 'src/node/runtimes/process/shim/main.ts') },
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  plugins: [spreads],
  external: ['lmdb'],
  define: { RELEASE: JSON.stringify(version), BUILD: JSON.stringify(digestOf(path.join(root, 'src'))) },
  sourcemap: true,
  // The text stays in memory for as long as the program runs, and takes twice the room if a comment has a letter that is not Latin-1.
  minifyWhitespace: true,
  lineLimit: 160,
  // Packages in the older module form ask for require.
  banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  logLevel: 'warning',
})
try {
  renameSync(dist, old)
} catch {
  // The first build.
}
renameSync(outdir, dist)
rmSync(old, { recursive: true, force: true })
